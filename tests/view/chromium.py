"""A headless Chromium, driven over its DevTools protocol."""

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
import websocket

from tests.patience import LIMIT_S

AGAIN_S = 15.0
"""How long one waits for an answer before one acts again."""

BETWEEN = """
[String(document.hasFocus()), document.activeElement.outerHTML.slice(0, 600),
    ...[...document.querySelectorAll('dialog[open], .fsgreen-says, .fsgreen-chart .letter')].map(
        (element) => element.textContent.slice(0, 100))]
"""
"""What has the focus, what JupyterLab asks meanwhile, and what charts and sentences show."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> str | None:
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of a browser."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=LIMIT_S, suppress_origin=True)
        self._sent = 0
        self.errors: list[str] = []
        """What the page threw."""
        self.call("Runtime.enable")
        # Of several browsers of a machine, one would have the focus, and its page alone the keys.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.errors.append(str(details.get("exception", details)))
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def value(self, expression: str) -> Any:
        """Evaluate an expression, awaiting a promise, and return its value."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, limit_s: float = LIMIT_S) -> Any:
        """Return the value of an expression once it is true."""
        deadline_s = time.monotonic() + limit_s
        while not (found := self.value(expression)):
            assert time.monotonic() < deadline_s, f"waited in vain: {expression}; {self.errors}"
            time.sleep(0.1)
        return found

    def until(self, act: Callable[[], object], expression: str) -> None:
        """Act, and act again as a person would if nothing comes of it, until something is true.

        What is done is lost where a chart is drawn anew between the press and the release of a
        button, and where the page takes the focus for itself.
        """
        deadline_s = time.monotonic() + LIMIT_S
        while not self.value(expression):
            if time.monotonic() > deadline_s:
                pytest.fail(f"in vain: {expression}; {self.errors}; {self.value(BETWEEN)}")
            act()
            again_s = time.monotonic() + AGAIN_S
            while not self.value(expression) and time.monotonic() < again_s:
                time.sleep(0.1)

    def mouse(self, kind: str, x: float, y: float, clicks: int = 1) -> None:
        """Move, press or release the mouse."""
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": clicks}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def drag(self, x: float, y: float, to_x: float) -> None:
        """Press at one place and release at another."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseMoved", (x + to_x) / 2, y)
        self.mouse("mouseMoved", to_x, y)
        self.mouse("mouseReleased", to_x, y)

    def double_click(self, x: float, y: float) -> None:
        """Click twice."""
        for clicks in (1, 2):
            self.mouse("mousePressed", x, y, clicks)
            self.mouse("mouseReleased", x, y, clicks)

    def resize(self, width: int, height: int) -> None:
        """Give what is seen another size, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.wait(f"window.innerWidth == {width} && window.innerHeight == {height}")

    def picture(self, *elements: str) -> bytes:
        """What is seen of elements, and of all between them, as PNG."""
        box = self.value(
            f"""(() => {{
                const boxes = [{", ".join(elements)}].map((e) => e.getBoundingClientRect());
                const least = (side) => Math.min(...boxes.map((box) => box[side]));
                const most = (side) => Math.max(...boxes.map((box) => box[side]));
                const [x, y] = [least('left'), least('top')];
                return {{ x, y, width: most('right') - x, height: most('bottom') - y, scale: 1 }};
            }})()"""
        )
        return base64.b64decode(self.call("Page.captureScreenshot", clip=box)["data"])


@contextmanager
def browse(url: str, folder: Path) -> Iterator[Page]:
    """Open a page in a browser of its own, with its profile in `folder`."""
    chromium = program()
    assert chromium is not None
    command = [
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--window-size=1100,900",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            with Page(_first_page(process, folder / "DevToolsActivePort")) as page:
                page.call("Page.enable")
                page.call("Page.navigate", url=url)
                yield page
                page.call("Browser.close")
        finally:
            process.terminate()


def _first_page(process: subprocess.Popen[bytes], port_file: Path) -> str:
    deadline_s = time.monotonic() + LIMIT_S
    while not (port_file.is_file() and port_file.read_text().count("\n")):
        assert process.poll() is None, "Chromium ended"
        assert time.monotonic() < deadline_s, "Chromium did not start"
        time.sleep(0.05)
    port = port_file.read_text().split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
        pages = [target for target in json.load(answer) if target["type"] == "page"]
    return str(pages[0]["webSocketDebuggerUrl"])
