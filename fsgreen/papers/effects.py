"""Pairs of cells: effect size, test of difference, test of equivalence, families under Holm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import pandas as pd

from fsgreen import stats
from fsgreen.errors import FsgreenError
from fsgreen.papers.cells import TOTALS, UNIT
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
    "ratio_x",
    "ratio_low_x",
    "ratio_high_x",
    *TESTED,
    "model",
    "model_note",
    "model_ratio_x",
    "model_low_x",
    "model_high_x",
    "model_p",
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
        """Return the configuration written as `ext3/dtlg`."""
        return cls(*text.split("/"))


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


def effects_table(
    trials: pd.DataFrame,
    pairs: Iterable[tuple[str, str, C, C]],
    bounds: Mapping[str, float],
    config: type[C] = Config,  # type: ignore[assignment]
) -> pd.DataFrame:
    """Return a row per pair, metric and state of what the pair has in common.

    Comparisons of one kind, metric and workload (in one state) are one family (rule 38).

    `candidate_ops_s` ... are the values of both cells in the blocks that both have (rule 30). The
    columns `model...` are of the mixed model of all cells of the family (rule 36), or, where its
    diagnostics fail, of the bootstrap: `model` says which, `model_note` why.

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
    unlimited = trials[trials["load_ops_s"].isna()]
    shared = conditions(config)
    family, varied = ["kind", "metric", *shared], _names(config)
    columns = [*family, *varied, *(f"baseline_{name}" for name in varied), *COLUMNS]
    groups = [
        _Group.of(dict(zip(shared, key, strict=True)), these, config)
        for key, these in unlimited.groupby(shared, dropna=False)
    ]
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
        outcome(n, different, equal, bounds)
        for n, different, equal in zip(
            table["n"], table["difference_holm_p"], table["equivalence_holm_p"], strict=True
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
class _Group:
    """The cells that may be compared: of one workload, in one state."""

    conditions: Mapping[str, Any]
    cells: Mapping[Any, pd.DataFrame]
    models: Mapping[str, stats.MixedModel]

    @classmethod
    def of(cls, conditions: Mapping[str, Any], trials: pd.DataFrame, config: type) -> _Group:
        configs = [
            config(*levels) for levels in trials[_names(config)].itertuples(index=False, name=None)
        ]
        cells = {config: trials[[c == config for c in configs]] for config in set(configs)}
        models = {
            metric: stats.mixed_model(
                pd.DataFrame(
                    {
                        "block": trials["block"],
                        "config": configs,
                        "value": trials[above] / trials[below],
                    }
                ),
                ["config"],
                "value",
            )
            for metric, (above, below) in TOTALS.items()
        }
        return cls(conditions, cells, models)

    def rows(
        self, kind: str, candidate: object, baseline: object, bounds: Mapping[str, float]
    ) -> Iterator[dict[str, Any]]:
        """Yield a row per metric, if both cells were measured."""
        if not {candidate, baseline} <= self.cells.keys():
            return
        results = {
            metric: stats.compare(
                _totals(self.cells[candidate], metric),
                _totals(self.cells[baseline], metric),
                bounds["equivalence_percent"] / 100,
            )
            for metric in TOTALS
        }
        for metric, result in results.items():
            yield {
                "kind": kind,
                "metric": metric,
                **self.conditions,
                **vars(candidate),
                **{f"baseline_{name}": level for name, level in vars(baseline).items()},
                **{f"candidate_{UNIT[name]}": one.candidate for name, one in results.items()},
                **{f"baseline_{UNIT[name]}": one.baseline for name, one in results.items()},
                **_effect(result),
                **_modelled(self.models[metric], candidate, baseline, result),
            }


def _names(config: type) -> list[str]:
    return [field.name for field in fields(config)]


def _totals(cell: pd.DataFrame, metric: str) -> pd.DataFrame:
    above, below = TOTALS[metric]
    return pd.DataFrame({"block": cell["block"], "above": cell[above], "below": cell[below]})


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


def _modelled(
    model: stats.MixedModel, candidate: object, baseline: object, result: stats.Comparison
) -> dict[str, Any]:
    """Return the effect by the mixed model, or by the bootstrap where the model fails."""
    if model.trouble:
        name, note, ratio, p = "bootstrap", model.trouble, result.ratio, result.difference_p
    else:
        note = "no variance between blocks" if model.boundary else ""
        name, (ratio, p) = "mixed model", model.ratio([candidate], [baseline])
    return {
        "model": name,
        "model_note": note,
        "model_ratio_x": ratio.value,
        "model_low_x": ratio.low,
        "model_high_x": ratio.high,
        "model_p": p,
    }
