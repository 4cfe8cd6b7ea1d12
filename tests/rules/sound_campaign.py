"""A synthetic campaign on which every rule is quiet: what its judges see. Never a result."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import synthetic
from synthetic import edited

from fsgreen import reduce
from fsgreen.analysis import standard
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.design import Exclusion, load_study
from fsgreen.design.blocks import complete_blocks
from fsgreen.rules import gather
from fsgreen.rules.reporting import Report
from fsgreen.rules.trust import JUDGES

BLOCKS = 10
CELLS = synthetic.cells(["webserver"], ["ext3", "ext4", "xfs"])
CALM = {"governor": "performance", "turbo": "off", "smt": "off", "swap_b": 0}
AUDIT = {"kernel": "Linux 6", "cpu": "synthetic", "cores_count": 2, "speed_loops_s": 1e7, **CALM}
MOUNT = {
    "device": "/dev/loop0",
    "mkfs": ["mkfs", "/dev/loop0"],
    "mount_options": ["rw"],
    "scheduler": "none",
    "queue_depth": 1,
    "state": {
        "name": "initial",
        "written_b": 9 << 20,
        "discarded_b": 9 << 20,
        "size_b": 9 << 20,
        "left": None,
        "remembers": False,
    },
}
DETAILS = {7: "cold: 0.0 % of the files' bytes in memory", 8: "initial: 9 MiB discarded"}
CHECKED = (7, 8, 9, 10, 11, 13, 14, 16, 20, 21, 40)
BOUNDS = {**synthetic.BOUNDS, "others_percent": 5, "speed_percent": 5}
FIGURES = [
    {"offset_b": place, "pass": number, "bandwidth_b_s": 1e9 + number}
    for place in (0, 1 << 20)
    for number in range(3)
]


def make_plan(blocks=BLOCKS):
    """A plan in the order of its seed, with everything declared."""
    made = synthetic.make_plan(CELLS, blocks)
    return replace(
        made,
        constants={**made.constants, "cache": "cold", "device": "initial", "zone": "whole image"},
        bounds={**made.bounds, **BOUNDS},
        exclusions=(*made.exclusions, {"what": "full file counts", "why": "they take too long"}),
        trials=tuple(complete_blocks(CELLS, blocks, made.seed)),
    )


def make_evidence():
    """Write, reduce and gather a small campaign, then fill in what only a real one has.

    The trials' numbers are those of `synthetic.trials_frame`, at a boundary that is no model.
    """
    plan = make_plan()
    synthetic.write_raw("sound", plan, probes={"offset": FIGURES, "queue": []})
    reduce.write("sound")
    standard.write("sound")
    found = gather("sound")
    trials = make_trials(plan)
    rows = trials.set_index("trial")
    records = [
        make_record(record, number, rows.loc[record.trial])
        for number, record in enumerate(found.records)
    ]
    cells = cells_table(trials, plan.bounds)
    cells = cells.assign(shape="unremarkable", normality_p=0.5)
    effects = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), plan.bounds)
    identity = {**found.identity, "audit": AUDIT, "boundary": "wall", "meters": at_the_wall()}
    return replace(
        found,
        identity=identity,
        records=records,
        invalid=[edited(records[0], exit="invalid", reason="rule 10: others took 9 %")],
        audits={record.trial: {"start": AUDIT, "end": AUDIT} for record in records},
        trials=trials,
        cells=cells,
        effects=effects.assign(model="mixed model", model_note=""),
        series=make_series(trials),
        attached=pd.DataFrame(
            {"trial": rows.index, "energy_j": 2500.0, "error_clock_j": 1.0, "flaws": ""}
        ),
        study=make_study(plan),
    )


def make_study(plan, **matrices):
    """The study of which the plan has everything but these matrices."""
    whole = {"test": tuple(CELLS), **matrices}
    study = load_study(plan.study)
    smaller = Exclusion("full file counts", "they take too long", "scale")
    return replace(
        study,
        matrices=whole,
        profiles={"test": plan.profile},
        exclusions=(*study.exclusions, smaller),
    )


def make_trials(plan):
    """A table like trials.csv for the trials of the plan, in its order."""
    frame = synthetic.trials_frame(CELLS, BLOCKS, boundary="wall")
    names = {
        (t.cell["workload"], t.cell["file_system"], t.block): (t.trial, t.order)
        for t in plan.trials
    }
    keys = zip(frame["workload"], frame["file_system"], frame["block"], strict=True)
    frame[["trial", "order"]] = [names[key] for key in keys]
    return frame.assign(steady_power="flat")


def make_series(trials):
    """A table like series.csv in which seconds are independent and scatter as trials do."""
    rng = np.random.default_rng(3)
    rates = trials["throughput_ops_s"].to_numpy(dtype=float)[:, None]
    noise = rng.normal(1, 0.01 * np.sqrt(10), (len(trials), 10))
    names = np.repeat(trials["trial"].to_numpy(), 10)
    return pd.DataFrame({"trial": names, "throughput_ops_s": (rates * noise).ravel()})


def at_the_wall():
    """The meters of the synthetic campaign, as if they were plugged in."""
    return {name: {**meter, "boundary": "wall"} for name, meter in synthetic.METERS.items()}


def make_record(record, number, row):
    """A record as today's harness writes it: the nth trial, with the work of its row."""
    record = record.to_json()
    record["clock"] = {"monotonic_s": 30.0 * number, "unix_s": 1.8e9 + 30.0 * number}
    record["workload"] = {
        **record["workload"],
        "work_ops": int(row["work_ops"]),
        "variables": {"nthreads": 100},
        "threads": [{"process": "p", "thread": "worker", "work_ops": [100, 120]}],
    }
    record["files"] = {**record["files"], "power.raw": "0" * 64}
    checks = [{"rule": rule, "ok": True, "detail": DETAILS.get(rule, "sound")} for rule in CHECKED]
    return synthetic.record(
        **{**record, "mount": MOUNT, "boundary": "wall", "meters": at_the_wall(), "checks": checks}
    )


