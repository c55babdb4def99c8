"""Several Docker engines as one: two over tcp and one over ssh, one of which dies and returns. Engines of their own, here."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, open_sandbox
from grpo_rewards_sandbox.backends.docker import engine as engines
from grpo_rewards_sandbox.backends.docker import fleet as fleets
from grpo_rewards_sandbox.backends.docker import image as images

pytest.importorskip("docker")
pytestmark = [
    pytest.mark.docker, pytest.mark.slow, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]  # fmt: skip

SSHD = shutil.which("sshd") or next((p for p in ("/usr/sbin/sshd",) if os.path.exists(p)), None)
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"


def job(number: int, program: str = "return x * 2") -> Job:
    return Job(f"def solve(x):\n    {program}  # {number}\n", CHECK, "humaneval", entry_point="solve")


def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Dockerd:
    """An engine of its own on a port of this machine, with the sandbox's image."""

    def __init__(self, folder: Path, saved: Path) -> None:
        self.folder, self.place = folder, f"tcp://127.0.0.1:{port()}"
        self.start()
        with engines.Engine(self.place) as engine, saved.open("rb") as file:
            engine.client.images.load(file)

    def start(self) -> None:
        command = [
            "dockerd", "-H", self.place, "--data-root", str(self.folder / "data"), "--exec-root", str(self.folder / "exec"),
            "--pidfile", str(self.folder / "pid"), "--bridge=none", "--iptables=false",
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(SandboxUnavailable), engines.Engine(self.place):
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                pytest.skip(f"NO TEST OF A FLEET RAN: a second dockerd does not start: {self.log()}")
            time.sleep(0.1)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-400:]

    def kill(self) -> None:
        """End it as a machine that is switched off does: its containers too."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        inside = str(self.folder / "exec")
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if inside.encode() in place.read_bytes():
                    os.kill(int(place.parent.name), signal.SIGKILL)
        (self.folder / "pid").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def here() -> None:
    """This machine's engine, with an image."""
    try:
        with engines.Engine() as engine:
            images.find(engine)
    except SandboxUnavailable as error:
        pytest.skip(f"NO TEST OF A FLEET RAN: {error}")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        with engines.Engine() as engine:
            image = engine.client.images.get(images.find(engine))
            file = tmp_path_factory.mktemp("image") / "image.tar"
            with file.open("wb") as stream:
                for chunk in image.save(named=True):
                    stream.write(chunk)
    except SandboxUnavailable as error:
        pytest.skip(f"NO TEST OF A FLEET RAN: {error}")
    if not shutil.which("dockerd") or os.getuid() != 0:
        pytest.skip("NO TEST OF A FLEET RAN: it starts engines of its own, which needs root and dockerd")
    return file


@pytest.fixture(scope="module")
def pair(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Dockerd]]:
    started: list[Dockerd] = []
    try:
        for name in "ab":
            started.append(Dockerd(tmp_path_factory.mktemp(f"engine-{name}"), saved))
        yield started
    finally:
        for one in started:
            one.kill()
            for line in Path("/proc/mounts").read_text().splitlines():
                if str(one.folder) in line:
                    subprocess.run(["umount", "-l", line.split()[1]], check=False, capture_output=True)


def places(sandbox: Sandbox) -> Counter[str]:
    return Counter(worker._host.place for worker in sandbox._live)  # type: ignore[attr-defined]


