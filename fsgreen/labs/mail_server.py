"""The lab "which file system for a mail server?": a campaign that ships, as a factorial design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from fsgreen.design import Cell
from fsgreen.labs.feedback import Choice, Choices, Mistake, Number, Task
from fsgreen.labs.lab import Lab
from fsgreen.recommend import Constraints
from fsgreen.reduce import read_table
from fsgreen.stats import compare, holm
from fsgreen.stats.interactions import Contrast, contrast, interaction_weights

WORKLOAD = "varmail"
FILE_SYSTEMS = ("ext3", "ext4")
OPTIONS = ("default", "noatime", "dtlg", "wrbck")
OPTION = "dtlg"
BASE = ("ext3", "default")
BOUND = 0.05
LEVEL = 0.05
DIFFERENT, EQUAL, UNKNOWN = "interaction", "no interaction", "not known"
MODELLED = "modelled"

CONCLUSIONS = {
    "trials": "Every effect is estimated from all of them, and interactions can be seen at all.",
    "option": "The comparison is inside blocks, and it is a ratio.",
    "expected": "Shares multiply: that is what no interaction means for rates.",
    "together": "This number is what one-at-a-time measuring never sees.",
    "verdict": "An interaction is the difference of two differences, and scatters more than each.",
    "candidates": "The first of a ranking may be the luckiest of many. These are not told from it.",
    "watts": "Operations per second were measured. The joules are a model's.",
}

Configuration = tuple[str, str]
"""File system and option."""


class MailServerLab(Lab):
    """The trials of a mail server in a campaign: each file system with each option, in blocks.

    The campaign has the options of ext3 and ext4, such as `fast10-options`, which ships. Raises
    FsgreenError if its results are not here.
    """

    conclusions = CONCLUSIONS

    def __init__(self, campaign: str) -> None:
        super().__init__()
        trials = read_table(campaign, "trials")
        columns = ["file_system", "option", "block", "work_ops", "duration_s", "throughput_ops_s"]
        self._all = trials.loc[trials["workload"] == WORKLOAD]
        self.trials = self._all[columns].reset_index(drop=True)

    @property
    def boundary(self) -> str:
        """Return where the power of these trials was measured, or that it was modelled."""
        return ", ".join(sorted(self._all["boundary"].unique()))

    @cached_property
    def means(self) -> pd.DataFrame:
        """Return mean operations per second, a row for each option, a column for each file
        system.
        """
        return self.trials.pivot_table("throughput_ops_s", "option", "file_system").round(0)

    def logs(self, cells: Sequence[Configuration]) -> np.ndarray:
        """Return the logarithms of the rates of some cells: a row per block, a column per cell."""
        by_cell = self.trials.pivot_table("throughput_ops_s", "block", ["file_system", "option"])
        return np.log(by_cell[list(cells)].dropna().to_numpy())

    def interaction(self) -> Contrast:
        """Return how much more the option does on the second file system than on the first."""
        cells = [(name, option) for name in FILE_SYSTEMS for option in (BASE[1], OPTION)]
        on = [(name == FILE_SYSTEMS[1], option == OPTION) for name, option in cells]
        return contrast(self.logs(cells), interaction_weights(on, [0, 1]), BOUND)

    @cached_property
    def beside_best(self) -> pd.DataFrame:
        """Return each configuration that keeps its promises, the fastest first.

        `change_percent` is against the first, `difference_p` the p-value of no difference from
        it (1 for the first itself); options that may lose mail at a power cut are left out.
        """
        keeps = Constraints(no_relaxed_durability=True)
        rates = self.trials.rename(columns={"work_ops": "above", "duration_s": "below"})
        groups = dict(iter(rates.groupby(["file_system", "option"])))
        now = Cell(file_system="ext4", option="default")
        kept = {
            name: group
            for name, group in groups.items()
            if keeps.why_not(now, Cell(file_system=name[0], option=name[1])) is None
        }
        order = sorted(kept, key=lambda name: -_rate(kept[name]))
        first, *others = order
        compared = [compare(kept[name], kept[first], BOUND) for name in others]
        return pd.DataFrame(
            {
                "configuration": ["/".join(name) for name in order],
                "throughput_ops_s": [_rate(kept[name]) for name in order],
                "change_percent": [0.0, *(100 * (pair.ratio.value - 1) for pair in compared)],
                "difference_p": [1.0, *(pair.difference_p for pair in compared)],
            }
        ).set_index("configuration")

    @property
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return the tasks in their order."""
        return {
            "trials": self._trials,
            "option": self._option,
            "expected": self._expected,
            "together": self._together,
            "verdict": self._verdict,
            "candidates": self._candidates,
            "watts": self._watts,
        }

    def _over(self, cell: Configuration, base: Configuration) -> float:
        logs = self.logs([cell, base])
        return float(np.exp((logs[:, 0] - logs[:, 1]).mean()))

    def _trials(self) -> Number:
        blocks = self.trials["block"].nunique()
        cells = len(FILE_SYSTEMS) * len(OPTIONS)
        one_at_a_time = 1 + (len(FILE_SYSTEMS) - 1) + (len(OPTIONS) - 1)
        return Number(
            cells * blocks,
            "trials",
            (
                Mistake(cells, "these are the cells of one block. How many blocks are there?"),
                Mistake(
                    one_at_a_time * blocks,
                    "this changes one thing at a time. A factorial design has every file system "
                    "with every option.",
                ),
                Mistake(
                    one_at_a_time,
                    "this changes one thing at a time, and in one block. A factorial design has "
                    "every file system with every option.",
                ),
            ),
            within_percent=0.1,
        )

    def _option(self) -> Number:
        name = FILE_SYSTEMS[0]
        right = self._over((name, OPTION), BASE)
        return Number(
            right,
            "times as fast",
            (
                Mistake(1 / right, "this is without over with; asked is the other way."),
                Mistake(right - 1, "this is the change; asked is the ratio."),
                Mistake(
                    self._over((FILE_SYSTEMS[1], OPTION), (FILE_SYSTEMS[1], BASE[1])),
                    f"this is {FILE_SYSTEMS[1]}; asked is {name}.",
                ),
                Mistake(
                    self.means.loc[OPTION, name] - self.means.loc[BASE[1], name],
                    "this is a difference of rates; asked is a ratio.",
                ),
            ),
            within_percent=0.8,
        )

    def _shares(self) -> tuple[float, float, float]:
        """Return the other file system, the option, and both, each over the base."""
        other = self._over((FILE_SYSTEMS[1], BASE[1]), BASE)
        option = self._over((BASE[0], OPTION), BASE)
        return other, option, self._over((FILE_SYSTEMS[1], OPTION), BASE)

    def _expected(self) -> Number:
        other, option, both = self._shares()
        return Number(
            other * option,
            "times as fast",
            (
                Mistake(
                    other + option - 1,
                    "the two changes were added. Shares multiply: 10 % more and then 10 % more is "
                    "21 % more.",
                ),
                Mistake(both, "this is what was measured together. What did you expect before?"),
                Mistake((other + option) / 2, "this is the mean of the two."),
            ),
            within_percent=0.8,
        )

    def _together(self) -> Number:
        other, option, both = self._shares()
        right = both / (other * option)
        means = self.means
        apart = [means.loc[OPTION, name] - means.loc[BASE[1], name] for name in FILE_SYSTEMS]
        return Number(
            right,
            "(a ratio of ratios)",
            (
                Mistake(both, "this is both over neither. Divide it by what you expected."),
                Mistake(1 / right, "this is expected over measured; asked is the other way."),
                Mistake(
                    both / other,
                    "this is the option on one file system. Against what it does on the other?",
                ),
                Mistake(apart[1] - apart[0], "these are operations per second; asked is a ratio."),
            ),
            within_percent=0.8,
        )

    def _verdict(self) -> Choice:
        ratio = self.interaction().ratio
        says = {
            DIFFERENT: "look at the interval of the ratio of ratios: does it leave out 1?",
            EQUAL: "that no interaction was found is not that there is none: does the whole "
            "interval lie within 5 % of 1?",
            UNKNOWN: "the interval says more than that: where does all of it lie?",
        }
        return Choice.by_interval(ratio.low, ratio.high, BOUND, says)

    def _candidates(self) -> Choices:
        table = self.beside_best
        adjusted = [1.0, *holm(table["difference_p"].iloc[1:].to_list())]
        right = set(table.index[np.array(adjusted) > LEVEL])
        return Choices(
            right,
            {"/".join(name) for name in self.trials.groupby(["file_system", "option"]).groups},
            "at least one of these may lose mail at a power cut, or is told apart from the first: "
            "its adjusted p-value is 0.05 or less.",
            "at least one more is not told apart from the first. A rank alone says nothing, and "
            "with so many comparisons a p-value must be adjusted for all of them (Holm).",
        )

    def _watts(self) -> Choice:
        no, yes = "no: they are modelled", "yes: they are in the table"
        says = {
            yes: "look at the boundary of these watts. Was a meter plugged in?",
            no: "look at the boundary of these watts: a meter was plugged in.",
        }
        right = no if MODELLED in self.boundary else yes
        other = "no: the server is another"
        says[other] = "true of every number here, and not what rules out these in particular."
        return Choice(right, says)


def _rate(trials: pd.DataFrame) -> float:
    return float(trials["above"].sum() / trials["below"].sum())
