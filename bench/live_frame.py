"""What a frame of the live view takes of the kernel, beside drawing the same with matplotlib.

A kernel of its own shows a synthetic meter for some seconds at ten frames a second, or one for a
meter of 1 Hz. This program is its browser: it takes each frame and answers as the widget does.
Processor time is that of the whole kernel process (all threads: reading, decimating, sending,
answers), less what it takes when it shows nothing, by the frames that it sent. For matplotlib, the
same kernel draws the static picture of the same source and updates a display with it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import Empty
from typing import Any

from bench import command
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import paths

RATES_HZ = (1.0, 1_000.0, 10_000.0)
TARGET_MS = 1.0
ANSWER_FRAMES = 10
"""After how many frames the widget answers (fsgreen/view/static/live.js)."""

HEAD = ("meter Hz", "view ms a frame", "frames", "target ms", "matplotlib ms a frame", "ratio")
WIDTHS = (8, 24, 6, 11, 24, 7)

BEGIN = """
import json, time
from IPython.display import Image, display
from fsgreen.view import LiveView, Synthetic, picture
picture.png(Synthetic(1.0))
"""
VIEW = """
view = LiveView(Synthetic({rate_hz}))
view.start()
begin_s = time.process_time()
"""
VIEW_END = """
cpu_s = time.process_time() - begin_s
frames = view.cost.frames_count
view.close()
print(json.dumps([cpu_s, frames]))
"""
MATPLOTLIB = """
source = Synthetic({rate_hz})
place = display(None, display_id=True)
begin_s = time.process_time()
for frame in range({frames}):
    time.sleep(max(0.1, 1 / {rate_hz}))
    place.update(Image(picture.png(source)))
print(json.dumps([time.process_time() - begin_s, {frames}]))
"""
NOTHING = """
begin_s = time.process_time()
"""
NOTHING_END = """
print(json.dumps([time.process_time() - begin_s, 0]))
"""


@dataclass(frozen=True)
class Took:
    """Processor time, and the frames that it was for."""

    cpu_s: float
    frames: int


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.live_frame --rounds 3",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=command.positive, default=5, help="(default: 5)")
    parser.add_argument(
        "--seconds", type=command.positive, default=10, help="of each view (default: 10)"
    )
    return parser.parse_args()


@contextmanager
def started_kernel() -> Iterator[Any]:
    """Yield the client of a kernel that ends with the block."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(paths.root()), transport_encryption="auto"
    )
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def call(client: Any, code: str) -> str:
    """Run code and return what it printed."""
    printed: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=hear, timeout=600)
    content = reply["content"]
    assert content["status"] == "ok", "\n".join(content.get("traceback", []))
    return "".join(printed)


def watch(client: Any, seconds: float) -> None:
    """Take the frames that come, and answer them as the widget does."""
    end_s = time.monotonic() + seconds
    while (left_s := end_s - time.monotonic()) > 0:
        try:
            message = client.get_iopub_msg(timeout=left_s)
        except Empty:
            return
        content = message["content"]
        said = content.get("data", {}).get("content", {})
        if message["msg_type"] != "comm_msg" or "frame" not in said:
            continue
        if said["frame"] % ANSWER_FRAMES == 0:
            data = {"method": "custom", "content": {"drawn": said["frame"]}}
            answer = {"comm_id": content["comm_id"], "data": data}
            client.shell_channel.send(client.session.msg("comm_msg", answer))


def took(client: Any, begin: str, end: str, seconds: float) -> Took:
    """Return what a kernel took between two pieces of code, `seconds` apart."""
    call(client, begin)
    watch(client, seconds)
    return Took(*json.loads(call(client, end)))


def row(client: Any, rate_hz: float, asked: argparse.Namespace) -> list[str]:
    """Return the row of a meter."""
    drawing = MATPLOTLIB.format(rate_hz=rate_hz, frames=asked.seconds)
    ways: dict[str, Callable[[], Took]] = {
        "nothing": partial(took, client, NOTHING, NOTHING_END, asked.seconds),
        "view": partial(took, client, VIEW.format(rate_hz=rate_hz), VIEW_END, asked.seconds),
        "matplotlib": lambda: Took(*json.loads(call(client, drawing))),
    }
    results = interleaved(ways, asked.rounds)
    idle = results["nothing"]

    def frame_ms(way: str) -> Spread:
        pairs = zip(results[way], idle, strict=True)
        return Spread.of(1000 * (it.cpu_s - base.cpu_s) / it.frames for it, base in pairs)

    view_ms, matplotlib_ms = frame_ms("view"), frame_ms("matplotlib")
    return [
        f"{rate_hz:g}",
        f"{view_ms:.2f}",
        f"{Spread.of(it.frames for it in results['view']).median:.0f}",
        f"{TARGET_MS:g} {met(view_ms.median < TARGET_MS)}",
        f"{matplotlib_ms:.0f}",
        f"{matplotlib_ms.median / view_ms.median:.0f}",
    ]


def main() -> None:
    """Print a row for each meter."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    with started_kernel() as client:
        call(client, BEGIN)
        for rate_hz in RATES_HZ:
            print_row(row(client, rate_hz, asked), WIDTHS)


if __name__ == "__main__":
    command.run(main)
