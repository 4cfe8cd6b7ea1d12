"""How many requests a second the discrete-event loop of simdisk simulates on one core.

Random reads of 4 KB on a disk of 10,000 rpm, kept at a depth, with as many again waiting at the
scheduler. Held against a plain loop over the same mechanics, which adds up the time of each access
and has no queue, caches, energy account or events. Each turn is a process of its own that times
its loop alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import command
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.errors import FsgreenError

ENGINE = Path(__file__).parent.parent / "engine"
EXAMPLE = "simulate_rate"
TARGET_REQUESTS_S = 1e6

HEAD = ("way", "depth", "million requests/s", "of the loop", "simulated s", "target")
WIDTHS = (12, 6, 22, 12, 12, 10)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.simulate_rate --schedulers fifo elevator --rounds 3",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--schedulers", nargs="+", default=["fifo", "elevator", "bfq"], help="(default: %(default)s)"
    )
    parser.add_argument(
        "--depths", type=command.positive, nargs="+", default=[1, 32], help="(default: 1 32)"
    )
    parser.add_argument(
        "--requests", type=command.positive, default=1_000_000, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=command.positive, default=5, help="rounds of all ways (default: 5)"
    )
    return parser.parse_args()


def build() -> Path:
    """Build the loops and return their program."""
    order = ["cargo", "build", "--release", "--locked", "-p", "simdisk", "--example", EXAMPLE]
    told = subprocess.run(
        [*order, "--message-format=json"], cwd=ENGINE, stdout=subprocess.PIPE, text=True
    )
    if told.returncode:
        raise FsgreenError("the loops do not build", where=ENGINE, next_step=" ".join(order))
    built = (json.loads(line) for line in told.stdout.splitlines())
    programs = (one["executable"] for one in built if one.get("executable"))
    return Path(next(programs))


def timed(program: Path, way: str, scheduler: str, depth: int, requests: int) -> dict[str, Any]:
    """Return the requests, and the seconds on the host and in the simulation, of one turn."""
    order = [str(program), way, scheduler, str(depth), str(requests)]
    result: dict[str, Any] = json.loads(subprocess.run(order, check=True, capture_output=True).stdout)
    return result


def rate_s(result: dict[str, Any]) -> float:
    """Return requests per second of the host."""
    return float(result["requests"] / result["host_s"])


def main() -> None:
    """Print a row for the plain loop and for each scheduler and depth."""
    asked = arguments()
    program = build()

    def turn(way: str, scheduler: str, depth: int) -> Callable[[], dict[str, Any]]:
        return lambda: timed(program, way, scheduler, depth, asked.requests)

    ways = {("plain loop", 1): turn("loop", "fifo", 1)}
    for scheduler in asked.schedulers:
        ways |= {(scheduler, depth): turn("events", scheduler, depth) for depth in asked.depths}
    results = interleaved(ways, asked.rounds)
    loop = results["plain loop", 1]
    print_row(HEAD, WIDTHS)
    for (name, depth), seen in results.items():
        rate = Spread.of(map(rate_s, seen))
        shares = (rate_s(one) / rate_s(plain) for one, plain in zip(seen, loop, strict=True))
        cells = [
            name,
            str(depth),
            f"{Spread.of(rate_s(one) / 1e6 for one in seen):.2f}",
            f"{Spread.of(shares).median:.3f}",
            f"{seen[0]['simulated_s']:.0f}",
            "" if name == "plain loop" else met(rate.median >= TARGET_REQUESTS_S),
        ]
        print_row(cells, WIDTHS)


if __name__ == "__main__":
    command.run(main)
