"""What the service costs beside the same composite called in one process on the same core, and whether it loses requests.

    python benchmarks/serve.py [--seconds 20] [--soak 60] [--rows 64] [--clients 16]

Prints one JSON object. `in_process`: composite.score on requests of --rows example rows, JSON read and rewards written, in
a process pinned to one core. `cpu_ratio` compares processor seconds per request, which other work on the
machine disturbs less. `served`: `grpo-rewards serve --workers 1` pinned to the same core, driven by --clients
connections from the other cores. `soak`: a service that takes half as many requests at once as there are clients, so
that the load is twice what it admits; every request must be answered 200 in the end. A client that is answered 429 comes
back after a tenth of Retry-After, to keep the load up.
Linux only (processes are pinned), loopback only.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import socket
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
seconds = float(sys.argv[3])
def one(body):
    table = composite.score(orjson.loads(body)["rows"])
    return orjson.dumps({"rewards": table.rewards(), "components": {n: table.values(n) for n in table.components}})
for body in bodies: one(body)
done, started, used = 0, time.perf_counter(), time.process_time()
while time.perf_counter() - started < seconds:
    one(bodies[done % len(bodies)]); done += 1
print(json.dumps([done / (time.perf_counter() - started), (time.process_time() - used) / done]))
"""


def pinned(core: int, command: list[str]) -> list[str]:
    """The command, on one core."""
    return ["taskset", "-c", str(core), *command]


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

    def __init__(self, config: Path, core: int, *options: object) -> None:
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

    def cpu_seconds(self) -> float:
        """Processor seconds that the service and its workers have used so far."""
        pid = self.process.pid
        everyone = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
        ticks = 0
        for one in everyone:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """Ask it to stop; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def drive(port: int, texts: list[bytes], clients: int, seconds: float) -> dict[str, Any]:
    """Send requests from `clients` connections for `seconds`; a request refused with 429 is sent again until it is answered."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    stop = time.perf_counter() + seconds

    def client(number: int) -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        turn = number
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
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    return {**counts, "requests_per_second": counts["answered"] / took, "seconds": round(took, 1)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--soak", type=float, default=60.0)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    report: dict[str, Any] = {"rows_per_request": options.rows, "clients": options.clients, "cores": len(cores)}
    with tempfile.TemporaryDirectory() as scratch:
        config, requests = Path(scratch) / "rewards.yaml", Path(scratch) / "requests.jsonl"
        config.write_text(CONFIG)
        texts = bodies(options.rows, requests)
        command = [sys.executable, "-c", IN_PROCESS, str(config), str(requests), str(options.seconds)]
        rates = []
        for _ in range(2):  # before and after, since a shared machine drifts
            done = subprocess.run(pinned(cores[0], command), check=True, stdout=subprocess.PIPE, text=True)
            rates.append(json.loads(done.stdout))
            if len(rates) == 1:
                service = Service(config, cores[0])
                drive(service.port, texts, options.clients, 2.0)
                used = service.cpu_seconds()
                served = drive(service.port, texts, options.clients, options.seconds)
                per_request = (service.cpu_seconds() - used) / served["answered"]
                served["exit"] = service.stop()
        base, cost = (sum(pair[k] for pair in rates) / len(rates) for k in (0, 1))
        report["in_process_rows_per_second"] = round(base * options.rows, 1)
        report["served_rows_per_second"] = round(served["requests_per_second"] * options.rows, 1)
        report["ratio"] = round(served["requests_per_second"] / base, 3)
        report["cpu_ratio"] = round(cost / per_request, 3)
        report["served"] = served
        if options.soak:
            service = Service(config, cores[0], "--max-pending", max(1, options.clients // 2))
            report["soak"] = drive(service.port, texts, options.clients, options.soak)
            report["soak"]["exit"] = service.stop()
    json.dump(report, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