def test_containers_are_spread_and_one_engine_dies_and_returns(pair: list[Dockerd]) -> None:
    both = [one.place for one in pair]
    with open_sandbox("docker", workers=4, hosts=both) as sandbox:
        assert [verdict.status for verdict in sandbox.run(job(n) for n in range(16))] == ["passed"] * 16
        assert set(places(sandbox)) == set(both)
        found: list[str] = []
        slow = [job(n, "__import__('time').sleep(0.2); return x * 2") for n in range(24)]
        running = threading.Thread(target=lambda: found.extend(v.status for v in sandbox.run(slow)))
        running.start()
        running.join(0.5)
        pair[0].kill()
        running.join(120)
        assert found == ["passed"] * 24, "what ran on the dead engine began anew on the other"
        assert set(places(sandbox)) == {both[1]}
        pair[0].start()
        deadline = time.monotonic() + 60
        while set(places(sandbox)) != set(both) and time.monotonic() < deadline:
            assert {verdict.status for verdict in sandbox.run(job(n) for n in range(8))} == {"passed"}
        assert set(places(sandbox)) == set(both), "containers move to the engine that returned"
    for place in both:
        with engines.Engine(place) as engine:
            assert not engine.client.api.containers(all=True, filters={"label": engines.LABEL})


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An sshd of this machine on a port of its own, and an ssh that trusts it; its port."""
    if SSHD is None or not shutil.which("ssh"):
        pytest.skip("NO TEST OF AN ENGINE OVER SSH RAN: there is no sshd (install openssh-server)")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    number = port()
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    Path("/run/sshd").mkdir(exist_ok=True)
    settings = [
        f"ListenAddress=127.0.0.1:{number}", f"HostKey={tmp_path}/host", f"AuthorizedKeysFile={tmp_path}/authorized",
        "StrictModes=no", "PermitRootLogin=yes", "UsePAM=no", f"PidFile={tmp_path}/sshd.pid", "AllowStreamLocalForwarding=yes",
    ]  # fmt: skip
    options = [word for setting in settings for word in ("-o", setting)]
    process = subprocess.Popen([SSHD, "-D", "-f", "/dev/null", *options], stderr=subprocess.DEVNULL)
    script = tmp_path / "bin" / "ssh"
    script.parent.mkdir()
    trusted = f"-F /dev/null -i {tmp_path}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    script.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} {trusted} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), timeout=1):
            break
        time.sleep(0.05)
    yield number
    process.kill()
    process.wait()


def test_an_engine_over_ssh_judges(here: None, ssh: int) -> None:
    host = f"ssh://root@127.0.0.1:{ssh}"
    with open_sandbox("docker", workers=2, hosts=[host]) as sandbox:
        wrong = sandbox.run([job(0), job(1, "return x"), job(2, "while True: pass")])
    assert [verdict.status for verdict in wrong] == ["passed", "failed", "timeout"]


def test_no_ssh_outlives_its_process(ssh: int) -> None:
    tunnel = "import sys, time\nfrom grpo_rewards_sandbox.backends.docker.tunnel import forwarded\n"
    tunnel += f"print(forwarded('ssh://root@127.0.0.1:{ssh}'), flush=True)\ntime.sleep(600)\n"
    process = subprocess.Popen([sys.executable, "-c", tunnel], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        place = Path(process.stdout.readline().strip().removeprefix("unix://"))

    def left() -> list[str]:
        found = []
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                found += [command.read_text()] if str(place) in command.read_text() else []
        return found

    assert left()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while (left() or place.parent.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left()
    assert not place.parent.exists()


def test_an_engine_that_is_not_there_is_left_out_or_named(here: None) -> None:
    nowhere = f"tcp://127.0.0.1:{port()}"
    with open_sandbox("docker", workers=1, hosts=[nowhere, "unix:///var/run/docker.sock"]) as sandbox:
        assert sandbox.run([job(0)])[0].passed
    with pytest.raises(SandboxUnavailable, match=nowhere):
        open_sandbox("docker", hosts=[nowhere, "ssh://127.0.0.1:1"])
    with pytest.raises(ValueError, match="each once"):
        open_sandbox("docker", hosts=[nowhere, nowhere])


def test_an_engine_that_hangs_holds_up_one_thread(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleets, "_AGAIN", 0.0)
    number = port()
    fleet = fleets.Fleet(["unix:///var/run/docker.sock", f"tcp://127.0.0.1:{number}"], None, None)
    there, hangs = fleet.hosts
    with socket.create_server(("127.0.0.1", number)) as engine:
        first = threading.Thread(target=fleet.by_room)
        first.start()
        asked, _ = engine.accept()
        with asked:
            assert fleet.by_room() == [there]
            assert first.is_alive(), "it still waits for the one that hangs"
    first.join()
    assert "no Docker engine answers" in hangs.problem
    assert there.engine is not None
    there.engine.close()


if sys.platform != "linux":
    pytest.skip("NO TEST OF A FLEET RAN: engines of its own need Linux", allow_module_level=True)
