"""The door of backends: the contract that each keeps, and how they are found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import (
    Backend,
    Job,
    SandboxUnavailable,
    Verdict,
    Worker,
    _registry,
    backend_names,
    open_sandbox,
    register_backend,
)
from grpo_rewards_sandbox.backends import supervised
from grpo_rewards_sandbox.backends.local.backend import LocalBackend
from grpo_rewards_sandbox.backends.supervised import Supervised
from grpo_rewards_sandbox.program import wire
from grpo_rewards_sandbox.testing import BackendContract

from grpo_rewards import get_reward, hookimpl, use_plugin
from grpo_rewards.errors import SettingsError


class TestLocal(BackendContract):
    """The backend of this machine."""

    backend = "local"


@pytest.mark.docker
class TestDocker(BackendContract):
    """The backend of an engine."""

    backend = "docker"


class Saying(Backend):
    """Says the same of every program."""

    name = "saying"

    def __init__(self, *, status: str = "passed") -> None:
        self.status = status

    def start(self) -> Worker:
        return Says(self.status)

    def describe(self, worker: Worker) -> str:
        return "nothing is run"


class Says(Worker):
    """Runs nothing."""

    def __init__(self, status: str) -> None:
        self.status = status

    def run(self, job: Job) -> Verdict:
        if self.status == "breaks":
            raise OSError("it broke")
        return Verdict(self.status, 1, 1)

    def interrupt(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""
        if self.status == "breaks":
            raise BrokenPipeError("it is broken")


JOB = Job("x = 1", ["assert x == 1"], "asserts")


@pytest.fixture
def saying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_registry, "_registered", {})
    register_backend("saying", Saying)


class Keeping(Saying):
    """Wants a worker to be kept ready."""

    spares = 1


SPAWNING = """
from grpo_rewards_sandbox import Backend, Worker, open_sandbox

class Child(Worker):
    def __init__(self):
        import multiprocessing
        import threading
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=threading.Event().wait)
        self.process.start()

    def run(self, job): ...

    def interrupt(self):
        self.process.kill()

    def close(self):
        self.process.kill()
        self.process.join()
        print("closed")

class Children(Backend):
    name = "children"

    def start(self):
        return Child()

    def describe(self, worker):
        return "processes of multiprocessing"

