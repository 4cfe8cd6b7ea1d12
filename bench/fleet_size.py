"""What a large fleet costs home: testbeds and trials that are made up, over real sockets.

Every testbed has a real worker of Dask, all of them in one process, whose trials sleep and hold
some bytes. Most trials are there when home comes, as after a night in which it was away; the last
few of each testbed are measured while it is watched. Measured are how long `fsgreen status` takes,
how long home takes to answer a message, and the most memory that it had. The targets are a second,
a second and 2 GB.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench import command
from bench import fleet as small
from bench.rounds import Spread, met, print_row
from fsgreen import design, fleet, paths
from fsgreen.campaign import Campaign
from fsgreen.errors import FsgreenError
from fsgreen.fleet import record
from fsgreen.fleet.messages import Order, Piece, Place, Rest, Shelf
from fsgreen.fleet.orders import study_of
from fsgreen.trace import MeterInfo
from fsgreen.trial import Check, Clock, HarnessCost, Phase, TrialRecord

TARGET_S = 1.0
TARGET_B = 2e9
NAME = "many"
RAW = b"made up"
METER = MeterInfo(
    driver="none",
    model="made up",
    serial="0",
    boundary="modelled",
    covers=("system",),
    rate_hz=1.0,
    range_w=100.0,
    resolution_w=0.1,
    gain_error=0.01,
    constant_error_w=0.0,
    source="made up",
)

HEAD = ("quantity", "median (least to greatest)", "target")
WIDTHS = (46, 34, 14)

OFFER = """
import asyncio
import sys
from bench import fleet_size
asyncio.run(fleet_size.offer(*map(int, sys.argv[1:])))
"""


@dataclass
class MadeUp:
    """A testbed that has all its trials but the last few, and measures those by sleeping.

    Attributes
    ----------
    name : str
        That of the testbed.
    blocks : int
        Of two trials each.
    done : int
        How many trials it has.
    trial_s : float
        How long one takes.
    """

    name: str
    blocks: int
    done: int
    trial_s: float

    @cached_property
    def plan(self) -> design.Plan:
        """Return what it is to measure."""
        plan_hash = design.make_plan(design.load_study("asleep"), "quick").hash
        order = Order(campaign=NAME, study="asleep", profile="quick", plan_hash=plan_hash)
        return design.make_plan(study_of(order, self.name), "quick")

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Return the files of its campaign."""
        identity = {
            **{"started_unix_s": 1.0, "idle_power_w": 1.0, "idle_band_w": 1.0},
            **{"audit": {}, "testbed": {}, "meters": {}},
        }
        values = {"plan.json": self.plan.to_json(), "campaign.json": identity}
        return {name: json.dumps(value).encode() for name, value in values.items()}

    def record(self, nth: int) -> bytes:
        """Return the record of its nth trial."""
        planned = self.plan.trials[nth]
        made_up = TrialRecord(
            trial=planned.trial,
            study="asleep",
            campaign=f"{NAME}.{self.name}",
            profile="quick",
            plan_hash=self.plan.hash,
            cell=planned.cell.to_json(),
            block=planned.block,
            order=planned.order,
            seed=planned.seed,
            clock=Clock(monotonic_s=0.0, unix_s=1.0 + nth),
            phases=(Phase("measure", 0.0, self.trial_s),),
            meters={"system": METER},
            boundary="modelled",
            settle_s=0.0,
            checks=(Check(20, True, "made up"),),
            exit="ok",
            harness=HarnessCost(0.0, 0.0),
            audit_sha256="0" * 64,
            files={"power.raw": _sha256(RAW)},
        )
        return json.dumps(made_up.to_json()).encode()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the place of each trial in its plan, by name."""
        return {planned.trial: nth for nth, planned in enumerate(self.plan.trials)}

    @cached_property
    def records(self) -> dict[str, str]:
        """Return the digests of the records of all its trials, by name."""
        return {name: _sha256(self.record(nth)) for name, nth in self.numbers.items()}

    async def perform(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do what home asks for."""
        if task == "piece":
            place = Place.model_validate(arguments)
            if place.trial is None:
                held = self.files[place.file]
            else:
                nth = self.numbers[place.trial]
                held = self.record(nth) if place.file == "trial.json" else RAW
            return {"done": Piece(data=held[place.offset_b :], size_b=len(held)).model_dump()}
        if task == "shelf":
            files = {name: _sha256(text) for name, text in self.files.items()}
            trials = dict([*self.records.items()][: self.done])
            return {"done": Shelf(files=files, trials=trials, invalid={}).model_dump()}
        if self.done == len(self.records):
            return {"done": Rest(state="done").model_dump()}
        await asyncio.sleep(self.trial_s)
        self.done += 1
        return {"done": Rest(state="rest").model_dump()}


