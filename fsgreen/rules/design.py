"""Rules 1 to 6: was the campaign planned, and was the plan carried out?"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping

from fsgreen import stats
from fsgreen.design import Plan, PlannedTrial, derive_seed
from fsgreen.reduce import due_trials, factors_of
from fsgreen.rules import subsets
from fsgreen.rules.answer import Answer, Judge, fired, named_trials, quiet, unknown
from fsgreen.rules.evidence import Evidence
from fsgreen.trial import TrialRecord
from fsgreen.words import listed, plural


def declared_first(evidence: Evidence) -> Answer:
    """Rule 1: the plan is complete and older than the data, and every record belongs to it."""
    plan, identity, plan_hash = evidence.plan, evidence.identity, evidence.plan.hash
    records = [*evidence.records, *evidence.invalid]
    planned = {entry.trial: entry for entry in plan.trials}
    foreign = [
        record.trial
        for record in records
        if record.plan_hash != plan_hash or not _as_planned(record, planned)
    ]
    begun_unix_s = identity["started_unix_s"]
    early = [record.trial for record in records if record.clock.unix_s < begun_unix_s]
    if not plan.constants or plan.baseline not in plan.cells:
        return fired("the plan declares no constants, or not the cell that is its baseline")
    if identity["plan_hash"] != plan_hash:
        return fired("the campaign was begun under another plan")
    if foreign:
        return fired(
            f"{len(foreign)} of {len(records)} trials are not of the plan: {listed(foreign)}"
        )
    if early:
        return fired(f"older than the campaign: {plural(len(early), 'trial')}, {listed(early)}")
    return quiet(
        f"plan {plan_hash[:12]} in all {len(records)} records; {len(plan.cells)} cells, "
        f"{len(plan.constants)} constants, {plural(len(plan.exclusions), 'exclusion')}"
    )


def trial_is_the_unit(evidence: Evidence) -> Answer:
    """Rule 2: n counts trials, and each trial made its own file system and ran all phases."""
    needed = {"prepare", "idle", "warmup", "measure"}
    partial = [
        record.trial
        for record in evidence.records
        if needed - {phase.name for phase in record.phases}
    ]
    old = [record.trial for record in evidence.records if not record.mount.get("mkfs")]
    counted = evidence.trials.groupby([*factors_of(evidence.trials), "boundary"], dropna=False)[
        "trial"
    ].nunique()
    if sorted(counted) != sorted(evidence.cells["n"]):
        return fired("n in cells.csv is not the number of trials of each cell")
    if len(evidence.effects) and evidence.effects["n"].max() > evidence.trials["block"].nunique():
        return fired("n in effects.csv is more than there are blocks")
    if partial:
        return fired(f"a phase is lacking in {named_trials(partial)}")
    if old:
        return fired(
            f"no file system was made for {len(old)} of {len(evidence.records)} trials: "
            f"{listed(old)}"
        )
    return quiet(f"{len(evidence.records)} trials, each with mkfs, mount, warm-up and idle phases")


def complete_random_blocks(evidence: Evidence) -> Answer:
    """Rule 3: the order follows the seed, no due trial is missing, and each ran within its block.

    A block beyond the minimum that was not begun is a matter of rule 27.
    """
    plan = evidence.plan
    measured = {record.trial for record in evidence.records}
    begun = max([plan.profile.blocks, *(record.block for record in evidence.records)])
    due = {entry.trial for entry in due_trials(plan, evidence.trials) if entry.block <= begun}
    missing = sorted(due - measured)
    if not _follows_its_seed(plan):
        return fired(f"the order of the blocks is not that of seed {plan.seed}")
    done = f"{len(measured & due)} of {len(due)} trials that are due"
    if missing:
        return fired(f"{done}: {len(missing)} missing, {listed(missing)}")
    if apart := _measured_apart(evidence):
        return fired(
            f"{done}, {len(apart)} of them apart from the rest of the block: {listed(apart)}"
        )
    if len({entry.block for entry in plan.trials}) < 2:
        return unknown("one block cannot show that its order is that of the seed")
    return quiet(f"{done}, each block whole and in the order of seed {plan.seed}")


def baseline_in_every_block(evidence: Evidence) -> Answer:
    """Rule 4: each block that was begun has a trial of the baseline."""
    base = evidence.plan.baseline.to_json()
    blocks = {record.block for record in evidence.records}
    without = blocks - {record.block for record in evidence.records if dict(record.cell) == base}
    label = evidence.plan.baseline.label
    if without:
        return fired(f"no {label} in block {listed(map(str, sorted(without)))} of {len(blocks)}")
    return quiet(f"{label} in each of {len(blocks)} blocks")


def variance_components(evidence: Evidence) -> Answer:
    """Rule 5: blocks are not the largest component of the variance of throughput or power.

    It fires only if the component also exceeds the plan's bound of equivalence.
    """
    trials, plan = evidence.trials, evidence.plan
    complete = trials[trials["block"] <= plan.profile.blocks]
    keyed = complete.assign(cell_count=complete.groupby(factors_of(trials), dropna=False).ngroup())
    bound_percent = plan.bounds["equivalence_percent"]
    texts, apart = [], False
    for name, metric in {"throughput": "throughput_ops_s", "power": "power_w"}.items():
        table = keyed.pivot_table(metric, index="cell_count", columns="block").dropna()
        components = stats.variance_components(table.to_numpy())
        if not math.isfinite(components.block_percent):
            return unknown("it takes two cells and two blocks to tell blocks from trials")
        apart |= bound_percent < components.block_percent > components.trial_percent
        texts.append(
            f"{name}: {components.block_percent:.2g} % between blocks, "
            f"{components.trial_percent:.2g} % between trials, so that another "
            f"{components.buys_most} buys most"
        )
    text = "; ".join([*texts, _devices(evidence)])
    return fired(text) if apart else quiet(text)


def subsets_have_reasons(evidence: Evidence) -> Answer:
    """Rule 6: an exclusion of the plan gives a reason for all that was left out or made smaller."""
    plan = evidence.plan
    if bare := [entry for entry in plan.exclusions if not (entry.get("what") and entry.get("why"))]:
        return fired(f"{len(bare)} of {len(plan.exclusions)} exclusions have no reason")
    scaled = {name: factor for name, factor in plan.profile.scale.items() if factor != 1}
    scales = ", ".join(f"{name} at {factor:g}" for name, factor in scaled.items())
    text = f"{plural(len(plan.exclusions), 'exclusion')}, each with its reason" + (
        f"; scaled: {scales}" if scaled else ""
    )
    if silent := subsets.without_reason(plan, evidence.study):
        return fired(f"{text}; for profile {plan.profile.name} none speaks of {'; '.join(silent)}")
    if evidence.study is None:
        return unknown(f"{text}; studies/{plan.study}.yaml, which says what there was, is not here")
    return quiet(text)


def _devices(evidence: Evidence) -> str:
    """Return in words on how many devices the trials ran.

    Each cell ran on one device, unless testbeds share the blocks.
    """
    testbeds = {*evidence.testbeds.values()}
    if len(testbeds) > 1:
        return (
            f"{len(testbeds)} testbeds, each block on one of them: what lies between them is in "
            "that between blocks"
        )
    placed = evidence.trials.reindex(columns=["disk", "flash"])
    on_disk = placed.loc[placed["flash"].isna(), "disk"]
    devices = sorted(map(str, on_disk.dropna().unique()))
    if on_disk.isna().any():
        devices.append("the testbed's own")
    devices += sorted(f"flash {name}" for name in placed["flash"].dropna().unique())
    if len(devices) == 1:
        return "one device"
    return (
        f"{len(devices)} devices ({listed(devices)}), each cell on one of them: no component "
        "between devices can be told"
    )


def _as_planned(record: TrialRecord, planned: Mapping[str, PlannedTrial]) -> bool:
    entry = planned.get(record.trial)
    return entry is not None and (
        entry.cell.to_json() == record.cell
        and (entry.block, entry.order, entry.seed) == (record.block, record.order, record.seed)
    )


def _follows_its_seed(plan: Plan) -> bool:
    """Return whether undoing each block's shuffle gives the same list of cells every time.

    The plan does not have the list before the shuffle, but it must be the same for all blocks.
    """
    before = {tuple(_unshuffled(plan, block)) for block in {t.block for t in plan.trials}}
    return len(before) == 1


def _unshuffled(plan: Plan, block: int) -> Iterator[str]:
    entries = sorted((t for t in plan.trials if t.block == block), key=lambda t: t.order)
    places = list(range(len(entries)))
    random.Random(derive_seed(plan.seed, "order", block)).shuffle(places)
    for _, entry in sorted(zip(places, entries, strict=True), key=lambda pair: pair[0]):
        yield entry.cell.label


def _measured_apart(evidence: Evidence) -> list[str]:
    """Return the trials that ran while another block was under way, or out of their order."""
    # Testbeds that share the blocks measure side by side.
    in_time = sorted(evidence.records, key=lambda record: (record.campaign, record.clock.unix_s))
    runs = [list(run) for _, run in itertools.groupby(in_time, key=lambda r: r.block)]
    longest = {run[0].block: run for run in sorted(runs, key=len)}
    home = {record.trial for run in longest.values() for record in run}
    swapped = {
        after.trial
        for run in longest.values()
        for before, after in itertools.pairwise(run)
        if after.order < before.order
    }
    return [r.trial for r in in_time if r.trial not in home or r.trial in swapped]


JUDGES: Mapping[int, Judge] = {
    1: declared_first,
    2: trial_is_the_unit,
    3: complete_random_blocks,
    4: baseline_in_every_block,
    5: variance_components,
    6: subsets_have_reasons,
}
