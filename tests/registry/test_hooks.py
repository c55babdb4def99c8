"""Every hook is called, through a plugin that is installed: what no test calls is no hook, and no document may name it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from grpo_rewards_plugins.code import readers
from grpo_rewards_sandbox.backends.local.backend import LocalBackend

from grpo_rewards import Composite, get_reward, hookimpl, load, use_plugin
from grpo_rewards._audit.auditing import audit
from grpo_rewards._audit.cases import cases_of_file
from grpo_rewards._audit.data.probes import probing
from grpo_rewards._presets import list_presets
from grpo_rewards._registry import hookspecs, registered, registry
from grpo_rewards.errors import ConfigError, GrpoRewardsError
from grpo_rewards.types import Observed

DOCS = Path(__file__).resolve().parents[2] / "docs"
HOOKS = [name for name, value in vars(hookspecs).items() if hasattr(value, "grpo_rewards_spec")]
NAMED = re.compile(r"\b((?:register|open|on)_\w+)\((?:app|table|composite, call)?\)")

PLUGIN = '''
"""A plugin that implements every hook, and writes down which of them were called."""
import json
from pathlib import Path
from grpo_rewards import hookimpl, reward
from grpo_rewards.types import Session

SEEN = Path(__file__).with_name("seen.jsonl")

def seen(hook):
    with SEEN.open("a") as lines:
        lines.write(json.dumps(hook) + "\\n")

@reward(name="installed_word", range=(0, 1))
def word(completion: str) -> float:
    """It says the word."""
    return float("word" in completion)

@hookimpl
def register_rewards():
    seen("register_rewards")
    return [word]

@hookimpl
def register_presets():
    seen("register_presets")
    return {"installed": Path(__file__).with_name("installed.yaml")}

@hookimpl
def register_scalers():
    seen("register_scalers")
    return {"doubling": lambda observed, factor, memory: 2 * factor}

@hookimpl
def register_sandboxes():
    seen("register_sandboxes")
    return {}

@hookimpl
def register_code_readers():
    seen("register_code_readers")
    return {}

@hookimpl
def register_commands(app):
    seen("register_commands")

@hookimpl
def register_attacks():
    seen("register_attacks")
    return {"shout": lambda case: ["WORD"]}

@hookimpl
def register_probes():
    seen("register_probes")
    return {}

@hookimpl
def open_session(composite, call):
    if call.get("installed") is not None:
        seen("open_session")
        return Mine(composite)

class Mine(Session):
    def read(self, call):
        return super().read({key: values for key, values in call.items() if key != "installed"})

@hookimpl
def group_size(call):
    seen("group_size")

@hookimpl
def on_scored(table):
    seen("on_scored")
'''
WORD = {"rewards": {"word": "installed_word"}}
ROWS = [{"prompt": "p", "completion": "word", "answer": "word"}]


def audited(folder: Path) -> None:
    file, composite = folder / "rows.jsonl", Composite(WORD)
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    audit(composite, cases_of_file(composite, file, limit=1))


def with_commands(_folder: Path) -> None:
    from grpo_rewards._cli.app import _register_plugins

    _register_plugins()


CALLS: dict[str, Callable[[Path], object]] = {
    "register_rewards": lambda _: registry(rescan=True),  # called once, when plugins are loaded
    "register_sandboxes": lambda _: get_reward("code").with_(sandbox="local"),
    "register_code_readers": lambda _: readers.families(),
    "register_presets": lambda _: load("preset/installed"),
    "register_scalers": lambda _: Composite({**WORD, "adapt": {"method": "doubling"}}),
    "register_commands": with_commands,
    "register_attacks": audited,
    "register_probes": lambda _: probing.__wrapped__(),
    "open_session": lambda _: Composite(WORD)(completions=["word"], installed=True),
    "group_size": lambda _: get_reward("exact")(completions=["word"], answer=["word"], trainer_state=None),
    "on_scored": lambda _: Composite(WORD).score(ROWS),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A distribution on the path, as pip leaves it."""
    site = tmp_path_factory.mktemp("site")
    info = site / "every_hook-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: every-hook\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[grpo_rewards]\nevery = every_hook_plugin\n")
    (site / "every_hook_plugin.py").write_text(PLUGIN)
    (site / "installed.yaml").write_text("# One word.\n" + json.dumps(WORD))
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(str(site))
        registry(rescan=True)
        yield site
    registry(rescan=True)


