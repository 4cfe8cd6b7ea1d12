"""The lab "is the difference real?": a simulated machine whose truth is known.

The machine's speed moves from block to block, and by less from trial to trial, as it does where
campaigns are measured on a shared host: both are parameters here, and no machine was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

import numpy as np
import pandas as pd

from fsgreen.labs.feedback import Choice, Mistake, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.stats import LogRatio, distributions, smallest_difference

BLOCKS = 6
SAMPLES = 20
MEAN_OPS_S = 40_000.0
BLOCK_SHARE = 0.08
SAMPLE_SHARE = 0.05
CHANGES = {"noop": (0.0, 0.012), "journal": (0.08, 0.015), "cache": (0.03, 0.06)}
"""What each change does to the speed, and how far its trials scatter, as shares."""

TAKEN_OF_MEAN = 0.8
"""How much of the mean of what blocks are off is taken away."""

PLANNED_SHARE = 0.02
WANTED_SHARE = 0.03
POWER = 0.8
BOUND_PERCENT = 5.0
LEVEL = 0.95
REPEATS = 2000
REPEATED_TRIALS = 5

DIFFERENT, EQUAL, UNKNOWN = "different", "equal within 5 %", "not known"

CONCLUSIONS = {
    "trials": "What repeats is the trial; seconds inside one are not repetitions.",
    "coverage": "Few trials need Student's t: 1.96 promises 95 % and does not keep it.",
    "blocked": "Compared inside its block, the machine's speed cancels.",
    "journal": "Its whole interval is beyond no difference, and reaches beyond 5 % as well.",
    "noop": "Its whole interval lies inside 5 %: that is shown, and not merely not refuted.",
    "cache": "Nothing was found, and nothing was excluded. More blocks would tell.",
    "blocks": "A design is chosen before it is measured, by the smallest difference that it finds.",
}


class DifferenceLab(Lab):
    """Six blocks of trials of a baseline and three changes to it, and the design of the next.

    All that scatters follows from the seed.
    """

    conclusions = CONCLUSIONS
    basis = "simulated: a machine whose speed moves; nothing is measured"
    truth_ops_s, repeated_trials = MEAN_OPS_S, REPEATED_TRIALS

    def __init__(self, seed: int = 1) -> None:
        super().__init__()
        self._seed = seed

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "trials": self._trials,
            "coverage": self._coverage,
            "blocked": self._blocked,
            **{name: partial(self._verdict, name) for name in ("journal", "noop", "cache")},
            "blocks": self._blocks,
        }

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Return a row for each second of each trial: `change`, `block`, `second`,
        `throughput_ops_s`.
        """
        choose = np.random.default_rng(self._seed)
        return pd.DataFrame(
            self._seconds(choose), columns=["change", "block", "second", "throughput_ops_s"]
        )

    @cached_property
    def trials(self) -> pd.DataFrame:
        """Return a row for each trial: `change`, `block`, `throughput_ops_s`."""
        of_trial = self.samples.groupby(["change", "block"], sort=False)["throughput_ops_s"]
        return of_trial.mean().reset_index()

    @cached_property
    def campaigns(self) -> pd.DataFrame:
        """Return many campaigns of five trials of one cell: `mean_ops_s`, `sd_ops_s`.

        The truth of all of them is `truth_ops_s`.
        """
        choose = np.random.default_rng(self._seed + 1)
        normal = choose.standard_normal((REPEATS, REPEATED_TRIALS))
        trials = MEAN_OPS_S * (1 + BLOCK_SHARE * normal)
        return pd.DataFrame(
            {"mean_ops_s": trials.mean(axis=1), "sd_ops_s": trials.std(axis=1, ddof=1)}
        )

    def pairs(self, change: str) -> pd.Series:
        """Return the logarithm of a change over the baseline, block by block."""
        by_block = self.trials.pivot(index="block", columns="change", values="throughput_ops_s")
        return np.log(by_block[change] / by_block["baseline"])

    def smallest_difference_percent(self, blocks: int) -> float:
        """Return the least difference that so many blocks find in four of five campaigns."""
        error = np.sqrt(2) * PLANNED_SHARE / np.sqrt(blocks)
        return 100 * smallest_difference(error, blocks - 1, power=POWER)

    def _seconds(self, choose: np.random.Generator) -> Iterator[tuple[str, int, int, float]]:
        changes = {"baseline": (0.0, 0.012), **CHANGES}
        scatter = {name: _pulled(choose) * share for name, (_, share) in changes.items()}
        level = _pulled(choose) * BLOCK_SHARE
        for block in range(BLOCKS):
            for name, (effect, _) in changes.items():
                mean = MEAN_OPS_S * np.exp(np.log1p(effect) + level[block] + scatter[name][block])
                inside = choose.standard_normal(SAMPLES)
                inside = 1 + SAMPLE_SHARE * (inside - inside.mean())
                for second, factor in enumerate(inside):
                    yield name, block + 1, second + 1, float(mean * factor)

    def _trials(self) -> Number:
        base = self.trials.loc[self.trials["change"] == "baseline", "throughput_ops_s"]
        seconds = self.samples.loc[self.samples["change"] == "baseline", "throughput_ops_s"]
        t = _t(BLOCKS - 1)
        root = np.sqrt(BLOCKS)

        def percent(half: float) -> float:
            return 100 * half / float(base.mean())

        few = "the seconds were taken for repetitions. They share their trial, and its mood."
        return Number(
            percent(t * base.std() / root),
            "%",
            (
                Mistake(percent(_t(len(seconds) - 1) * seconds.std() / np.sqrt(len(seconds))), few),
                Mistake(percent(1.96 * seconds.std() / np.sqrt(len(seconds))), few),
                Mistake(
                    percent(1.96 * base.std() / root),
                    "1.96 holds for many trials. These are six: use Student's t with five degrees "
                    "of freedom.",
                ),
                Mistake(
                    percent(t * base.std(ddof=0) / root),
                    "this standard deviation divides by n: numpy does so unless `ddof=1`.",
                ),
                Mistake(
                    percent(t * base.std()),
                    "the standard deviation says how trials scatter. How well is their mean known?",
                ),
                Mistake(
                    percent(base.std() / root),
                    "this is one standard error; an interval of 95 % is t times as wide.",
                ),
                Mistake(
                    percent(_t(BLOCKS) * base.std() / root),
                    "six trials leave five degrees of freedom.",
                ),
                Mistake(
                    percent(2 * t * base.std() / root), "this is the whole width; half is asked."
                ),
            ),
            within_percent=0.5,
        )

    def _coverage(self) -> Number:
        def covered_percent(quantile: float) -> float:
            half = quantile * self.campaigns["sd_ops_s"] / np.sqrt(REPEATED_TRIALS)
            off = (self.campaigns["mean_ops_s"] - MEAN_OPS_S).abs()
            return float(100 * (off <= half).mean())

        right = covered_percent(1.96)
        return Number(
            right,
            "%",
            (
                Mistake(
                    covered_percent(_t(REPEATED_TRIALS - 1)),
                    "this is Student's t. Asked is what 1.96 does.",
                ),
                Mistake(
                    covered_percent(1.96 * np.sqrt(REPEATED_TRIALS)),
                    "the square root of the number of trials is missing.",
                ),
                Mistake(100 - right, "these are the intervals that miss the truth."),
            ),
            within_percent=0.3,
        )

    def _blocked(self) -> Number:
        pairs = self.pairs("journal")
        t = _t(BLOCKS - 1)
        by_change = self.trials.groupby("change")["throughput_ops_s"]
        base, other = (by_change.get_group(name) for name in ("baseline", "journal"))
        apart = np.sqrt(base.var() / BLOCKS + other.var() / BLOCKS) / base.mean()
        no_blocks = "the two were compared as if their trials had nothing to do with each other. "
        no_blocks += "Each pair shares a block: take the ratio inside it first."
        blocked = pairs.std() / np.sqrt(BLOCKS)
        return Number(
            100 * t * blocked,
            "%",
            (
                Mistake(100 * _t(2 * BLOCKS - 2) * apart, no_blocks),
                Mistake(100 * t * apart, no_blocks),
                Mistake(100 * 1.96 * apart, no_blocks),
                Mistake(
                    100 * _t(2 * BLOCKS - 2) * blocked,
                    "there are six ratios, which leave five degrees of freedom.",
                ),
                Mistake(100 * 1.96 * blocked, "six ratios need Student's t and not 1.96."),
                Mistake(
                    100 * t * pairs.std(),
                    "this is how far ratios scatter; how well is their mean known?",
                ),
            ),
            within_percent=3.0,
        )

    def _verdict(self, change: str) -> Choice:
        ratio = LogRatio.of_blocks(self.pairs(change).to_numpy())
        says = {
            DIFFERENT: "look at the interval: does it leave out a ratio of 1?",
            EQUAL: "a p-value above 0.05 says that no difference was found, and not that there is "
            "none. Does the whole interval lie within 5 %?"
            if ratio.difference_p() > 1 - LEVEL
            else "look at the interval: does all of it lie within 5 %?",
            UNKNOWN: "the interval says more than that: where does all of it lie?",
        }
        return Choice.by_interval(*ratio.interval(), BOUND_PERCENT / 100, says)

    def _blocks(self) -> Number:
        pair = np.sqrt(2) * PLANNED_SHARE

        def fewest(enough: Callable[[int], bool]) -> int:
            return next(blocks for blocks in range(2, 1000) if enough(blocks))

        def finds(blocks: int, error: float) -> bool:
            return smallest_difference(error, blocks - 1, power=POWER) <= WANTED_SHARE

        right = fewest(lambda blocks: finds(blocks, pair / np.sqrt(blocks)))
        quantiles = distributions.normal_quantile([1 - (1 - LEVEL) / 2, POWER]).sum()
        return Number(
            right,
            "blocks",
            (
                Mistake(
                    fewest(lambda n: _t(n - 1) * pair / np.sqrt(n) <= WANTED_SHARE),
                    "so many make the interval as wide as the difference: it is then found in one "
                    "campaign of two.",
                ),
                Mistake(
                    int(np.ceil((quantiles * pair / WANTED_SHARE) ** 2)),
                    "the formula with normal quantiles forgets that few blocks do not know their "
                    "own scatter.",
                ),
                Mistake(
                    fewest(lambda n: finds(n, PLANNED_SHARE / np.sqrt(n))),
                    "this is the scatter of one of the two. Their ratio has that of both.",
                ),
                Mistake(
                    right - 1, "so many do not reach it, if only just. Look once more at the row."
                ),
                Mistake(right + 1, "one fewer would do."),
            ),
            within_percent=0.01,
        )


def _t(degrees: int) -> float:
    return float(distributions.t_quantile(1 - (1 - LEVEL) / 2, degrees))


def _pulled(choose: np.random.Generator) -> np.ndarray:
    """Return what each block is off, of standard deviation 1 and with a mean near 0.

    Without that some students would meet three other cases than the rest.
    """
    drawn = choose.standard_normal(BLOCKS)
    off: np.ndarray = (drawn - TAKEN_OF_MEAN * drawn.mean()) / drawn.std(ddof=1)
    return off