sandbox = open_sandbox(Children())
"""


def test_a_process_that_leaves_its_sandbox_open_ends() -> None:
    done = subprocess.run([sys.executable, "-c", SPAWNING], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "closed\n"


def test_closing_ends_who_keeps_workers_ready_whenever_it_comes() -> None:
    sandbox = open_sandbox(Keeping())
    closed = threading.Event()

    class Late(threading.Event):
        """Is cleared just after it was set for the end: the keeper had looked whether the sandbox is closed before that."""

        def set(self) -> None:
            super().set()
            if sandbox._closed:
                closed.set()

        def clear(self) -> None:
            assert closed.wait(20)
            super().clear()

    sandbox._wanted = Late()
    assert [said.status for said in sandbox.run([JOB])] == ["passed"]
    closing = threading.Thread(target=sandbox.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()


class Babbling(Supervised):
    """Lives, and says nothing else."""

    sign = wire.pack({"alive": True})
    read = 0

    def _write(self, data: bytes, deadline: float) -> None:
        pass

    def _receive(self, size: int, deadline: float) -> bytes:
        start = self.read % len(self.sign)
        self.read += size
        return self.sign[start : start + size]

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_signs_of_life_alone_are_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "longest", lambda _: -7.0)
    with pytest.raises(OSError, match="no verdict for -1 s"):
        Babbling().run(JOB)


@pytest.mark.usefixtures("saying")
def test_a_registered_backend_is_opened_by_its_name_with_its_options() -> None:
    assert backend_names() == ("local", "docker", "saying")
    with open_sandbox("saying", status="failed") as opened:
        assert [said.status for said in opened.run([JOB, JOB])] == ["failed", "failed"]
        assert (opened.backend, opened.description) == ("saying", "nothing is run")
    with open_sandbox(Saying(status="passed"), workers=3) as opened:
        assert opened.run([JOB])[0].passed


@pytest.mark.usefixtures("saying")
def test_a_worker_that_breaks_is_replaced_and_then_unavailable() -> None:
    with open_sandbox("saying", status="breaks", workers=1) as opened:
        (said,) = opened.run([JOB])
    assert (said.status, said.reason) == ("unavailable", "the sandbox failed 3 times: it broke")


@pytest.mark.usefixtures("saying")
@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("sayin", {}, "did you mean 'saying'"),
        ("saying", {"stats": "failed"}, "no option 'stats'; it takes status"),
        ("docker", {"mode": "sometimes"}, "expected reuse or fresh"),
        ("docker", {"packages": "none"}, "no option 'packages'"),
        ("docker", {"memory": "2g"}, "option 'memory': expected int, not '2g'"),
        ("docker", {"cpus": True}, "option 'cpus': expected float, not True"),
        (
            "docker",
            {"hosts": "tcp://a"},
            r"option 'hosts': expected collections.abc.Sequence\[str\] | None, not 'tcp://a'",
        ),
        ("local", {"allow": ["user", 1]}, "option 'allow'"),
        ("auto", {"memory": "2g"}, "option 'memory': expected int"),
        ("auto", {"status": "failed"}, "no backend of auto has an option 'status'"),
        ("local", {"workers": 0}, "at least 1"),
    ],
)
def test_what_there_is_not_is_refused_by_name(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        open_sandbox(name, **options)


@pytest.mark.usefixtures("saying")
@pytest.mark.parametrize("name", ["auto", "local", "docker", "saying"])
def test_no_name_is_taken_twice(name: str) -> None:
    with pytest.raises(ValueError, match="already"):
        register_backend(name, LocalBackend)
    register_backend("saying", Saying)


def test_what_cannot_be_imported_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_registry._PLACES, "broken", "no_such_module:Backend")
    with pytest.raises(SandboxUnavailable, match="no_such_module"):
        open_sandbox("broken")


@pytest.mark.parametrize("hosts", [["tcp://127.0.0.1:1"], ["tcp://127.0.0.1:1", "tcp://127.0.0.1:2"]])
def test_a_missing_package_is_not_taken_for_a_missing_engine(hosts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(SandboxUnavailable, match=r"^the docker backend needs docker-py: pip install"):
        open_sandbox("docker", hosts=hosts)


@pytest.mark.usefixtures("saying")
def test_the_reward_code_takes_a_registered_backend() -> None:
    code = get_reward("code")
    row = {"completions": ["```python\nx = 2\n```"], "test_list": [["assert x == 1"]]}
    assert code.with_(sandbox="saying")(**row) == [1.0]
    with pytest.raises(SettingsError, match="no sandbox 'sayin'"):
        code.with_(sandbox="sayin")


def test_the_hook_of_a_plugin_brings_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_registry, "_registered", {})

    class Plugin:
        @hookimpl
        def register_sandboxes(self) -> dict[str, type[Backend]]:
            return {"hooked": Saying}

    use_plugin(Plugin())
    get_reward("code").with_(sandbox="hooked")
    with open_sandbox("hooked") as opened:
        assert opened.run([JOB])[0].passed


PAGE = Path(__file__).resolve().parents[2] / "docs" / "writing-backends.md"
BLOCKS = dict(re.findall(r"```(python|toml|yaml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[:3])
CONTRACT = PAGE.read_text(encoding="utf-8").rpartition("```python\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's example as pip leaves it, and what is written beside it."""
    site = tmp_path_factory.mktemp("site")
    info = site / "lines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lines\nVersion: 1.0\n")
    points = tomllib.loads(BLOCKS["toml"])["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in names.items()) for group, names in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (site / "lines_backend.py").write_text(BLOCKS["python"])
    (site / "test_lines.py").write_text(CONTRACT)
    (site / "rewards.yaml").write_text(BLOCKS["yaml"])
    return site


def _python(folder: Path, *arguments: str) -> str:
    """What a fresh interpreter with the example installed says."""
    path = os.pathsep.join([str(folder), *(place for place in sys.path if place)])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SCORE = """
from grpo_rewards import load
rows = [{"completion": f"```python\\nx = {x}\\n```", "test_list": ["assert x == 1"]} for x in (1, 2)]
print(load("rewards.yaml").score(rows).rewards())
"""


@pytest.mark.slow
def test_the_pages_example_scores_rows_when_installed(installed: Path) -> None:
    assert _python(installed, "-c", SCORE).strip() == "[1.0, 0.0]"


@pytest.mark.slow
def test_the_pages_example_keeps_the_contract(installed: Path) -> None:
    said = _python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "test_lines.py")
    assert "skipped" not in said, said
