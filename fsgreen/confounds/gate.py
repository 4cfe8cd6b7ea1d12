"""The gate: a comparison passes unless a confound that nothing held may be as large as its effect.

A confound endangers a comparison only where its level differs between the two sides, or is not
known to be the same, without being what is compared. One that the campaign held does not, however
large it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from fsgreen.confounds.known import KNOWN, PLACE, Confound
from fsgreen.confounds.probes import probed_place, read_probes
from fsgreen.confounds.recorded import recorded_levels
from fsgreen.confounds.size import UNMEASURED, Size, measured_sizes
from fsgreen.design import factors
from fsgreen.stats import Estimate

State = Literal["passed", "flagged", "unknown"]

Side = Mapping[str, Any]
"""The level of each factor of a cell."""


@dataclass(frozen=True)
class Ruling:
    """What the gate says of a comparison."""

    state: State
    """passed: nothing endangers it, or what does is shown to be smaller than the effect. flagged: a
    confound may be as large as the effect. unknown: it is endangered by one whose size was not
    measured, or could be chance and is not shown to be smaller."""
    confound: str = "none"
    """The worst that endangers it; "none" where nothing does."""
    size_percent: float = math.nan
    """The size of that confound."""
    reason: str = ""
    """In words, with the numbers."""


PASSED = Ruling("passed")
RANK: Mapping[State, int] = {"passed": 0, "unknown": 1, "flagged": 2}


class Gate:
    """What a campaign held, and the sizes of what it could have held.

    `facts` is the table of `recorded_levels`, and `sizes` has `measured_sizes` by name of confound.
    `probed` has the `disk` and the `partition` that the sizes are those of, for campaigns of
    several.
    """

    def __init__(
        self, facts: pd.DataFrame, sizes: Mapping[str, Size], probed: Side | None = None
    ) -> None:
        self._sizes, self._probed = sizes, probed or {}
        self._levels: dict[str, dict[tuple[Any, ...], set[str | None]]] = {
            name: defaultdict(set) for name in KNOWN
        }
        for row in facts.to_dict("records"):
            for name, by_cell in self._levels.items():
                level = row[name]
                by_cell[_key(row)].add(level if isinstance(level, str) else None)

    @classmethod
    def of(cls, campaign: str) -> Gate:
        """Return the gate of a campaign.

        Raises FsgreenError if the testbed of the campaign was not probed.
        """
        sizes = measured_sizes(read_probes(campaign))
        return cls(recorded_levels(campaign), sizes, probed_place(campaign))

    def rule(
        self,
        candidate: Side,
        baseline: Side,
        studied: Collection[str],
        ratio: Estimate,
        *,
        of_each_reader: bool = False,
    ) -> Ruling:
        """Return what the gate says of one comparison.

        Candidate and baseline have the level of each factor, and `ratio` is candidate over
        baseline, with its interval. A confound that is one of the factors `studied` is none.
        `of_each_reader` says that the ratio is of the times of single readers, which a total hides:
        what gates those alone (`Confound.of_each_reader`) gates it too.
        """
        least, effect = _effect_percent(ratio)
        rulings = [
            self._judge(confound, self._size(confound, candidate, baseline), danger, least, effect)
            for confound in KNOWN.values()
            if of_each_reader or not confound.of_each_reader
            if (danger := self._danger(confound, candidate, baseline, studied))
        ]
        return max(
            rulings,
            key=lambda ruling: (RANK[ruling.state], _or(ruling.size_percent, 0.0)),
            default=PASSED,
        )

    def flags(self, effects: pd.DataFrame) -> pd.DataFrame:
        """Return a table of comparisons with the columns `GATE` added.

        `kind` names the factor that is compared (`file system`, `option`, `scheduler`); a factor
        has a column, and where the baseline has another level `baseline_FACTOR`; the effect is
        `ratio_x`, `ratio_low_x`, `ratio_high_x` and `n`.
        """
        rulings = [self._of_row(row) for row in effects.to_dict("records")]
        return effects.assign(
            gate=_texts(effects, [ruling.state for ruling in rulings]),
            confound=_texts(effects, [ruling.confound for ruling in rulings]),
            confound_percent=pd.Series(
                [ruling.size_percent for ruling in rulings], effects.index, dtype=float
            ),
            gate_reason=_texts(effects, [ruling.reason for ruling in rulings]),
        )

    def _of_row(self, row: Mapping[str, Any]) -> Ruling:
        candidate = {name: row.get(name) for name in factors.names()}
        baseline = {name: row.get(f"baseline_{name}", row.get(name)) for name in factors.names()}
        ratio = Estimate(row["ratio_x"], row["ratio_low_x"], row["ratio_high_x"], row["n"])
        return self.rule(candidate, baseline, {row["kind"].replace(" ", "_")}, ratio)

    def _danger(
        self, confound: Confound, candidate: Side, baseline: Side, studied: Collection[str]
    ) -> str:
        """Return why a confound endangers a comparison, "" where it does not."""
        levels = self._levels[confound.name]
        one, other = (levels.get(_key(side), set()) for side in (candidate, baseline))
        if not one or not other:
            return "has no record for one of the two cells"
        if None in one | other:
            return "is not known to be the same"
        if one == other and len(one) == 1:
            return ""
        if len(one) > 1 or len(other) > 1:
            return "varies between trials of a cell"
        declared = {factor for factor in confound.factors if _differ(candidate, baseline, factor)}
        if declared & set(studied):
            return ""
        (of_one,), (of_other,) = one, other
        return f"differs ({of_one}, {of_other})"

    def _size(self, confound: Confound, candidate: Side, baseline: Side) -> Size:
        """Return the size of a confound where the probe has looked, unmeasured elsewhere."""
        elsewhere = {
            factor
            for factor in self._probed
            for side in (candidate, baseline)
            if _differ(side, self._probed, factor)
        }
        unseen = elsewhere & ({"disk", "partition"} if confound.name == PLACE.name else {"disk"})
        return UNMEASURED if unseen else self._sizes[confound.name]

    def _judge(
        self, confound: Confound, size: Size, danger: str, least: float, effect: float
    ) -> Ruling:
        name = confound.name
        if not size.measured:
            return Ruling(
                "unknown", name, reason=f"{name} {danger}; its size was not measured there"
            )
        against = f"against an effect of {effect:.3g} %, at least {least:.3g} %"
        told = f"{name} {danger}; it makes {_sized(size)} {against}"
        smaller = size.most_percent < least
        if size.by_chance:
            told += ", which could be chance"
            if not smaller:
                return Ruling("unknown", name, size.percent, f"{told}, but may be as large")
        return Ruling("passed" if smaller else "flagged", name, size.percent, told)


def sentence(effects: pd.DataFrame) -> str:
    """Return what the gate said of a table of comparisons, in a sentence for a report."""
    total = len(effects)
    if not total:
        return "There is nothing to compare."
    counts = effects["gate"].value_counts()
    flagged, unknown = (int(counts.get(state, 0)) for state in ("flagged", "unknown"))
    if not flagged and not unknown:
        return (
            f"None of the {total} comparisons is flagged: what could have made the difference was "
            "held the same on both sides, or is smaller than the difference."
        )
    parts = []
    for count, state, what in (
        (flagged, "flagged", "may be the work of"),
        (unknown, "unknown", "may be the work of a confound whose size is not known well enough:"),
    ):
        if count:
            names = effects.loc[effects["gate"] == state, "confound"].unique()
            parts.append(f"{count} of {total} comparisons {what} {', '.join(sorted(names))}")
    return f"{'; '.join(parts)}. No conclusion may rest on them."


def _effect_percent(ratio: Estimate) -> tuple[float, float]:
    """Return the least that an effect is by its interval, and the effect, as sizes are written."""
    value = 100 * (max(ratio.value, 1 / ratio.value) - 1) if ratio.value > 0 else math.inf
    if not ratio.has_interval or ratio.low <= 1 <= ratio.high:
        return 0.0, value
    nearest = ratio.low if ratio.low > 1 else ratio.high
    return 100 * (max(nearest, 1 / nearest) - 1) if nearest > 0 else math.inf, value


def _sized(size: Size) -> str:
    interval = f" [{size.low_percent:.3g}, {size.high_percent:.3g}]"
    return f"{size.percent:.3g} %" + (interval if math.isfinite(size.high_percent) else "")


def _texts(effects: pd.DataFrame, texts: Sequence[str]) -> pd.Series:
    """Return a column of texts, also where there is none."""
    return pd.Series(texts, effects.index, dtype=str)


def _key(levels: Side) -> tuple[Any, ...]:
    return tuple(_level(levels.get(name)) for name in factors.names())


def _level(level: Any) -> Any:
    """Return a level so that 1 and 1.0, None and NaN are the same."""
    if level is None or level != level:
        return None
    return level if isinstance(level, str) else float(level)


def _differ(one: Side, other: Side, factor: str) -> bool:
    return bool(_level(one.get(factor)) != _level(other.get(factor)))


def _or(value: float, other: float) -> float:
    return value if math.isfinite(value) else other