@pytest.mark.parametrize("hook", CALLS)
def test_every_hook_of_an_installed_plugin_is_called(hook: str, installed: Path, tmp_path: Path) -> None:
    seen = installed / "seen.jsonl"
    seen.unlink(missing_ok=True)
    CALLS[hook](tmp_path)
    assert hook in [json.loads(line) for line in seen.read_text().splitlines()]


@pytest.mark.parametrize("page", ["writing-plugins.md", "adapters/writing.md"])
def test_a_document_names_no_hook_that_nothing_calls(page: str) -> None:
    named = set(NAMED.findall((DOCS / page).read_text(encoding="utf-8")))
    assert named <= set(CALLS)


def test_every_hook_has_its_call_here() -> None:
    assert set(HOOKS) == set(CALLS)


def test_a_misspelt_hook_is_refused_by_name() -> None:
    class Mine:
        @hookimpl
        def open_sesion(self) -> None:
            """Never called."""

    with pytest.raises(TypeError, match="unknown hook 'open_sesion'; did you mean 'open_session'"):
        use_plugin(Mine())


@pytest.mark.parametrize(
    ("hook", "use"),
    [
        ("register_presets", list_presets),
        ("register_code_readers", readers.families),
        ("register_scalers", lambda: Composite({**WORD, "adapt": {"method": "fixed"}})),
        ("register_probes", probing.__wrapped__),
        ("on_scored", lambda: Composite(WORD).score(ROWS)),
    ],
)
def test_a_hook_that_raises_is_reported_and_the_rest_go_on(
    hook: str, use: Callable[[], object], installed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(table: object = None) -> None:
        raise RuntimeError("its disk is full")

    plugin = SimpleNamespace(**{hook: hookimpl(broken)})
    use_plugin(plugin)
    try:
        assert use()
    finally:
        registry().manager.unregister(plugin)
    assert f"the hook {hook} of plugin" in caplog.text
    assert "its disk is full" in caplog.text


@pytest.fixture
def taking() -> Iterator[Callable[[str, object], None]]:
    """A function that lets a plugin answer a hook."""
    plugins = []

    def take(hook: str, answer: object) -> None:
        plugins.append(SimpleNamespace(**{hook: hookimpl(lambda: answer)}))
        use_plugin(plugins[-1])

    yield take
    for plugin in plugins:
        registry().manager.unregister(plugin)


def test_a_plugins_attack_takes_no_name_of_ours(
    taking: Callable[[str, object], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taking("register_attacks", {"empty": lambda case: ["word"], "mine": lambda case: ["word"]})
    file, composite = tmp_path / "rows.jsonl", Composite(WORD)
    file.write_text(json.dumps(ROWS[0]))
    report = audit(composite, cases_of_file(composite, file, limit=1))
    assert {one.attack for one in report.earned if one.reward == 1.0} & {"empty", "mine"} == {"mine"}
    assert "both grpo-rewards and " in caplog.text
    assert "give 'empty'" in caplog.text


def _short(observed: Observed, *, step: float = 0.1) -> float:
    return step


@pytest.mark.parametrize(("scaler", "why"), [(_short, "too many positional"), (1, "not a callable")])
def test_a_scaler_that_cannot_be_called_is_refused_by_name(
    taking: Callable[[str, object], None], scaler: object, why: str
) -> None:
    taking("register_scalers", {"short": scaler})
    with pytest.raises(ConfigError, match=rf"adapt.method: .*'short' cannot be called as scaler\(.*{why}"):
        Composite({**WORD, "adapt": {"method": "short"}})


def test_of_two_scalers_of_one_name_the_first_stays_and_both_plugins_are_named(
    taking: Callable[[str, object], None], caplog: pytest.LogCaptureFixture
) -> None:
    taking("register_scalers", {"steady": 1})
    taking("register_scalers", {"steady": 2})
    assert registered("register_scalers")["steady"] in (1, 2)
    assert "give 'steady'" in caplog.text


def test_a_backend_whose_name_is_taken_is_reported_and_the_rest_go_on(
    taking: Callable[[str, object], None], caplog: pytest.LogCaptureFixture
) -> None:
    taking("register_sandboxes", {"docker": LocalBackend, "another_local": LocalBackend})
    assert get_reward("code").with_(sandbox="another_local")
    assert get_reward("code").with_(sandbox="local")
    assert "there is a sandbox backend 'docker' already" in caplog.text


def test_an_option_that_a_backend_does_not_have_is_refused_before_a_row_is_scored() -> None:
    with pytest.raises(GrpoRewardsError, match="'local' has no option 'pathh'"):
        get_reward("code").with_(sandbox={"backend": "local", "pathh": 1})
