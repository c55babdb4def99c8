"""What the service says of itself: an OpenAPI document that its own answers keep to, and a page that needs no network."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from grpo_rewards_adapters.server.description import page, specification

from grpo_rewards import Composite


def _validator(document: dict[str, Any], schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**schema, "components": document["components"]})


def _json(content: dict[str, Any]) -> Any:
    return content["application/json"]


@pytest.fixture(scope="module")
def document(server: Any) -> dict[str, Any]:
    status, text = server.get("/openapi.json")  # without a token
    assert status == 200
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_document_describes_every_path_that_there_is(document: dict[str, Any], server: Any) -> None:
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {"/score", "/openrlhf", "/get_reward", "/verify", "/health", "/metrics"}
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert "answer" in document["components"]["schemas"]["Row"]["required"]  # the column that this composition needs
    for path, methods in document["paths"].items():
        (method,) = methods
        assert server.request(method.upper(), path, b"{}")[0] != 404


@pytest.mark.parametrize("path", ["/score", "/openrlhf", "/verify"])
def test_its_examples_and_their_answers_keep_to_it(document: dict[str, Any], server: Any, path: str) -> None:
    operation = document["paths"][path]["post"]
    content = _json(operation["requestBody"]["content"])
    _validator(document, content["schema"]).validate(content["example"])
    status, answer, _ = server.post(path, content["example"])
    assert status == 200, answer
    _validator(document, _json(operation["responses"]["200"]["content"])["schema"]).validate(answer)


def test_refusals_keep_to_it(document: dict[str, Any], server: Any) -> None:
    responses = document["paths"]["/score"]["post"]["responses"]
    for body, token, expected in ((b"{}", "correct-horse", 400), (b'{"rows": [{"completion": "4"}]}', "correct-horse", 422),
                                  (b"{}", None, 401), (b" " * 300_000, "correct-horse", 413)):  # fmt: skip
        status, answer, _ = server.post("/score", body, token=token)
        assert status == expected
        _validator(document, _json(responses[str(status)]["content"])["schema"]).validate(answer)


def test_the_page_runs_and_loads_nothing(server: Any) -> None:
    status, body, headers = server.request("GET", "/docs", token=None)
    text = body.decode()
    assert status == 200
    assert {name.lower(): value for name, value in headers.items()}["content-security-policy"].startswith(
        "default-src 'none'"
    )
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", text)
    for path in ("/score", "/verify", "/health"):
        assert f"curl {server.url}{path}" in text
    assert "Authorization: Bearer" in text


def test_names_of_a_composition_cannot_become_markup() -> None:
    composite = Composite({"rewards": {"right": {"use": "exact", "columns": {"answer": "<script>alert(1)</script>"}}}})
    text = page(specification(composite, tokens=False), "http://h:1")
    assert "<script" not in text
    assert "Bearer" not in text