@cache
def make_report():
    """A report without typed numbers, and a ledger in which each claim has its verdict.

    Tests change copies of it.
    """
    claims = pd.DataFrame(
        {
            "slug": ["one", "two"],
            "verdict": ["reproduced", "not testable here"],
            "basis": ["measured", None],
            "published": ["2x", None],
            "ours": ["2.1x", None],
            "n": [5, None],
            "testbed": ["loop", None],
            "boundary": [None, None],
            "needs": [None, "a meter"],
            "states": ["device-reads", None],
        }
    )
    parts = pd.DataFrame(
        {
            "slug": ["one"],
            "part": ["xfs over ext3"],
            "verdict": ["reproduced"],
            "basis": ["measured"],
            "power_p": [0.9],
            **{"ours_x": [2.1], "ours_low_x": [2.05], "ours_high_x": [2.15]},
            **{"degrees_count": [4.0], "boundary": [None], "testbed": ["loop"]},
        }
    )
    return Report(
        {"fast10.typ": '#image("fig1.svg")'},
        claims,
        frozenset({"one", "two"}),
        parts,
        make_trials(make_plan()),
        {"elsewhere": parts.assign(ours_x=2.11, ours_low_x=2.06, ours_high_x=2.16)},
    )


def with_record(evidence, place=0, **changes):
    """The evidence with one record changed."""
    records = list(evidence.records)
    records[place] = edited(records[place], **changes)
    return replace(evidence, records=records)


def with_work(evidence, **changes):
    """The evidence with what the workload of the first record did changed."""
    return with_record(evidence, workload={**evidence.records[0].to_json()["workload"], **changes})


def with_states(evidence, **changes):
    """The evidence with the state of the device changed in the mount of each record."""
    return with_mounts(evidence, state={**MOUNT["state"], **changes})


def with_mounts(evidence, **changes):
    """The evidence with the mount of each record changed."""
    records = [edited(record, mount={**record.mount, **changes}) for record in evidence.records]
    return replace(evidence, records=records)


def with_check(evidence, rule, place=0):
    """The evidence with a check of one record failed."""
    checks = evidence.records[place].to_json()["checks"]
    checks = [{**check, "ok": check["rule"] != rule} for check in checks]
    return with_record(evidence, place, checks=checks)


def without_checks(evidence, *rules):
    """The evidence as an older harness would have recorded it, which did not check these."""
    records = [
        record.but(checks=tuple(check for check in record.checks if check.rule not in rules))
        for record in evidence.records
    ]
    return replace(evidence, records=records)


def with_plan(evidence, **changes):
    """The evidence with another plan, which all its records are of."""
    plan = replace(evidence.plan, **changes)
    records = [record.but(plan_hash=plan.hash) for record in evidence.records]
    invalid = [record.but(plan_hash=plan.hash) for record in evidence.invalid]
    identity = {**evidence.identity, "plan_hash": plan.hash}
    return replace(evidence, plan=plan, records=records, invalid=invalid, identity=identity)


def answer(number, evidence):
    """What a rule says of it."""
    return JUDGES[number](evidence)


def retabled(evidence, trials):
    """The evidence with these trials, and the tables that follow from them."""
    bounds = evidence.plan.bounds
    effects = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), bounds)
    return replace(
        evidence,
        trials=trials,
        cells=cells_table(trials, bounds).assign(shape="unremarkable"),
        effects=effects.assign(model="mixed model", model_note=""),
    )
