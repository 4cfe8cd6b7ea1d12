"""Whether a guest is as small and as quick as a campaign in it needs.

A guest is started a few times under emulation, the slower clock. In each, a mail server runs on a
null block device, as in a trial. What the call takes beyond the measured interval is the
transport: the program is started in the guest, and its report comes back. The overhead of a trial
is this and its share of the start, which all trials of a block have in common. Other work on the
machine makes both longer.
"""

from __future__ import annotations

import argparse
import time

from bench import command
from bench.rounds import Spread, met, print_row
from fsgreen.devices.vm import image
from fsgreen.testbeds import GuestAsked, Testbed, open_testbed
from fsgreen.workloads import load_workload

GUEST = GuestAsked(clock="tcg", drive="null")
SIZE_B = 128 << 20
SCALE = 0.002
SEED = 1

MOST_MB, MOST_START_S, MOST_PERCENT = 100.0, 10.0, 20.0

HEAD = ("what", "median (least to greatest)", "target")
WIDTHS = (34, 28, 16)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(__doc__, example="python -m bench.guest --rounds 3", rounds=3)
    parser.add_argument("--seconds", type=command.positive, default=5, help="of a trial")
    parser.add_argument("--trials", type=command.positive, default=16, help="in a block")
    return parser.parse_args()


def main() -> None:
    """Print the size of the image, how long a guest takes to start, and what a trial loses."""
    asked = arguments()
    print_row(HEAD, WIDTHS)
    _row("image (MB)", [image.ensure().initrd.stat().st_size / 1e6], MOST_MB)
    starts_s, transports_s = [], []
    for _ in range(asked.rounds):
        begun_s = time.monotonic()
        with open_testbed("vm", folder=asked.directory, size_b=SIZE_B, guest=GUEST) as bed:
            starts_s.append(time.monotonic() - begun_s)
            transports_s.append(transport(bed, asked.seconds))
    _row("start (s)", starts_s, MOST_START_S)
    _row("transport (s)", transports_s)
    lost_s = [
        start_s / asked.trials + transport_s
        for start_s, transport_s in zip(starts_s, transports_s, strict=True)
    ]
    percents = [100 * each_s / (each_s + asked.seconds) for each_s in lost_s]
    _row(f"overhead, {asked.trials} trials of {asked.seconds} s (%)", percents, MOST_PERCENT)


def transport(bed: Testbed, seconds: float) -> float:
    """Return the seconds that a run takes beyond the interval that it measures."""
    mount = bed.prepare({"file_system": "ext4", "option": "default"})
    workload = load_workload("varmail", SCALE)
    with bed.entered():
        workload.prepare(mount.directory, SEED)
    mount = bed.remount()
    begun_s = time.monotonic()
    with bed.entered():
        done = workload.run(mount.directory, SEED, 0.0, seconds)
    return time.monotonic() - begun_s - done.summary.duration_s


def _row(what: str, values: list[float], most: float | None = None) -> None:
    spread = Spread.of(values)
    target = "" if most is None else f"< {most:g} {met(spread.median < most)}"
    print_row((what, f"{spread:.1f}", target), WIDTHS)


if __name__ == "__main__":
    command.run(main)
