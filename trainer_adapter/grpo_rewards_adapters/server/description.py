"""What the service takes and answers: its OpenAPI document, and a page of it that needs no script and no network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from grpo_rewards import Composite, __version__

Schema = dict[str, Any]

_MESSAGES: Schema = {
    "type": "array",
    "items": {"type": "object", "required": ["role"], "properties": {"role": {"type": "string"}, "content": {}}},
}
_TEXT: Schema = {"anyOf": [{"type": "string"}, _MESSAGES], "description": "text, or chat messages"}
_NUMBERS: Schema = {"type": "array", "items": {"type": ["number", "null"]}}
_REFUSED = {
    "400": "no JSON, or of another shape",
    "401": "no valid token",
    "408": "the body did not arrive in time",
    "413": "the body is too large",
    "422": "a column is missing",
    "429": "too many requests wait; Retry-After says when to come back",
    "500": "a plugin broke, or the request ended two workers",
    "503": "infrastructure failed beyond errors.max_infra_rate; with Retry-After",
    "504": "the request took too long",
}


def _schemas(composite: Composite) -> dict[str, Schema]:
    columns = [name for name in composite.required_columns if name not in ("prompt", "completion")]
    row: Schema = {
        "type": "object",
        "description": "One completion with the columns that the rewards need, in any shape that grpo-rewards score reads.",
        "required": columns,
        "properties": {
            "completion": _TEXT,
            "prompt": _TEXT,
            "completions": {"type": "array", "items": _TEXT, "description": "several of one prompt, in its place"},
            "group_id": {"description": "rows with the same are one group"},
            **{name: {"description": "a column of the data"} for name in columns},
        },
    }
    names = [component.name for component in composite.components]
    scores: Schema = {
        "type": "object",
        "required": ["rewards", "components", "left_out", "broken", "provenance"],
        "properties": {
            "rewards": {**_NUMBERS, "description": "one for each completion; null where there is none"},
            "components": {
                "type": "object",
                "required": names,
                "properties": dict.fromkeys(names, _NUMBERS),
                "description": "values after clip and gate, before the weight",
            },
            "left_out": {"type": "object", "additionalProperties": {"type": "string"}, "description": "row: why"},
            "broken": {"type": "array", "items": {"type": "integer"}, "description": "rows on which a plugin broke"},
            "provenance": {"type": "object", "description": "configuration and plugin versions"},
            "rows": {"type": "array", "items": {"type": "object"}, "description": "with explain: every row in full"},
        },
    }
    lists: Schema = {
        "type": "object",
        "required": ["query", "prompts", "labels"],
        "properties": {
            "query": {"type": "array", "items": {"type": "string"}, "description": "prompts with their completions"},
            "prompts": {"type": "array", "items": {"type": "string"}},
            "labels": {"type": "array", "items": {}},
        },
    }
    return {
        "Row": row,
        "Rows": {
            "type": "object",
            "required": ["rows"],
            "properties": {
                "rows": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Row"}},
                "explain": {"type": "boolean", "default": False},
            },
        },
        "Scores": scores,
        "Lists": lists,
        "ListScores": {
            "type": "object",
            "required": ["rewards", "scores", "extra_logs"],
            "properties": {"rewards": _NUMBERS, "scores": _NUMBERS, "extra_logs": {"type": "object"}},
        },
        "Verify": {"type": "object", "required": ["response"], "properties": {"response": {"type": "object"}}},
        "Verified": {"type": "object", "required": ["reward"], "properties": {"reward": {"type": "number"}}},
        "Problem": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
    }


def _content(schema: str) -> Schema:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _posted(summary: str, takes: str, answers: str, example: Schema, *, tokens: bool) -> Schema:
    body = _content(takes)
    body["application/json"]["example"] = example
    responses: Schema = {"200": {"description": "scored", "content": _content(answers)}}
    for status, text in _REFUSED.items():
        if tokens or status != "401":
            responses[status] = {"description": text, "content": _content("Problem")}
    return {"post": {"summary": summary, "requestBody": {"required": True, "content": body}, "responses": responses}}


def specification(composite: Composite, *, tokens: bool) -> Schema:
    """Return the OpenAPI 3.1 document of a service of `composite`; `tokens`: whether requests to score need one."""
    columns = {name: "..." for name in composite.required_columns if name not in ("prompt", "completion")}
    row = {"prompt": "2+2?", "completion": "4", **columns}
    lists = {"query": ["2+2? 4"], "prompts": ["2+2?"], "labels": ["4"]}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}]
    verify = {"responses_create_params": {"input": [{"role": "user", "content": "2+2?"}]}, **columns,
              "response": {"output": output}}  # fmt: skip
    openrlhf = _posted("OpenRLHF's remote reward", "Lists", "ListScores", lists, tokens=tokens)
    paths: Schema = {
        "/score": _posted("Score rows", "Rows", "Scores", {"rows": [row], "explain": True}, tokens=tokens),
        "/openrlhf": openrlhf,
        "/get_reward": openrlhf,
        "/verify": _posted("NeMo Gym's verify", "Verify", "Verified", verify, tokens=tokens),
        "/health": {"get": {"summary": "Whether workers are up", "security": [],
                            "responses": {"200": {"description": "up"}, "503": {"description": "none is"}}}},
        "/metrics": {"get": {"summary": "Figures for Prometheus", "security": [],
                             "responses": {"200": {"description": "text", "content": {"text/plain": {}}}}}},
    }  # fmt: skip
    found: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "grpo-rewards",
            "version": __version__,
            "description": "Scores completions with: " + ", ".join(one.name for one in composite.components),
        },
        "paths": paths,
        "components": {"schemas": _schemas(composite)},
    }
    if tokens:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


# ------------------------------------------------------------------------------------------------ the page

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
code, pre { font: 13px/1.5 ui-monospace, monospace; } pre { overflow-x: auto; padding: .7rem; border: 1px solid #8886; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; } table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; overflow-wrap: anywhere; }
"""


