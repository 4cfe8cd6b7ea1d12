"""Pairs of cells: effect size, test of difference, test of equivalence, families under Holm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.cells import TOTALS, UNIT
from fsgreen.errors import FsgreenError
from fsgreen.reduce import CELL

C = TypeVar("C")

TESTED = (
    "change_percent",
    "change_low_percent",
    "change_high_percent",
    "difference_p",
    "difference_holm_p",
    "equivalence_p",
    "equivalence_holm_p",
    "bound_percent",
    "outcome",
)
"""What is said of a change: its size, whether it is one, and whether it is none."""

COLUMNS = [
    "n",
    *(f"{side}_{unit}" for unit in UNIT.values() for side in ("candidate", "baseline")),
    "boundary",
    "ratio_x",
    "ratio_low_x",
    "ratio_high_x",
    *TESTED,
    "model",
    "model_note",
    "bootstrap_low_x",
    "bootstrap_high_x",
]


@dataclass(frozen=True)
class Config:
    """A file system with its option, as fast as it goes."""

    file_system: str
    option: str = "default"

    def __str__(self) -> str:
        return f"{self.file_system}/{self.option}"

    @classmethod
    def parse(cls, text: str) -> Config:
        """Return the configuration written as `ext3/dtlg`, or as `ext3` with its defaults."""
        file_system, _, option = text.partition("/")
        return cls(file_system, option or cls.option)


def conditions(config: type) -> list[str]:
    """Return what is the same for both cells of a pair of configurations: the workload first."""
    varied = {*_names(config), "load_ops_s"}
    return [factor for factor in CELL if factor not in varied]


def sample(trials: pd.DataFrame, workload: str, config: Config, metric: str) -> pd.DataFrame:
    """Return block, above and below of each unlimited trial of a cell, as `stats.compare` reads.

    Raises
    ------
    FsgreenError
        If the trials are of several cells: of a warm and a cold cache, say.
    """
    chosen = trials[
        (trials["workload"] == workload)
        & (trials["file_system"] == config.file_system)
        & (trials["option"] == config.option)
        & trials["load_ops_s"].isna()
    ]
    for factor in conditions(Config):
        if chosen[factor].nunique(dropna=False) > 1:
            levels = ", ".join(sorted(map(str, chosen[factor].unique())))
            raise FsgreenError(
                f"trials of {workload} {config} differ in {factor}: {levels}",
                next_step=f"choose the trials of one {factor}",
            )
    return _totals(chosen, metric)


@dataclass(frozen=True, eq=False)
class Scatters:
    """How far trials scatter as fast as they go: the models of a workload, made when asked.

    With these, `stats.effect` says of two samples what `effects_table` does.
    """

    trials: pd.DataFrame
    _groups: dict[str, list[Group]] = field(default_factory=dict)

    def of(self, workload: str, metric: str, *configs: Config) -> stats.Scatter | None:
        """Return the scatter for comparing these configurations.

        None where the model or one of them forbids it (`MixedModel.refuses`), and where trials of
        the workload are in several states.
        """
        if workload not in self._groups:
            of_workload = self.trials[self.trials["workload"] == workload]
            self._groups[workload] = groups_of(of_workload)
        groups = self._groups[workload]
        return groups[0].models[metric].scatter(*configs) if len(groups) == 1 else None


def effects_table(
    trials: pd.DataFrame,
    pairs: Iterable[tuple[str, str, C, C]],
    bounds: Mapping[str, float],
    config: type[C] = Config,  # type: ignore[assignment]
) -> pd.DataFrame:
    """Return a row per pair, metric and state of what the pair has in common.

    Comparisons of one kind, metric and workload (in one state) are one family (rule 38).

    `candidate_ops_s` ... are the values of both cells in the blocks that both have (rule 30).
    Intervals and p-values rest on the scatter of all cells of a workload, by a mixed model, or,
    where that must not be used, on the bootstrap of the two cells (rule 36): `model` says which,
    `model_note` why; `bootstrap_low_x` and `bootstrap_high_x` are always of the bootstrap. What is
    compared with a cell without a steady state is `inconsistent` (rule 24).

    Parameters
    ----------
    trials : DataFrame
        The table `trials.csv`.
    pairs : iterable of (kind, workload, candidate, baseline)
        What is compared; `kind` names the family.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
    config : type
        A frozen dataclass whose fields name the factors in which the cells of a pair may differ.
    """
    return compared(groups_of(trials, config), pairs, bounds, config)


def groups_of(trials: pd.DataFrame, config: type = Config) -> list[Group]:
    """Return the cells that may be compared, with their models: for several calls of `compared`."""
    unlimited, shared = trials[trials["load_ops_s"].isna()], conditions(config)
    return [
        Group.of(dict(zip(shared, key, strict=True)), these, config)
        for key, these in unlimited.groupby(shared, dropna=False)
    ]


def compared(
    groups: Sequence[Group],
    pairs: Iterable[tuple[str, str, C, C]],
    bounds: Mapping[str, float],
    config: type[C] = Config,  # type: ignore[assignment]
) -> pd.DataFrame:
    """Return what `effects_table` does of the trials that the groups were made from."""
    family, varied = ["kind", "metric", *conditions(config)], _names(config)
    columns = [*family, *varied, *(f"baseline_{name}" for name in varied), *COLUMNS]
    rows = [
        row
        for kind, workload, candidate, baseline in pairs
        for group in groups
        if group.conditions["workload"] == workload
        for row in group.rows(kind, candidate, baseline, bounds)
    ]
    if not rows:
        return pd.DataFrame(columns=columns)
    table = pd.DataFrame(rows)
    for p_value in ("difference_p", "equivalence_p"):
        families = table.groupby(family, dropna=False)[p_value]
        adjusted = families.transform(lambda p: stats.holm(list(p)))
        table[p_value.replace("_p", "_holm_p")] = adjusted
    table["bound_percent"] = bounds["equivalence_percent"]
    table["outcome"] = [
        outcome(n, different, equal, bounds) if steady else "inconsistent"
        for n, different, equal, steady in zip(
            table["n"],
            table["difference_holm_p"],
            table["equivalence_holm_p"],
            table["steady"],
            strict=True,
        )
    ]
    return table[columns]


def outcome(n: int, difference_p: float, equivalence_p: float, bounds: Mapping[str, float]) -> str:
    """Return `different`, `equivalent` or `inconclusive` (rules 26 and 37)."""
    if n >= bounds["minimum_trials"]:
        if difference_p < stats.LEVEL:
            return "different"
        if equivalence_p < stats.LEVEL:
            return "equivalent"
    return "inconclusive"


@dataclass(frozen=True)
class Group:
    """The cells that may be compared: of one workload, in one state."""

    conditions: Mapping[str, Any]
    cells: Mapping[Any, pd.DataFrame]
    models: Mapping[str, stats.MixedModel]
    """By metric."""

    @classmethod
    def of(cls, conditions: Mapping[str, Any], trials: pd.DataFrame, config: type) -> Group:
        """Return the cells of these trials, which share the conditions."""
        names = _names(config)
        configs = [config(*levels) for levels in trials[names].itertuples(index=False, name=None)]
        cells = {config: trials[[c == config for c in configs]] for config in set(configs)}
        return cls(
            conditions, cells, {metric: _model(trials, configs, metric) for metric in TOTALS}
        )

    def rows(
        self, kind: str, candidate: object, baseline: object, bounds: Mapping[str, float]
    ) -> Iterator[dict[str, Any]]:
        """Yield a row per metric, if both cells were measured.

        `steady` says whether both have a steady state: without one there is no mean (rule 24).
        """
        if not {candidate, baseline} <= self.cells.keys():
            return
        subject, reference = self.cells[candidate], self.cells[baseline]
        results = {
            metric: stats.compare(
                _totals(subject, metric),
                _totals(reference, metric),
                bounds["equivalence_percent"] / 100,
                self.models[metric].scatter(candidate, baseline),
            )
            for metric in TOTALS
        }
        for metric, result in results.items():
            yield {
                "kind": kind,
                "metric": metric,
                "steady": _steady(subject, metric) and _steady(reference, metric),
                "boundary": subject["boundary"].iloc[0],
                **self.conditions,
                **vars(candidate),
                **{f"baseline_{name}": level for name, level in vars(baseline).items()},
                **{f"candidate_{UNIT[name]}": one.candidate for name, one in results.items()},
                **{f"baseline_{UNIT[name]}": one.baseline for name, one in results.items()},
                **_effect(result),
                **_basis(result, self.models[metric], candidate, baseline),
            }


def _names(config: type) -> list[str]:
    return [field.name for field in fields(config)]


def _model(trials: pd.DataFrame, configs: list[Any], metric: str) -> stats.MixedModel:
    above, below = TOTALS[metric]
    rates = {"block": trials["block"], "config": configs, "rate": trials[above] / trials[below]}
    return stats.mixed_model(pd.DataFrame(rates), "config", "rate")


def _totals(cell: pd.DataFrame, metric: str) -> pd.DataFrame:
    above, below = TOTALS[metric]
    return pd.DataFrame({"block": cell["block"], "above": cell[above], "below": cell[below]})


def _steady(cell: pd.DataFrame, metric: str) -> bool:
    """Return whether a cell has a steady state, for work per energy in its power, too."""
    series = ["steady", "steady_power"] if metric == "efficiency" else ["steady"]
    classes = [stats.classify_cell(list(cell[name])) for name in series if name in cell]
    return "inconsistent" not in classes


def _effect(result: stats.Comparison) -> dict[str, Any]:
    return {
        "n": result.ratio.n,
        "ratio_x": result.ratio.value,
        "ratio_low_x": result.ratio.low,
        "ratio_high_x": result.ratio.high,
        "change_percent": 100 * (result.ratio.value - 1),
        "change_low_percent": 100 * (result.ratio.low - 1),
        "change_high_percent": 100 * (result.ratio.high - 1),
        "difference_p": result.difference_p,
        "equivalence_p": result.equivalence_p,
    }


def _basis(
    result: stats.Comparison, model: stats.MixedModel, candidate: object, baseline: object
) -> dict[str, Any]:
    """Return what interval and p-values rest on, and the interval of the bootstrap."""
    note = model.refuses(candidate, baseline)
    if not note and not result.pooled:
        note = "too few common blocks" if result.ratio.n < 2 else "several trials in a block"
    return {
        "model": "mixed model" if result.pooled else "bootstrap",
        "model_note": note,
        "bootstrap_low_x": result.bootstrap.low,
        "bootstrap_high_x": result.bootstrap.high,
    }
