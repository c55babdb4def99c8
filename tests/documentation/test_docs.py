"""The documentation names what there is: every reward, setting, command, option, hook, configuration key and preset."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Reward, list_rewards
from grpo_rewards._cli.app import application
from grpo_rewards._composition import Config
from grpo_rewards._contract.signature import REQUIRED
from grpo_rewards._presets import list_presets
from grpo_rewards._registry import hookspecs

DOCS = Path(__file__).resolve().parents[2] / "docs"


def built_ins() -> list[Reward]:
    return [reward for reward in list_rewards() if reward.source == "grpo-rewards"]


def section(text: str, heading: str) -> str:
    """The part of a page under a heading of the second level; nothing where there is none."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1]


# ------------------------------------------------------------------------------------------------ rewards


@pytest.mark.parametrize("reward", built_ins(), ids=lambda reward: reward.name)
def test_every_setting_of_every_reward_is_documented_with_its_default(reward: Reward) -> None:
    text = section((DOCS / "rewards.md").read_text(encoding="utf-8"), reward.name)
    head, _, tail = text.partition("| setting |")
    settings = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| .+ \|$", tail, re.MULTILINE))
    assert settings == {
        setting.name: "needed" if setting.default is REQUIRED else f"`{setting.default!r}`"
        for setting in reward.shape.settings
    }
    columns = dict(re.findall(r"^\| `(\w+)` \| (yes|no) \| .+ \|$", head, re.MULTILINE))
    assert columns == {
        **dict.fromkeys(reward.required_columns, "yes"),
        **dict.fromkeys(reward.optional_columns, "no"),
    }
    assert reward.range is not None
    assert f"*{reward.range[0]:g} to {reward.range[1]:g}, {reward.style} by {reward.style}.*" in text


def test_no_reward_is_documented_that_is_not_there() -> None:
    headings = re.findall(r"^## (.+)$", (DOCS / "rewards.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == sorted(headings, key=headings.index)
    assert set(headings) == {reward.name for reward in built_ins()}


# ------------------------------------------------------------------------------------------------ command line


def commands() -> dict[str, Any]:
    from typer.main import get_command

    group: Any = get_command(application())
    return dict(group.commands)


def leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command, or the commands of a group, with what is typed for each."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, inner in command.commands.items():
        yield from leaves(f"{path} {name}", inner)


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_and_option_is_documented(name: str) -> None:
    """In its section of cli.md, in what cli.md says of all commands, or on the command's own page."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    text = page.partition("\n## ")[0] + section(page, name)
    own = DOCS / f"{name}.md"
    if own.is_file():
        text += own.read_text(encoding="utf-8")
    for path, command in leaves(name, commands()[name]):
        assert f"grpo-rewards {path}" in text
        for parameter in command.params:
            if parameter.name == "help" or parameter.param_type_name == "argument":
                continue
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"{path} {option}"


def test_no_command_is_documented_that_is_not_there() -> None:
    headings = re.findall(r"^## (.+)$", (DOCS / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(headings) - {"Environment"} <= set(commands())


@pytest.mark.parametrize("code", ["0", "1", "2", "3"])
def test_the_exit_codes_are_documented(code: str) -> None:
    assert f"| {code} |" in (DOCS / "cli.md").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ scoring


def test_the_shapes_and_statuses_are_documented() -> None:
    from grpo_rewards._contract import STATUSES
    from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS

    text = (DOCS / "scoring.md").read_text(encoding="utf-8")
    order = [text.index(f"\n| `{column}` |") for column in COMPLETION_COLUMNS]
    assert order == sorted(order)
    for status in STATUSES:
        assert f"\n| `{status}` |" in text


# ------------------------------------------------------------------------------------------------ plugins, configuration


def test_every_hook_is_documented() -> None:
    text = (DOCS / "writing-plugins.md").read_text(encoding="utf-8")
    hooks = [name for name, value in vars(hookspecs).items() if hasattr(value, "grpo_rewards_spec")]
    assert len(hooks) >= 5
    for hook in hooks:
        assert f"`{hook}" in text, hook


def keys(model: Any) -> set[str]:
    """The keys of a section of the configuration and of every section in it."""
    found: set[str] = set()
    queue, seen = [model], set()
    while queue:
        current = queue.pop()
        if current in seen:
            continue
        seen.add(current)
        for name, field in current.model_fields.items():
            found.add(name)
            queue += _models(field.annotation)
    return found


def _models(annotation: Any) -> list[Any]:
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _models(part)]


def test_every_key_of_the_configuration_is_documented() -> None:
    pages = [DOCS / "concepts.md", DOCS / "composition.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages if page.is_file())
    wanted = keys(Config)
    assert {"use", "gate", "at_least", "clip", "max_infra_rate", "until", "ema", "present"} <= wanted
    missing = [key for key in sorted(wanted) if not re.search(rf"\b{key}\b", text)]
    assert not missing


# ------------------------------------------------------------------------------------------------ presets


def test_every_preset_has_its_page_and_its_line() -> None:
    names = {preset.name for preset in list_presets() if preset.source == "grpo-rewards"}
    assert {page.stem for page in (DOCS / "presets").glob("*.md")} - {"index"} == names
    index = (DOCS / "presets" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+)\.md\)", index)) == names


@pytest.mark.parametrize("preset", list_presets(), ids=lambda preset: preset.name)
def test_the_page_of_a_preset_shows_it_as_it_is(preset: Any) -> None:
    text = (DOCS / "presets" / f"{preset.name}.md").read_text(encoding="utf-8")
    assert f"```yaml\n{preset.text.rstrip()}\n```" in text
    for heading in ("The original", "What was corrected, and why", "Train"):
        assert section(text, heading).strip()
    assert f"examples/presets/train.py {preset.name}" in text


# ------------------------------------------------------------------------------------------------ the sandbox's program


def test_every_module_of_the_sandboxs_program_is_in_its_readme() -> None:
    program = DOCS.parent / "sandbox" / "grpo_rewards_sandbox" / "program"
    listed = re.findall(
        r"`((?:\w+/)?\w+\.py)`",
        section((program / "README.md").read_text(encoding="utf-8"), "Which module is which room"),
    )
    modules = [path.relative_to(program).as_posix() for path in program.rglob("*.py") if path.name != "__init__.py"]
    assert sorted(listed) == sorted(modules)
