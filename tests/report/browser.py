"""A real browser, driven through its debugging pipe: nothing to install but Chromium."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """One headless Chromium with one page open."""

    def __init__(self, program: str, *, width: int = 1400, height: int = 950) -> None:
        self._folder = tempfile.mkdtemp(prefix="browser-")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        # the browser talks on descriptors 3 and 4; a shell moves ours there
        line = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        command = ["bash", "-c", line, "browser", program, *FLAGS, f"--user-data-dir={self._folder}",
                   f"--window-size={width},{height}"]  # fmt: skip
        self._process = subprocess.Popen(
            command, pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and remove its profile."""
        try:
            self._session = ""
            self.call("Browser.close")
        except (OSError, TimeoutError):
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise OSError("the browser has ended")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method: str, *, seconds: float = 40.0, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def run(self, script: str, *, seconds: float = 40.0) -> Any:
        """Evaluate an expression (a promise is awaited) and return its value."""
        answer = self.call(
            "Runtime.evaluate", seconds=seconds, expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def open(self, page: Path, *, dark: bool = False) -> None:
        """Open a report and wait until its table is there."""
        self.events.clear()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        url = page.resolve().as_uri()
        self.call("Page.navigate", url=url)
        self.until(f"location.href === {json.dumps(url)} && document.documentElement?.dataset.ready === 'yes'")

    def until(self, condition: str, *, seconds: float = 20.0) -> None:
        """Wait until a condition in the page holds."""
        deadline = time.monotonic() + seconds
        while not self._holds(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true in the page: {condition}")
            time.sleep(0.02)

    def _holds(self, condition: str) -> bool:
        try:
            return bool(self.run(f"Boolean({condition})"))
        except RuntimeError as error:
            if error.args[0].get("code") != -32000:  # asked of a page that gave way to the next one meanwhile
                raise
            return False

    def key(self, name: str) -> None:
        """Press a key where the focus is."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name)

    def picture(self, path: Path) -> None:
        """Save what is on the screen as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self) -> list[str]:
        """What went wrong in the page: exceptions, console errors, refused scripts."""
        self.run("1")
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"])[:400])
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        self.run("1")
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def scroll_figures(self, step: str = "(grid.scrollHeight - grid.clientHeight) / 240") -> dict[str, float]:
        """Scroll the table by `step` pixels in each of 240 frames; return how long frames took, in milliseconds."""
        return self.run(
            """(async () => {
              const grid = document.getElementById('grid');
              grid.scrollIntoView();
              const times = [];
              let last = await new Promise(requestAnimationFrame);
              for (let i = 0; i <= 240; i++) {
                grid.scrollTop = i * (STEP);
                const now = await new Promise(requestAnimationFrame);
                times.push(now - last); last = now;
              }
              times.sort((a, b) => a - b);
              return {frames: times.length, frame_ms_median: +times[120].toFixed(1), frame_ms_p95: +times[228].toFixed(1),
                      frame_ms_worst: +times.at(-1).toFixed(1)};
            })()""".replace("STEP", step)
        )
