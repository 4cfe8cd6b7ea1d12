"""Which rules of the statistics were checked on a campaign, and which of them fired."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.design import Plan
from fsgreen.papers.effects import LEVEL
from fsgreen.reduce import CELL, cell_label
from fsgreen.trial import Trial

Row = tuple[int, str, bool | None, str]
"""Rule, question, whether it held (None: cannot tell), and what was found."""

DAGGER_PERCENT = 40
"""Coefficient of variation from which fast10 marks a cell in table 2."""


def trust_table(
    trials: pd.DataFrame,
    cells: pd.DataFrame,
    plan: Plan,
    records: Sequence[Trial],
    invalid: Sequence[Trial],
    by_offset: pd.DataFrame,
) -> pd.DataFrame:
    """Return a row per rule: whether it held, and the numbers that say so.

    Parameters
    ----------
    trials, cells : DataFrame
        The tables `trials.csv` and `cells.csv`.
    plan : Plan
        What was to be measured.
    records, invalid : sequence of Trial
        The trials that count and those that broke a rule while they were measured.
    by_offset : DataFrame
        Bandwidth of the bare testbed by place, `offset_b` and `bandwidth_b_s`; may be empty.
    """
    rows = [
        *_design(trials, plan),
        *_checks(records, invalid),
        *_energy(trials),
        *_steadiness(trials, cells),
        *_numbers(cells, plan.bounds),
        _upper_bound(trials, by_offset),
    ]
    table = pd.DataFrame(rows, columns=["rule", "question", "held", "detail"])
    table["held"] = table["held"].map({True: "yes", False: "no", None: "cannot tell"})
    return table.sort_values("rule", kind="stable").assign(rule=table["rule"].map("{:02d}".format))


def _design(trials: pd.DataFrame, plan: Plan) -> Iterator[Row]:
    missing = {entry.trial for entry in plan.trials} - set(trials["trial"])
    yield 1, "every trial carries the hash of the plan", True, f"plan {plan.hash[:12]}"
    yield (
        3,
        "blocks are complete and their order is random",
        not missing,
        f"{len(trials)} of {len(plan.trials)} planned trials, seed {plan.seed}",
    )
    base = plan.baseline
    has_base = (
        (trials["workload"] == base.workload)
        & (trials["file_system"] == base.file_system)
        & (trials["option"] == base.option)
        & trials["load_ops_s"].isna()
    )
    blocks = trials["block"].nunique()
    with_base = trials[has_base]["block"].nunique()
    yield 4, f"{base.label} in every block", with_base == blocks, f"{with_base} of {blocks} blocks"
    for metric in ("throughput_ops_s", "power_w"):
        wide = trials.pivot_table(metric, index=CELL[:3], columns="block", dropna=False)
        found = stats.variance_components(wide.dropna().to_numpy())
        detail = "one cell or one block cannot tell"
        if math.isfinite(found.block_percent):
            detail = (
                f"{found.block_percent:.2g} % between blocks, {found.trial_percent:.2g} % between "
                f"trials: another {found.buys_most} buys most"
            )
        name = metric.rpartition("_ops")[0] or "power"
        known = True if math.isfinite(found.block_percent) else None
        yield 5, f"where {name} scatters", known, detail


def _checks(records: Sequence[Trial], invalid: Sequence[Trial]) -> Iterator[Row]:
    questions = {
        7: "caches were cold",
        9: "the machine is the same at both ends of a trial",
        10: "no other program was in the way",
        11: "power was back in the idle band before a trial",
        13: "power readings are regular and whole",
        14: "no sentinel among the power readings",
        16: "constant and edge errors are a small share of the energy",
        20: "work is whole and capturing costs little",
        21: "the same meters all along",
    }
    seen: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        for check in record.record["checks"]:
            seen.setdefault(check["rule"], []).append(check)
    for rule, checks in sorted(seen.items()):
        broken = [check["detail"] for check in checks if not check["ok"]]
        detail = "; ".join(broken[:3]) if broken else f"{len(checks)} checks"
        yield rule, questions.get(rule, "checked in each trial"), not broken, detail
    reasons = sorted({str(trial.record["reason"]).split(":")[0] for trial in invalid})
    detail = f"{len(invalid)} set aside" + (f" ({', '.join(reasons)})" if reasons else "")
    yield 32, "no trial is deleted: those that broke a rule are kept apart", True, detail


def _energy(trials: pd.DataFrame) -> Iterator[Row]:
    shares = {
        name: 100 * (trials[f"error_{name}_j"] / trials["energy_j"]).max()
        for name in ("gain", "constant", "quantisation", "edges")
    }
    detail = ", ".join(f"{name} {share:.2g} %" for name, share in shares.items())
    yield 15, "error budget, largest share of a trial's energy", True, detail
    idle = trials.groupby("block")["idle_power_w"].mean()
    yield (
        18,
        "idle power in every block",
        bool(idle.notna().all()),
        f"{idle.min():.4g} W to {idle.max():.4g} W",
    )
    boundaries = sorted(trials["boundary"].unique())
    modelled = "; no verdict on power rests on it" if boundaries == ["modelled"] else ""
    yield 19, "one power boundary", len(boundaries) == 1, ", ".join(boundaries) + modelled
    yield 22, "every raw file has the hash in its record", True, f"{len(trials)} trials"


def _steadiness(trials: pd.DataFrame, cells: pd.DataFrame) -> Iterator[Row]:
    counts = trials["steady"].value_counts()
    detail = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    settled = None if set(counts.index) == {"too short"} else "no steady state" not in counts
    yield 23, "throughput is steady inside each trial", settled, detail
    yield _listed(24, "no cell is inconsistent", cells[cells["state"] == "inconsistent"])
    tested = cells[cells["trend_p"].notna()].copy()
    tested["trend_holm_p"] = stats.holm(list(tested["trend_p"]))
    drifting = tested[tested["trend_holm_p"] < LEVEL]
    yield _listed(25, "no cell drifts over the blocks", drifting, len(tested))


def _numbers(cells: pd.DataFrame, bounds: Mapping[str, float]) -> Iterator[Row]:
    yield _listed(26, f"at least {bounds['minimum_trials']} trials", cells[~cells["enough"]])
    target = f"95 % interval within {bounds['ci_half_width_percent']:g} % of the mean"
    yield _listed(27, target, cells[~cells["target_met"]])
    wide = cells[~cells["target_met"] & cells["needed_count"].notna()]
    known = cells["needed_count"].notna().any()
    worst = f"up to {int(wide['needed_count'].max())} trials" if len(wide) else "no cell needs more"
    question = "trials that the target would need"
    yield 28, question, True if known else None, worst if known else "one trial cannot tell"
    skewed = cells[cells["normality_p"] < LEVEL]
    tested = int(cells["normality_p"].notna().sum())
    yield _listed(31, "trials look normal, so that the t interval holds", skewed, tested)
    daggers = cells[cells["cv_percent"] > DAGGER_PERCENT]
    tested = int(cells["cv_percent"].notna().sum())
    yield _listed(33, f"coefficient of variation below {DAGGER_PERCENT} %", daggers, tested)


def _upper_bound(trials: pd.DataFrame, by_offset: pd.DataFrame) -> Row:
    question = "no trial moves more bytes than the device: above it, memory answered"
    if by_offset.empty:
        return 42, question, None, "the testbed was not probed"
    device_b_s = by_offset.groupby("offset_b")["bandwidth_b_s"].median().max()
    above = trials[trials["bandwidth_b_s"] > device_b_s]
    of = ", ".join(sorted(above["workload"].unique()))
    fastest_b_s = trials["bandwidth_b_s"].max()
    detail = (
        f"at most {fastest_b_s / 2**20:.0f} MiB/s, device {device_b_s / 2**20:.0f} MiB/s; "
        f"{len(above)} of {len(trials)} trials above it" + (f" ({of})" if of else "")
    )
    return 42, question, above.empty, detail


def _listed(rule: int, question: str, found: pd.DataFrame, tested: int | None = None) -> Row:
    """Return a row that lists the cells found; with none tested it cannot tell."""
    if tested == 0:
        return rule, question, None, "too few trials"
    labels = [cell_label(cell) for cell in found.to_dict("records")]
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return rule, question, not labels, ", ".join(labels[:3]) + more if labels else "none"
