"""What the service costs beside the same composite called in one process on the same core, and whether it loses requests.

    python benchmarks/serve.py [--seconds 20] [--soak 60] [--rows 64] [--clients 16] [--a-second 5]

Prints one JSON object. `in_process`: composite.score on requests of --rows example rows, JSON read and rewards written, in
a process pinned to one core. It parses the bodies that a worker parses, and makes JSON of the rewards, so that what differs is HTTP, the
front process, the way to the worker and its look at the rows' shape. What clients spend, on the other cores, counts on neither side.
`served`: `grpo-rewards serve --workers 1` pinned to the same core, driven by --clients
connections from the other cores. Both stay up and take turns of half a second, so that a machine whose pace changes changes both;
figures are the medians of the turns, ratios those of each turn's, `cpu_ratio_quartiles` says how far they lie apart.
`microseconds_per_row` is the processor time of a row: in process, and served in the front process and in the worker; `cpu_ratio`
compares the sums, and other work on the machine disturbs it less than `ratio`, that of the rates by the clock. `singles`: 64 clients of a service with 2 workers, each of which sends a row --a-second times a
second, and the milliseconds that answers take. `soak`: a service that takes half as many requests at once as there are clients, so
that the load is twice what it admits; every request must be answered 200 in the end. A client that is answered 429 comes
back after a tenth of Retry-After, to keep the load up.
Linux only (processes are pinned), loopback only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """
rewards:
  correct: {use: math, weight: 2.0}
  format: {use: xml_format, weight: 0.5, params: {tags: [reasoning, answer], mode: count}}
  brief: {use: length, weight: 0.2, params: {target: 200, band: 200}}
"""
IN_PROCESS = """
import json, sys, time, orjson
from grpo_rewards import load
composite = load(sys.argv[1])
bodies = [line.encode() for line in open(sys.argv[2])]
def one(body):
    table = composite.score(orjson.loads(body)["rows"])
    return orjson.dumps({"rewards": table.rewards(), "components": {n: table.values(n) for n in table.components}})
done = 0
for seconds in map(float, sys.stdin):
    before, started, used = done, time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        one(bodies[done % len(bodies)]); done += 1
    number = done - before
    print(json.dumps([number / (time.perf_counter() - started), (time.process_time() - used) / number]), flush=True)
"""


TURN, SINGLES = 0.5, 64


def pinned(core: int | None, command: list[str]) -> list[str]:
    """The command, on one core; None: on all that there are."""
    return ["taskset", "-c", f"0-{(os.cpu_count() or 1) - 1}" if core is None else str(core), *command]


def bodies(rows: int, path: Path) -> list[bytes]:
    """Requests of the example's arithmetic rows."""
    found = [json.loads(line) for line in (ROOT / "examples" / "reasoning.jsonl").open()]
    keep = ("prompt", "completion", "answer", "group_id")
    slim = [{name: row[name] for name in keep} for row in found if row["task"] == "arithmetic"]
    parts = [slim[start : start + rows] for start in range(0, len(slim) - rows + 1, rows)]
    texts = [json.dumps({"rows": part}) for part in parts]
    path.write_text("\n".join(texts) + "\n")
    return [text.encode() for text in texts]