def page(described: Schema, base: str) -> str:
    """Return the OpenAPI document as HTML, for a reader; `base` is the address that the service was asked at."""
    info = described["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        "<p>The same for programs: <a href=openapi.json>openapi.json</a> (OpenAPI 3.1).</p>",
    ]
    if "security" in described:
        parts.append("<p>Requests to score need the header <code>Authorization: Bearer TOKEN</code>.</p>")
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts += _operation(described, base, path, method, operation)
    return "\n".join(parts)


def _operation(described: Schema, base: str, path: str, method: str, operation: Schema) -> Iterator[str]:
    yield f"<h2 id='{escape(path[1:])}'><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}.</p>"
    body = operation.get("requestBody")
    header = ' \\\n  -H "Authorization: Bearer $TOKEN"' if "security" in described and body else ""
    if body is None:
        yield f"<pre>curl {escape(base + path)}</pre>"
    else:
        content = body["content"]["application/json"]
        # as a shell takes a quote within single quotes
        given = json.dumps(content["example"], ensure_ascii=False).replace("'", "'\\''")
        yield f"<pre>{escape(f'curl {base}{path}{header} -d {chr(39)}{given}{chr(39)}', quote=False)}</pre>"
        yield from _fields(described, "takes", content["schema"])
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        yield from _fields(described, "answers", answer)
    rows = "".join(
        f"<tr><td><code>{status}</code><td>{escape(response['description'])}"
        for status, response in operation["responses"].items()
    )
    yield f"<details><summary>Statuses</summary><table>{rows}</table></details>"


def _fields(described: Schema, title: str, schema: Schema) -> Iterator[str]:
    rows = "".join(
        f"<tr><td>{'&nbsp;' * 4 * depth}<code>{escape(name)}</code>{'' if needed else ' (optional)'}"
        f"<td>{escape(kind)}<td>{escape(text)}"
        for depth, name, needed, kind, text in _walk(described, schema, 0)
    )
    if rows:
        yield f"<h3>It {title}</h3><table>{rows}</table>"


def _walk(described: Schema, schema: Schema, depth: int) -> Iterator[tuple[int, str, bool, str, str]]:
    found = _resolved(described, schema)
    needed: Sequence[str] = found.get("required", ())
    for name, inner in found.get("properties", {}).items():
        shown = _resolved(described, inner)
        yield depth, name, name in needed, _kind(shown), shown.get("description", "")
        if depth < 2:
            yield from _walk(described, shown.get("items", shown), depth + 1)


def _resolved(described: Schema, schema: Schema) -> Schema:
    if "$ref" in schema:
        found: Schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "")
    if kind == "array":
        items = schema["items"]
        return f"list of {_kind(items) or 'anything'}" if "$ref" not in items else "list"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
