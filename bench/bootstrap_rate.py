"""How long comparisons of a campaign of 1,000 trials take, beside a plain scipy.stats.bootstrap.

Two shapes: 200 cells in 5 blocks, every cell against the first; and one pair of cells with 1,000
blocks. Each comparison takes 10,000 resamples of blocks, the same for both cells, for the ratio of
total over total. SciPy gets the same pairs and resamples, vectorised, for a percentile interval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats as distributions
from tqdm import tqdm

from bench import command
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import stats
from fsgreen.stats.bootstrap import RESAMPLES

TARGET_S = 5.0
BATCH = 1000
"""Resamples that SciPy holds at a time: with all of 1,000 blocks it would take gigabytes."""

HEAD = ("shape", "fsgreen s", "scipy s", "times as fast", "target")
WIDTHS = (24, 24, 24, 22, 16)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m bench.bootstrap_rate --rounds 1",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rounds", type=command.positive, default=3, help="of both (default: %(default)s)"
    )
    return parser.parse_args()


def campaign(cells: int, blocks: int) -> list[pd.DataFrame]:
    """Return generated cells as `stats.compare` reads them."""
    rng = np.random.default_rng(1)
    block = rng.lognormal(0, 0.05, blocks)
    return [
        pd.DataFrame(
            {
                "block": np.arange(blocks),
                "above": 1e5 * block * rng.lognormal(0, 0.03, blocks),
                "below": rng.normal(10, 0.05, blocks),
            }
        )
        for _ in range(cells)
    ]


def by_fsgreen(cells: list[pd.DataFrame]) -> float:
    """Compare every cell with the first; return seconds."""
    start_s = time.perf_counter()
    for cell in tqdm(cells[1:], unit="pair", leave=False):
        stats.compare(cell, cells[0], 0.05)
    return time.perf_counter() - start_s


def by_scipy(cells: list[pd.DataFrame]) -> float:
    """Bootstrap the ratio of every cell to the first; return seconds."""

    def ratio(
        above: np.ndarray,
        below: np.ndarray,
        above_base: np.ndarray,
        below_base: np.ndarray,
        axis: int,
    ) -> np.ndarray:
        one, other = above.sum(axis) / below.sum(axis), above_base.sum(axis) / below_base.sum(axis)
        return np.asarray(one / other)

    start_s = time.perf_counter()
    base = [cells[0][name].to_numpy() for name in ("above", "below")]
    for cell in tqdm(cells[1:], unit="pair", leave=False):
        distributions.bootstrap(
            [cell["above"].to_numpy(), cell["below"].to_numpy(), *base],
            ratio,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=BATCH,
            method="percentile",
            rng=np.random.default_rng(0),
        )
    return time.perf_counter() - start_s


def main() -> None:
    """Print a row for each shape."""
    asked = arguments()
    shapes = {"200 cells, 5 blocks": (200, 5), "a pair, 1,000 blocks": (2, 1000)}
    print_row(HEAD, WIDTHS)
    for name, (count, blocks) in shapes.items():
        cells = campaign(count, blocks)
        ways: dict[str, Callable[[], float]] = {
            "fsgreen": partial(by_fsgreen, cells),
            "scipy": partial(by_scipy, cells),
        }
        seconds = interleaved(ways, asked.rounds)
        ours, its = (Spread.of(seconds[way]) for way in ways)
        ratio = Spread.of(b / a for a, b in zip(seconds["fsgreen"], seconds["scipy"], strict=True))
        target = f"< {TARGET_S:g} s {met(ours.greatest < TARGET_S)}"
        print_row((name, f"{ours:.2f}", f"{its:.2f}", f"{ratio:.1f}", target), WIDTHS)


if __name__ == "__main__":
    command.run(main)