class Service:
    """A running service."""

    def __init__(self, config: Path, core: int | None, *options: object) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [str(Path(sys.executable).with_name("grpo-rewards")), "serve", str(config), "--port", str(self.port)]
        self.process = subprocess.Popen(pinned(core, [*command, *map(str, options)]), stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                line.request("GET", "/health")
                if line.getresponse().status == 200:
                    return
            time.sleep(0.1)

    def cpu_seconds(self) -> tuple[float, float]:
        """Processor seconds that the front process and its workers have used so far."""
        pid = self.process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        front, *others = (time.clock_gettime((~one << 3) | 2) for one in (pid, *map(int, workers)))  # their clocks
        return front, sum(others)

    def stop(self) -> int:
        """Ask it to stop; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class InProcess:
    """The same composite called in one process."""

    def __init__(self, core: int, config: Path, requests: Path) -> None:
        command = pinned(core, [sys.executable, "-c", IN_PROCESS, str(config), str(requests)])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def go(self, seconds: float) -> tuple[float, float]:
        """Score for so long; the requests per second and the processor seconds of a request."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(seconds, file=self.process.stdin, flush=True)
        rate, cost = json.loads(self.process.stdout.readline())
        return rate, cost

    def stop(self) -> None:
        """End it."""
        self.process.communicate()


def connections(port: int, number: int) -> list[http.client.HTTPConnection]:
    """Connections to the service, made when they are first used."""
    return [http.client.HTTPConnection("127.0.0.1", port, timeout=120) for _ in range(number)]


def drive(lines: list[http.client.HTTPConnection], texts: list[bytes], seconds: float) -> dict[str, Any]:
    """Send requests over each connection for `seconds`; a request refused with 429 is sent again until it is answered."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    stop = time.perf_counter() + seconds

    def client(number: int) -> None:
        line, turn = lines[number], number
        while time.perf_counter() < stop:
            body = texts[turn % len(texts)]
            turn += 1
            while True:
                try:
                    line.request("POST", "/score", body)
                    response = line.getresponse()
                    answer = response.read()
                except (OSError, http.client.HTTPException):
                    status, answer = 0, b""
                    line.close()
                else:
                    status = response.status
                with lock:
                    counts[str(status)] += 1
                if status == 429:
                    time.sleep(float(response.headers["Retry-After"]) * 0.1)
                    continue
                if status == 200:
                    whole = len(json.loads(answer)["rewards"]) == body.count(b'"completion"')
                    with lock:
                        counts["answered" if whole else "wrong"] += 1
                else:
                    with lock:
                        counts["lost"] += 1
                break

    started = time.perf_counter()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(len(lines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    return {**counts, "requests_per_second": counts["answered"] / took, "seconds": round(took, 1)}


async def singles(port: int, texts: list[bytes], a_second: float, seconds: float) -> dict[str, Any]:
    """Send single rows from `SINGLES` connections, each at its own even pace; how long answers take, from when they were due."""
    took: list[float] = []
    began = time.perf_counter() + 0.2
    bad = 0

    async def client(number: int) -> None:
        nonlocal bad
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        due = began + number / SINGLES / a_second
        while due < began + seconds:
            await asyncio.sleep(due - time.perf_counter())
            body = texts[len(took) % len(texts)]
            writer.write(b"POST /score HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
            took.append((time.perf_counter() - due) * 1e3)
            bad += not head.startswith(b"HTTP/1.1 200")
            due += 1 / a_second
        writer.close()

    await asyncio.gather(*(client(number) for number in range(SINGLES)))
    took.sort()
    return {
        "clients": SINGLES, "workers": 2, "requests_per_second": SINGLES * a_second, "answered": len(took) - bad, "failed": bad,
        **{f"p{share}_ms": round(took[len(took) * share // 100], 2) for share in (50, 90, 99)},
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--soak", type=float, default=60.0)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--a-second", type=float, default=5.0)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    report: dict[str, Any] = {"rows_per_request": options.rows, "clients": options.clients, "cores": len(cores)}
    with tempfile.TemporaryDirectory() as scratch:
        config, requests = Path(scratch) / "rewards.yaml", Path(scratch) / "requests.jsonl"
        config.write_text(CONFIG)
        texts = bodies(options.rows, requests)
        service, alone = Service(config, cores[0]), InProcess(cores[0], config, requests)
        lines = connections(service.port, options.clients)
        drive(lines, texts, 2.0)
        alone.go(2.0)
        rounds: list[dict[str, float]] = []
        counts: Counter[str] = Counter()
        for _ in range(max(4, int(options.seconds / TURN / 2))):
            rate, cost = alone.go(TURN)
            used = service.cpu_seconds()
            served = drive(lines, texts, TURN)
            front, worker = (
                (now - then) / served["answered"] for now, then in zip(service.cpu_seconds(), used, strict=True)
            )
            counts.update({name: number for name, number in served.items() if isinstance(number, int)})
            rounds.append(
                {
                    "in_process_rows_per_second": rate * options.rows,
                    "served_rows_per_second": served["requests_per_second"] * options.rows,
                    "ratio": served["requests_per_second"] / rate,
                    "cpu_ratio": cost / (front + worker),
                    "in_process": cost / options.rows * 1e6,
                    "front": front / options.rows * 1e6,
                    "worker": worker / options.rows * 1e6,
                }
            )
        alone.stop()
        median = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
        for name in ("in_process_rows_per_second", "served_rows_per_second", "ratio", "cpu_ratio"):
            report[name] = round(median[name], 3)
        quartiles = statistics.quantiles([one["cpu_ratio"] for one in rounds])
        report["cpu_ratio_quartiles"] = [round(quartiles[0], 3), round(quartiles[2], 3)]
        report["microseconds_per_row"] = {name: round(median[name], 1) for name in ("in_process", "front", "worker")}
        report["served"] = {**counts, "exit": service.stop()}
        service = Service(config, None, "--workers", 2)
        single = bodies(1, requests)
        asyncio.run(singles(service.port, single, options.a_second, 1.0))
        report["singles"] = asyncio.run(singles(service.port, single, options.a_second, options.seconds / 2))
        report["singles"]["exit"] = service.stop()
        if options.soak:
            service = Service(config, cores[0], "--max-pending", max(1, options.clients // 2))
            report["soak"] = drive(connections(service.port, options.clients), texts, options.soak)
            report["soak"]["exit"] = service.stop()
    json.dump(report, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
