"""What a stranger gets from the wheel."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

import grpo_rewards

pytestmark = pytest.mark.slow

PACKAGES = {"grpo_rewards", "grpo_rewards_plugins", "grpo_rewards_sandbox", "grpo_rewards_adapters"}
# asyncio: half of the core's import time, which rewards that wait import when they are called
HEAVY = [
    "torch",
    "transformers",
    "trl",
    "sympy",
    "docker",
    "datasets",
    "pandas",
    "numpy",
    "pyarrow",
    "zstandard",
    "asyncio",
]


def test_the_wheel_holds_the_four_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = f"grpo_rewards-{grpo_rewards.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == PACKAGES | {info}
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert f"{info}/licenses/LICENSE" in names
    testlib = "grpo_rewards_sandbox/program/languages/testlib.h"
    assert {testlib, f"{testlib}.LICENSE"} <= set(names)
    page = {Path(name).name for name in names if "/_report/page/" in name}
    assert page >= {"report.html.j2", "report.css", "main.js", "libraries.json", "temml.min.js", "temml.min.js.LICENSE"}
    assert not [name for name in names if {"tests", "benchmarks", "examples"} & set(name.split("/"))]


def test_the_core_imports_without_anything_heavy(fresh_python: Path) -> None:
    code = f"import sys, json; from grpo_rewards import *; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    assert json.loads(_run(fresh_python, code)) == []


def test_loading_every_plugin_stays_light_too(fresh_python: Path) -> None:
    code = (
        "import sys, json, grpo_rewards; names = [reward.name for reward in grpo_rewards.list_rewards()];"
        f"print(json.dumps([names, [m for m in {HEAVY} if m in sys.modules]]))"
    )
    names, heavy = json.loads(_run(fresh_python, code))
    assert heavy == []
    assert {"xml_format", "exact", "length"} <= set(names)


def test_the_installed_version_is_the_single_source(fresh_python: Path) -> None:
    code = "import importlib.metadata as m, grpo_rewards as g; print(m.version('grpo-rewards'), g.__version__)"
    assert _run(fresh_python, code).split() == [grpo_rewards.__version__] * 2


def test_a_star_import_asks_for_no_configuration(fresh_python: Path) -> None:
    assert _run(fresh_python, "from grpo_rewards import *; print(reward.batch is not None)") == "True"


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_public_names_are_sorted_and_exist(package: str) -> None:
    module = __import__(package)
    names = getattr(module, "__all__", [])
    assert list(names) == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name)) or list(
        names
    ) == sorted(names)
    for name in names:
        assert getattr(module, name) is not None


def _run(python: Path, code: str) -> str:
    done = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True, cwd="/")
    return done.stdout.strip()
