"""What is special about the docker backend: hardened containers, and what becomes of jobs when things die."""

from __future__ import annotations

import contextlib
import gc
import http.server
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import (
    Job,
    SandboxError,
    SandboxUnavailable,
    _sandbox,
    build_image,
    guarantees,
    open_sandbox,
    prune_images,
)
from grpo_rewards_sandbox.backends.docker import containers as containers_of
from grpo_rewards_sandbox.backends.docker import engine as engines
from grpo_rewards_sandbox.backends.docker import image as images

docker = pytest.importorskip("docker")
# where a daemon is gone, docker-py leaves the sockets that could not connect to the garbage collector
forgiving = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
pytestmark = [pytest.mark.docker, forgiving]

CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"
RIGHT = "def solve(x):\n    return x * 2\n"
GOOD = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
KILLS_EVERYTHING = "import os, time\nif os.fork() == 0:\n    while True:\n        try:\n            os.kill(-1, 9)\n        except OSError:\n            pass\ntime.sleep(60)\n"
SLEEP = Job("import time\ntime.sleep(1)\n" + RIGHT, CHECK, "humaneval", entry_point="solve")


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    try:
        found = engines.Engine()
        images.find(found)
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF THE DOCKER SANDBOX RAN: {error}")
    with found:
        yield found
    gc.collect()


def containers(engine: engines.Engine, opened: _sandbox.Sandbox) -> list[str]:
    label = f"{engines.SANDBOX}={vars(opened._backend)['_sandbox']}"
    return [found["Id"] for found in engine.client.api.containers(all=True, filters={"label": label})]


