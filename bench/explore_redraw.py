"""How long the explorer takes from a person's choice to what is drawn, on 1,000 trials.

A synthetic campaign (never shipped, never a result) has so many trials and no traces. Each round
changes the measure and takes the time of the kernel: the lines of pandas run, the charts of cells
and trials are made, and their messages are serialised. Beside it the same two charts are drawn with
matplotlib, as a notebook without the widget would. What the browser adds is not in these times: it
draws as many rows and dots as there are on the screen, and no trial that is not shown.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from bench import command
from bench.rounds import Spread, interleaved, met, print_row

TARGET_MS = 150.0
HEAD = ("trials", "cells shown", "explorer ms", "target ms", "matplotlib ms", "ratio")
WIDTHS = (7, 11, 24, 11, 24, 7)
PAIR_HEAD, PAIR_WIDTHS = ("view", "ms"), (10, 24)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.explore_redraw --rounds 3",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=command.positive, default=9, help="(default: 9)")
    parser.add_argument(
        "--blocks",
        type=command.positive,
        default=10,
        help="of 100 trials each: 4 workloads, 5 file systems, 5 options (default: 10)",
    )
    parser.add_argument(
        "--pair",
        metavar="CAMPAIGN",
        help="time each view of pairs that were not shown before, of a campaign with traces",
    )
    return parser.parse_args()


def make(blocks: int) -> None:
    """Write plan and tables of a campaign."""
    from fsgreen import paths, trial
    from fsgreen.analysis.cells import cells_table
    from fsgreen.reduce import write_table
    from tests import synthetic

    options = ("default", "noatime", "a", "b", "c")
    cells = synthetic.cells(tuple(synthetic.RATE), tuple(synthetic.SPEED), options)
    plan = synthetic.make_plan(cells, blocks)
    folder = paths.raw("thousand")
    folder.mkdir(parents=True)
    trial.write_json(folder / "plan.json", plan.to_json())
    identity = {"boundary": "modelled", "testbed": {"kind": "loop"}, "study": plan.study}
    trial.write_json(folder / "campaign.json", identity)
    trials = synthetic.trials_frame(cells, blocks)
    write_table(trials, "thousand", "trials")
    write_table(cells_table(trials, plan.bounds), "thousand", "cells")


def took_ms(call: Callable[[], object]) -> float:
    """Return how long a call took."""
    begin_s = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begin_s)


def main() -> None:
    """Print a row."""
    asked = arguments()
    if asked.pair is not None:
        print_pairs(asked.pair, asked.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FSGREEN_DATA"] = str(Path(folder) / "data")
        make(asked.blocks)
        print_row(HEAD, WIDTHS)
        print_row(row(asked), WIDTHS)


def row(asked: argparse.Namespace) -> list[str]:
    """Return what was measured."""
    from fsgreen.figures import style
    from fsgreen.view.explore import Explorer
    from fsgreen.view.explore.picture import draw

    explorer = Explorer("thousand")
    by = explorer.choose.by
    others = itertools.cycle([*range(1, len(by.options)), 0])

    def redraw() -> None:
        by.index = next(others)

    def matplotlib() -> None:
        for view in (explorer.cells, explorer.trials):
            assert view.shown is not None and view.shown.chart is not None
            style.png(draw(view.shown.chart, view.shown.says))

    redraw()
    matplotlib()
    ways = {"explorer": partial(took_ms, redraw), "matplotlib": partial(took_ms, matplotlib)}
    found = {way: Spread.of(times) for way, times in interleaved(ways, asked.rounds).items()}
    ours, theirs = found["explorer"], found["matplotlib"]
    assert explorer.cells.shown is not None
    return [
        f"{100 * asked.blocks:,}",
        str(len(explorer.cells.shown.table)),
        f"{ours:.0f}",
        f"{TARGET_MS:g} {met(ours.median < TARGET_MS)}",
        f"{theirs:.0f}",
        f"{theirs.median / ours.median:.0f}",
    ]


def print_pairs(campaign: str, rounds: int) -> None:
    """Print how long the views of a pair take, in the order in which they appear."""
    from fsgreen.view.explore import Explorer
    from fsgreen.view.explore.views import View

    explorer = Explorer(campaign)
    if len(explorer.b.options) < rounds + 3:
        raise SystemExit(f"{campaign} has no {rounds + 3} cells: fewer rounds (--rounds)")
    explorer.b.index = 2  # the first pair also makes what all pairs of a workload share
    times_ms: dict[str, list[float]] = {}
    names = {id(getattr(explorer, n)): n for n in ("effect", "beside", "latencies", "settings")}
    show = View.show

    def timed(view: View, *args: Any) -> Any:
        begin_s = time.perf_counter()
        shown = show(view, *args)
        took = times_ms.setdefault(names.get(id(view), "others"), [])
        took.append(1000 * (time.perf_counter() - begin_s))
        return shown

    with mock.patch.object(View, "show", timed):
        for nth in range(rounds):
            times_ms.setdefault("all", []).append(
                took_ms(partial(setattr, explorer.b, "index", 3 + nth))
            )
    print_row(PAIR_HEAD, PAIR_WIDTHS)
    for name, took in times_ms.items():
        print_row([name, f"{Spread.of(took):.0f}"], PAIR_WIDTHS)


if __name__ == "__main__":
    command.run(main)