def _sha256(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()


async def offer(blocks: int, left: int, trial_s: int) -> None:
    """Offer all testbeds of the fleet file here until this is interrupted."""
    from fsgreen.fleet import membership

    membership.begin()
    logging.disable()  # workers tell of a home that ends
    many = fleet.read(Path("both.toml"))
    testbeds = [MadeUp(name, blocks, 2 * blocks - left, trial_s) for name in many.testbeds]
    print(f"{sum(len(each.records) for each in testbeds)} trials are made up", flush=True)
    offers = [membership.Offer(many, each.name, each.perform) for each in testbeds]
    await asyncio.gather(*offers)
    await asyncio.gather(*(each.finished() for each in offers))


async def answered_s(many: fleet.Fleet) -> float:
    """Return how long home takes to answer a message, in seconds."""
    from distributed.core import rpc

    from fsgreen.fleet import membership
    from fsgreen.fleet.certificates import security

    shown = security(many).get_connection_args("worker")
    begin_s = time.monotonic()
    async with rpc(membership.address(many), connection_args=shown) as home:
        await home.identity()
    return time.monotonic() - begin_s


@contextmanager
def running(
    folder: Path, code: str, *arguments: object, said: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process of Python in the project, which ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(paths.code())},
        stdin=subprocess.DEVNULL,
        stdout=said,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def watched(folder: Path, home: subprocess.Popen[bytes]) -> tuple[list[float], list[float], float]:
    """Return what each status and each answer of home took, and its memory at most, in bytes."""
    many = fleet.read(folder / "both.toml")
    status_s, answers_s, memory_b = [], [], 0.0
    while home.poll() is None:
        time.sleep(1)
        if not record.file_of(NAME).exists():
            continue  # home has not begun
        with suppress(OSError):  # it does not listen yet, or not any more
            socket.create_connection((many.host, many.port)).close()
            begin_s = time.monotonic()
            if len(list(fleet.status(NAME))) <= len(many.testbeds):
                raise FsgreenError("status does not tell of all testbeds", where=folder)
            status_s.append(time.monotonic() - begin_s)
            answers_s.append(asyncio.run(answered_s(many)))
            memory_b = max(memory_b, _peak_b(home.pid))
    return status_s, answers_s, memory_b


def _peak_b(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def check_whole(testbeds: int, trials: int) -> None:
    """Raise FsgreenError unless each testbed has each of its trials at home."""
    folders = [Campaign(f"{NAME}.{nth}").folder / "trials" for nth in names(testbeds)]
    counts = {len(os.listdir(folder)) for folder in folders}
    if counts != {trials}:
        raise FsgreenError(f"testbeds have {counts} trials here, not {trials}", where=folders[0])


def names(testbeds: int) -> tuple[str, ...]:
    """Return the names of so many testbeds."""
    return tuple(f"t{nth:03d}" for nth in range(testbeds))


def main() -> None:
    """Print a row for each quantity."""
    parser = command.parser(__doc__, example="python -m bench.fleet_size --trials 10000", rounds=1)
    for name, default, what in (
        ("--testbeds", 200, "how many testbeds"),
        ("--trials", 100_000, "how many trials in all"),
        ("--left", 5, "trials of each testbed that are measured while it is watched"),
        ("--trial-s", 20, "how long each of these takes, in seconds"),
    ):
        parser.add_argument(
            name, type=command.positive, default=default, help=f"{what} (default: {default})"
        )
    asked = parser.parse_args()
    blocks = max(1, asked.trials // (2 * asked.testbeds))
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        folder = Path(place)
        os.environ["FSGREEN_DATA"] = str(folder / "data")
        small.project(folder, blocks, names(asked.testbeds))
        left = min(asked.left, 2 * blocks)
        with running(folder, OFFER, blocks, left, asked.trial_s, said=subprocess.PIPE) as workers:
            assert workers.stdout is not None
            workers.stdout.readline()  # that it is ready
            begin_s = time.monotonic()
            with running(folder, small.HOME, "both.toml", NAME) as home:
                status_s, answers_s, memory_b = watched(folder, home)
            if home.returncode != 0:
                raise FsgreenError(f"home ended with status {home.returncode}", where=folder)
            rate_s = 2 * blocks * asked.testbeds / (time.monotonic() - begin_s)
        check_whole(asked.testbeds, 2 * blocks)
    status, answers = Spread.of(status_s), Spread.of(answers_s)
    is_met = (
        status.greatest <= TARGET_S,
        answers.greatest <= TARGET_S,
        memory_b <= TARGET_B,
    )
    print_row(HEAD, WIDTHS)
    print_row(("a status, s", f"{status:.3f}", met(is_met[0])), WIDTHS)
    print_row(("an answer of home, s", f"{answers:.3f}", met(is_met[1])), WIDTHS)
    print_row(("memory of home at most, MB", f"{memory_b / 1e6:.0f}", met(is_met[2])), WIDTHS)
    print_row(("trials a second brought home", f"{rate_s:.0f}", ""), WIDTHS)
    if not all(is_met):
        raise SystemExit(1)


if __name__ == "__main__":
    command.run(main)