def test_a_container_is_hardened(engine: engines.Engine) -> None:
    with open_sandbox("docker", workers=1) as opened:
        (container,) = containers(engine, opened)
        found = engine.client.api.inspect_container(container)
    host, tmpfs = found["HostConfig"], found["HostConfig"]["Tmpfs"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"]
    assert host["CapDrop"] == ["ALL"]
    assert {name.removeprefix("CAP_") for name in host["CapAdd"]} == {"SETUID", "SETGID", "KILL", "CHOWN"}
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert not host["Privileged"]
    assert not host["Binds"]
    assert (host["PidsLimit"], host["Memory"], host["MemorySwap"]) == (256, 2 << 30, 2 << 30)
    assert host["NanoCpus"] == 2_000_000_000
    assert all("size=" in options and "nosuid" in options and "nodev" in options for options in tmpfs.values())
    assert found["Config"]["Labels"][engines.OWNER] == engines.owner()


def test_a_killed_container_is_replaced_and_no_job_is_lost(engine: engines.Engine) -> None:
    with open_sandbox("docker", workers=2) as opened:
        assert opened.run([GOOD])[0].passed
        found: list[str] = []
        runner = threading.Thread(target=lambda: found.extend(v.status for v in opened.run([SLEEP] * 4)))
        runner.start()
        time.sleep(0.5)
        for container in containers(engine, opened):
            with contextlib.suppress(docker.errors.APIError):
                engine.client.api.kill(container)
        runner.join(60)
        assert found == ["passed"] * 4
        assert opened.run([GOOD])[0].passed
    assert not containers(engine, opened)


def test_the_standard_library_is_compiled_whatever_base_the_image_has(engine: engines.Engine) -> None:
    program = "import inspect, os\nthere = os.path.exists(inspect.__cached__)"
    with open_sandbox("docker", workers=1) as sandbox:
        assert sandbox.run([Job(program, ["assert there"], "asserts")])[0].passed


def test_fresh_mode_serves_each_job_in_a_container_of_its_own(engine: engines.Engine) -> None:
    names = Job(
        "import socket\ndef solve(x):\n    return open('/proc/self/cgroup').read()\n", ["print(solve(1))"], "asserts"
    )
    with open_sandbox("docker", workers=1, mode="fresh") as opened:
        before = set(containers(engine, opened))
        assert [v.status for v in opened.run([GOOD, GOOD, GOOD, names])] == ["passed"] * 4
        assert not before & set(containers(engine, opened))
    assert not containers(engine, opened)


def test_close_in_mid_batch_leaves_no_container(engine: engines.Engine) -> None:
    opened = open_sandbox("docker", workers=1)
    found: list[str] = []
    runner = threading.Thread(target=lambda: found.extend(v.status for v in opened.run([SLEEP] * 20)))
    runner.start()
    time.sleep(0.5)
    opened.close()
    runner.join(30)
    assert len(found) == 20
    assert set(found[2:]) == {"unavailable"}
    assert not containers(engine, opened)


SCRIPT = """
import os, sys, threading, time
from grpo_rewards_sandbox import Job, open_sandbox
opened = open_sandbox("docker", workers=1)
print(opened._backend._sandbox, flush=True)
if sys.argv[1] == "exit":
    sys.exit(0)
opened.run([Job("import time\\ntime.sleep(60)\\n", "def check(c): pass", "humaneval", entry_point="f", timeout=60.0)])
"""


@pytest.mark.parametrize("how", ["exit", "killed"])
def test_no_container_outlives_its_process(engine: engines.Engine, how: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, how], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    label = f"{engines.SANDBOX}={process.stdout.readline().strip()}"
    if how == "killed":
        time.sleep(0.5)
        assert engine.client.api.containers(filters={"label": label})
        process.kill()
    process.wait(30)
    process.stdout.close()
    if how == "killed":
        engine.sweep()
    deadline = time.monotonic() + 20
    while engine.client.api.containers(all=True, filters={"label": label}) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not engine.client.api.containers(all=True, filters={"label": label})


def test_the_sweep_leaves_the_living_alone(engine: engines.Engine) -> None:
    with open_sandbox("docker", workers=1) as opened:
        engine.sweep()
        assert opened.run([GOOD])[0].passed
        assert containers(engine, opened)


def test_the_tag_follows_the_content() -> None:
    files = images.context_files()
    tag = images.tag_of(files, "base", ())
    assert tag == images.tag_of(dict(reversed(files.items())), "base", ())
    assert len({tag, images.tag_of(files, "other", ()), images.tag_of(files, "base", ("numpy",))}) == 3
    assert images.tag_of({**files, "program/wire.py": b""}, "base", ()) != tag


def test_a_build_that_cannot_work_says_why(engine: engines.Engine) -> None:
    with pytest.raises(SandboxError, match="no requirement"):
        build_image(packages=("numpy; rm -rf /",))
    with pytest.raises(SandboxError, match=r"grpo-rewards\.invalid/none"):
        build_image(base="grpo-rewards.invalid/none:1")
    assert build_image() == build_image()


def test_pruning_removes_the_images_of_other_versions_only(
    engine: engines.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "REPOSITORY", f"grpo-rewards-test-{os.getpid()}")
    names = {name: f"{images.REPOSITORY}:{name}" for name in ("old", "new")}
    hashes = {"old": "of another version", "new": images.program_hash(images.context_files())}
    for name, tag in names.items():
        text = io.BytesIO(f'FROM scratch\nLABEL {images.PROGRAM_LABEL}="{hashes[name]}"\n'.encode())
        engine.client.images.build(fileobj=text, tag=tag, rm=True)
    try:
        assert images.prune(engine) == [names["old"]]
        assert images.prune(engine) == []
        assert images.exists(engine, names["new"])
    finally:
        engine.client.images.remove(names["new"])


def test_no_engine_is_unavailable_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(SandboxUnavailable, match="DOCKER_HOST"):
        open_sandbox("docker")


class _Full(http.server.BaseHTTPRequestHandler):
    """An engine whose disk is full: it answers, and does nothing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        known = b'{"Version": "27", "ApiVersion": "1.43"}' if self.path.endswith("/version") else b"OK"
        works = self.path.endswith(("/version", "/_ping"))
        body = known if works else b'{"message": "no space left on device"}'
        self.send_response(200 if works else 500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_words: object) -> None:
        pass


def test_an_engine_that_fails_is_unavailable_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Full) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"tcp://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("DOCKER_HOST", place)
        for tried in (lambda: open_sandbox("docker"), build_image, prune_images):
            with pytest.raises(SandboxUnavailable, match=f"on the Docker engine at {place}: no space left on device"):
                tried()
        assert "no space left" in guarantees()["docker_note"]
        server.shutdown()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"image": "grpo-rewards.invalid/none"},
            "has no image grpo-rewards.invalid/none. What to do: grpo-rewards sandbox",
        ),
        ({"image": "grpo-rewards-test-other"}, "without the sandbox's program: grpo-rewards-test-other"),
        ({"memory": 1000}, "no container could be started on the Docker engine at .*: Minimum memory limit"),
    ],
    ids=["no image", "an image of others", "too little memory"],
)
def test_options_that_no_container_can_have_are_named(engine: engines.Engine, options: Any, said: str) -> None:
    engine.client.images.build(fileobj=io.BytesIO(b"FROM scratch\nLABEL a=b\n"), tag="grpo-rewards-test-other", rm=True)
    try:
        with pytest.raises(SandboxUnavailable, match=said):
            open_sandbox("docker", workers=1, **options)
    finally:
        engine.client.images.remove("grpo-rewards-test-other")


def test_an_unknown_context_is_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONTEXT", "nowhere")
    with pytest.raises(SandboxUnavailable, match="nowhere"):
        open_sandbox("docker")


def client_of(folder: Path) -> contextlib.closing[Any]:
    return contextlib.closing(docker.DockerClient(base_url=f"unix://{folder}/sock"))


def start_daemon(folder: Path) -> subprocess.Popen[bytes]:
    command = ["dockerd", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--bridge=none"]
    command += ["--iptables=false", "--pidfile", f"{folder}/pid", "-H", f"unix://{folder}/sock"]
    with (folder / "log").open("ab") as log:
        daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    for _ in range(300):
        with contextlib.suppress(Exception), client_of(folder) as client:
            client.ping()
            return daemon
        if daemon.poll() is not None:
            break
        time.sleep(0.1)
    stop_daemon(folder, daemon)
    pytest.skip(f"NO TEST WITH A KILLED DAEMON RAN: a second one does not start: {(folder / 'log').read_text()[-500:]}")


def stop_daemon(folder: Path, daemon: subprocess.Popen[bytes]) -> None:
    """Kill a daemon and its containerd, which has a session of its own."""
    children: list[str] = []
    for task in Path(f"/proc/{daemon.pid}/task").glob("*/children"):
        children += task.read_text().split()
    daemon.kill()
    daemon.wait()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    (folder / "pid").unlink(missing_ok=True)


@pytest.mark.skipif(not shutil.which("dockerd") or os.geteuid() != 0, reason="needs to start a daemon of its own")
def test_a_killed_daemon_costs_no_job_a_wrong_verdict(engine: engines.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(f"/tmp/grpo-dockerd-{os.getpid()}")  # a socket's path may not be long
    folder.mkdir()
    monkeypatch.setattr(_sandbox, "_PAUSE", 0.05)
    daemon = start_daemon(folder)
    try:
        image = engine.client.images.get(images.find(engine))
        with client_of(folder) as own:
            own.images.load(b"".join(image.save(named=True)))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/sock")
        with open_sandbox("docker", workers=2) as opened:
            assert opened.run([GOOD])[0].passed
            found: list[str] = []
            runner = threading.Thread(target=lambda: found.extend(v.status for v in opened.run([SLEEP] * 8)))
            runner.start()
            time.sleep(1.5)
            stop_daemon(folder, daemon)
            runner.join(60)
            assert len(found) == 8
            assert set(found) <= {"passed", "unavailable"}
            assert "unavailable" in found
    finally:
        daemon.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(20)
        stop_daemon(folder, daemon)
        for process in Path("/proc").glob("[0-9]*/cmdline"):  # the containers' shims
            with contextlib.suppress(OSError):
                if f"{folder}/" in process.read_text():
                    os.kill(int(process.parent.name), signal.SIGKILL)
        for mount in sorted(Path("/proc/mounts").read_text().split("\n"), reverse=True):
            if f" {folder}/" in mount:
                subprocess.run(["umount", "-l", mount.split()[1]], check=False)
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("mode", "user", "store", "sweep"),
    [("landlock", "65534:65534", "/tmp", []), ("container", "0:0", "/sandbox", ["/tmp", "/dev/shm"])],
)
def test_the_weaker_modes_judge_and_refuse(
    engine: engines.Engine, mode: str, user: str, store: str, sweep: Any
) -> None:
    """A container makes a machine without namespaces, and without root or Landlock."""
    attempts = ["open('/etc/shadow').read()", "socket.socket(2, 1)", "os.kill(1, 9)", "open('/usr/x', 'w')"]
    tried = "import os, socket\ndef solve(x):\n    try:\n        {}\n    except OSError:\n        return 4\n"
    backend = containers_of.DockerBackend(image=images.find(engine))
    config = {**containers_of._CONFIG, "allow": [mode], "store": store, "sweep": sweep, "warm": True}
    try:
        (host,) = backend.fleet.up
        options = {**backend._options(engine, host.image), "user": user}
        worker = containers_of.Container(engine, options, config, fleet=backend.fleet, host=host)
        assert worker.plan["mode"] == mode
        programs = [RIGHT, *(tried.format(attempt) for attempt in attempts)]
        found = [
            worker.ask(Job(program, CHECK, "humaneval", entry_point="solve").to_wire(), 30) for program in programs
        ]
        assert [report["status"] for report in found] == ["passed"] * 5
        wrong = Job("solve = str", CHECK, "humaneval", entry_point="solve")
        assert worker.ask(wrong.to_wire(), 30)["status"] == "failed"
        # who comes to end what a candidate left may not be ended by it, Landlock or not
        killer = Job(KILLS_EVERYTHING, CHECK, "humaneval", entry_point="solve", timeout=1.0)
        assert [worker.ask(killer.to_wire(), 30)["status"] in ("failed", "timeout") for _ in range(3)] == [True] * 3
        assert worker.ask(GOOD.to_wire(), 30)["status"] == "passed"
        worker.close()
    finally:
        backend.close()


PROGRAMS = {
    "bash": "read a b\necho $((a + b))",
    "c": "#include <stdio.h>\nint main(void) { int a, b; scanf(\"%d %d\", &a, &b); printf(\"%d\\n\", a + b); return 0; }",
    "cpp": "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }",
    "ruby": "puts gets.split.sum(&:to_i)",
}  # fmt: skip


def test_an_image_has_the_languages_that_it_was_built_with(engine: engines.Engine) -> None:
    base = images.default_base(engine)
    try:
        engine.client.containers.run(base, ["apt-get", "--version"], entrypoint="", remove=True, network_mode="none")
    except docker.errors.APIError as error:  # also where the program is not there
        pytest.skip(f"NO LANGUAGE WAS BUILT INTO AN IMAGE: the base {base} has no apt-get ({error.explanation})")
    before = {name for image in engine.client.images.list() for name in image.tags}
    tag = build_image(base=base, languages=("c", "cpp", "ruby"))
    tests = [{"input": "3 4\n", "output": "7\n"}, {"input": "-1 1\n", "output": "0\n"}]
    jobs = [Job(text, tests, "stdio", language=name, timeout=20.0) for name, text in PROGRAMS.items()]
    wrong = [Job(job.candidate.replace("+", "-").replace("sum", "count"), tests, "stdio", language=job.language, timeout=20.0) for job in jobs]  # fmt: skip
    absent = Job("fn main() {}", tests, "stdio", language="rust")
    try:
        with open_sandbox("docker", workers=1, image=tag) as opened:
            found = opened.run([*jobs, *wrong, absent])
    finally:
        if tag not in before:  # the newest image of a version is the one that is used
            engine.client.images.remove(tag, force=True)
    assert [one.status for one in found] == ["passed"] * len(jobs) + ["failed"] * len(jobs) + ["refused"], found
    assert "rustc" in found[-1].reason
