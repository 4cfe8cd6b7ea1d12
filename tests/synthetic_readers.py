"""Synthetic readers of simulated disks for tests of nfstricks03: never shipped, never a result."""

from dataclasses import replace

import numpy as np
import pandas as pd
import synthetic

from fsgreen import design
from fsgreen.papers.nfstricks03.readers import MIB, Runs

STUDY = design.load_study("nfstricks03")
RATE = {("wd200bb", 1): 43.0, ("ddys-t36950n", 1): 30.0, ("ddys-t36950n", 64): 30.0}
INNER = 0.66
"""Throughput of the inner partition over that of the outer."""

UNFAIR = {"n-cscan": 1.1, "none": 1.05}
"""Time of the last of several readers over that of the first, where it is not the elevator's."""


def make_plan(profile="full", blocks=5, scale=1.0):
    """The study's plan, shorter."""
    shorter = replace(STUDY.profiles[profile], blocks=blocks, scale={"sequential-readers": scale})
    return design.make_plan(replace(STUDY, profiles={profile: shorter}), profile)


def rate_mib_s(cell):
    """As nfstricks03 has it, more or less."""
    rate = RATE[cell["disk"], cell["queue_depth"]] * (1.0 if cell["partition"] == 1 else INNER)
    if cell["queue_depth"] == 64 and cell["readers"] > 1:
        rate *= 0.52
    return rate * 0.45 if cell.get("scheduler") == "n-cscan" else rate


def spread_x(cell):
    """The last reader's time over the first's."""
    if cell["readers"] == 1:
        return 1.0
    if cell["queue_depth"] == 64:
        return 1.03
    return UNFAIR.get(cell.get("scheduler"), 5.8 if cell["disk"] == "wd200bb" else 7.2)


def ended_s(cell, duration_s):
    """When each reader was done, along a straight line."""
    if cell["readers"] == 1:
        return np.array([duration_s])
    return np.linspace(duration_s / spread_x(cell), duration_s, cell["readers"])


def tables(plan, scatter=0.003, seed=0):
    """`trials` and `finishes` of a plan, as the reduction gives them."""
    rng = np.random.default_rng(seed)
    trials, finishes = [], []
    read_mib = 256 * plan.profile.scale["sequential-readers"]
    for planned in plan.trials:
        cell = planned.cell
        duration_s = read_mib / rate_mib_s(cell) * np.exp(rng.normal(0, scatter))
        levels = plan.levels(cell)
        row = synthetic.row(planned, levels, 3 * cell["readers"] / duration_s, 250.0, "modelled")
        trials.append(
            row
            | {
                "duration_s": duration_s,
                "work_ops": 3 * cell["readers"],
                "bandwidth_b_s": read_mib * MIB / duration_s,
                "files_b": read_mib * MIB,
            }
        )
        finishes += [
            {"trial": planned.trial, "rank": rank, "ended_s": at_s}
            for rank, at_s in enumerate(ended_s(cell, duration_s), start=1)
        ]
    return pd.DataFrame(trials), pd.DataFrame(finishes)


def runs(clock="real time", profile="full", scale=1.0, **frame):
    """Runs of the study by a clock."""
    plan = make_plan(profile, scale=scale)
    return Runs(clock, *tables(plan, **frame), scale)


def write_raw(name, plan):
    """Whole trial folders whose readers end as `ended_s` says, in 10 s."""
    return synthetic.write_raw(name, plan, kind="simdisk", workload=_workload)


def _workload(planned, ops):
    at_s = ended_s(planned.cell, 10.0).tolist()
    readers = {"process": "reader", "thread": "reader", "work_ops": [3] * len(at_s)}
    return {
        **synthetic.workload(planned, ops),
        "variables": {"readers": planned.cell["readers"]},
        "threads": [readers | {"ended_s": at_s}],
    }
