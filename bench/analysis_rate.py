"""How long the analysis of a large campaign takes: from raw traces to verdicts.

A campaign of fast10's full profile is made of synthetic trials with traces of 1 Hz, and as many
latencies in a trial as its web server has, in a folder of its own (`FSGREEN_DATA`). Then every step
of the pipeline runs in a process of its own, as it does there; imports are timed with it. Nothing
that is analysed here was measured.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from importlib import import_module
from multiprocessing import get_context

import numpy as np
import pandas as pd

from bench import command
from bench.rounds import Spread, met, print_row
from fsgreen import design, paths, trial
from fsgreen.campaign import trialphases
from fsgreen.meters.core.powertable import write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.trace import MeterInfo

CAMPAIGN = "synthetic"
STUDY = "fast10"
TARGET_S = 60.0
STEPS = {
    "reduce": "fsgreen.reduce",
    "confounds": "fsgreen.confounds",
    "analyse": "fsgreen.analysis.standard",
    "claims": "fsgreen.papers.judging",
    "figures": f"fsgreen.papers.{STUDY}.figures",
}
BESIDE = ("figures",)
"""No verdict rests on these."""

FLOWOPS = 15
OCTAVES = range(10, 18)
BUCKETS = 28
"""Of each octave: 3,360 rows with all flowops, as a trial of the web server has."""

HEAD = ("step", "seconds", "processor s", "peak MB", "target")
WIDTHS = (12, 24, 24, 8, 20)

SPAWN = get_context("spawn")


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.analysis_rate --trials 100 --rounds 1", rounds=1
    )
    parser.add_argument(
        "--trials", type=command.positive, default=1000, help="at least (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=command.positive, default=600, help="of a trial (default: %(default)s)"
    )
    return parser.parse_args()


def plan_of(trials: int, seconds: int) -> design.Plan:
    """Return the plan of fast10's full profile with enough blocks for so many trials."""
    study = design.load_study(STUDY)
    cells = len(design.make_plan(study, "full").cells)
    blocks = max(2, math.ceil(trials / cells))
    full = replace(study.profiles["full"], blocks=blocks, measure_s=seconds)
    return design.make_plan(replace(study, profiles={"full": full}), "full")


def info(name: str) -> MeterInfo:
    """Return a meter as of fast10: a Watts Up on its own line."""
    return MeterInfo(
        driver="wattsup",
        model="generated",
        serial=name,
        boundary="modelled",
        covers=(name,),
        rate_hz=1.0,
        range_w=1800.0,
        resolution_w=0.1,
        gain_error=0.015,
        constant_error_w=0.3,
        source="generated",
    )


METERS = {"system": info("system"), "disk": info("disk")}
MACHINE = {"kernel": "generated", "cpu": "generated", "cores_count": 2, "memory_b": 2**33}
LEVEL_W = {"system": 230.0, "disk": 14.0}


def make(plan: design.Plan) -> None:
    """Write the campaign with all its trials, by as many processes as there are cores."""
    begin(plan)
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=SPAWN) as pool:
        write = partial(write_trial, plan.hash, plan.profile)
        list(pool.map(write, plan.trials, chunksize=16))


def begin(plan: design.Plan, meters: Mapping[str, MeterInfo] = METERS) -> None:
    """Write what stands beside the trials of the campaign."""
    folder = paths.raw(CAMPAIGN)
    folder.mkdir(parents=True)
    trial.write_json(folder / "plan.json", plan.to_json())
    identity = {
        "campaign": CAMPAIGN,
        "study": plan.study,
        "plan_hash": plan.hash,
        "started_unix_s": 1.8e9,
        "idle_power_w": sum(LEVEL_W.values()),
        "idle_band_w": 1.05 * sum(LEVEL_W.values()),
        "boundary": "modelled",
        "testbed": {"kind": "loop", "in_memory": True},
        "meters": {name: asdict(meter) for name, meter in meters.items()},
        "audit": MACHINE,
    }
    trial.write_json(folder / "campaign.json", {"schema": 1, **identity})
    trial.write_json(folder / "confounds.json", {"offset": [], "queue": []})


def power(rng: np.random.Generator, end_s: float) -> Iterator[tuple[str, list[Readings]]]:
    """Yield the readings of each meter, a second apart and in its steps of power."""
    time_s = np.arange(-1.0, end_s + 2)
    for name, level_w in LEVEL_W.items():
        power_w = np.round(level_w * rng.normal(1, 0.01, len(time_s)), 1)
        energy_wh = np.round(np.cumsum(power_w) / 3600, 1)
        amperes = power_w / 120
        yield name, [Readings(time_s, power_w, np.full(len(time_s), 120.0), amperes, energy_wh)]


def write_trial(
    plan_hash: str,
    profile: design.Profile,
    planned: design.PlannedTrial,
    meters: Mapping[str, MeterInfo] = METERS,
    readings: Callable[..., Iterator[tuple[str, Iterable[Readings]]]] = power,
) -> None:
    """Write one trial: some idle seconds, the measured ones, and some idle ones again."""
    rng = np.random.default_rng([planned.block, planned.order])
    measure_s = profile.measure_s
    edges_s = np.cumsum([0.0, 4, 1, 30, 60, measure_s, 1, 30]).tolist()
    phases = tuple(
        trial.Phase(name, begin_s, end_s)
        for name, begin_s, end_s in zip(trialphases.PHASES, edges_s[:-1], edges_s[1:], strict=True)
    )
    start_s, end_s = phases[4].span_s
    writer = trial.TrialWriter(paths.raw(CAMPAIGN), planned.trial)
    writer.write_parts("power", lambda file: write_power(file, dict(readings(rng, edges_s[-1]))))
    writer.write_table("host", host(edges_s[-1]))
    ops = work(rng, planned.cell, start_s, end_s)
    writer.write_table("ops", ops)
    writer.write_table("latency", latency(rng, planned.cell["workload"]))
    audit_sha256 = writer.write_json("audit.json", {"start": MACHINE, "end": MACHINE})
    writer.keep(
        trial.TrialRecord(
            trial=planned.trial,
            study=STUDY,
            campaign=CAMPAIGN,
            profile=profile.name,
            plan_hash=plan_hash,
            cell=planned.cell.to_json(),
            block=planned.block,
            order=planned.order,
            seed=planned.seed,
            clock=trial.Clock(monotonic_s=0.0, unix_s=1.8e9),
            phases=phases,
            meters=meters,
            boundary="modelled",
            workload=trial.WorkSummary(measure_s, int(ops["work_ops"].sum())),
            settle_s=0.0,
            checks=(trial.Check(13, True, "sound"),),
            exit="ok",
            harness=trial.HarnessCost(cpu_s=0.1, cpu_percent=0.7),
            audit_sha256=audit_sha256,
        )
    )


def host(end_s: float) -> pd.DataFrame:
    """Return the counters of the host, once a second."""
    time_s = np.arange(-1.0, end_s + 2)
    shares = {"user": 0.2, "system": 0.6, "iowait": 0.3, "idle": 0.8, "steal": 0.1}
    used = {f"cpu_{state}_s": (time_s + 1) * share for state, share in shares.items()}
    return pd.DataFrame({"time_s": time_s, **used})


def work(rng: np.random.Generator, cell: design.Cell, start_s: float, end_s: float) -> pd.DataFrame:
    """Return operations per second: a rate of the cell's own, with noise."""
    own = np.random.default_rng(list(cell.label.encode())).uniform(800, 20_000)
    rate_ops_s = min(own, cell.get("load_ops_s") or math.inf) * rng.normal(1, 0.02)
    time_s = np.arange(start_s + 1, end_s + 1)
    work_ops = np.round(rate_ops_s * rng.normal(1, 0.03, len(time_s))).astype(int)
    moved = {"read_b": 4096 * work_ops, "write_b": 1024 * work_ops}
    return pd.DataFrame({"time_s": time_s, "duration_s": 1.0, "work_ops": work_ops, **moved})


def latency(rng: np.random.Generator, workload: str) -> pd.DataFrame:
    """Return a histogram for each flowop, in buckets as the engine has them."""
    lower_ns = np.ravel([2**o + np.arange(BUCKETS) * 2 ** (o - 5) for o in OCTAVES])
    width_ns = np.repeat([2 ** (o - 5) for o in OCTAVES], BUCKETS)
    names = [f"flowop-{nth}" for nth in range(FLOWOPS)]
    count = len(lower_ns)
    return pd.DataFrame(
        {
            "process": workload,
            "thread": "worker",
            "flowop": np.repeat(names, count),
            "operation": np.repeat(["read", "write", "open"] * (FLOWOPS // 3), count),
            "lower_ns": np.tile(lower_ns, FLOWOPS),
            "upper_ns": np.tile(lower_ns + width_ns, FLOWOPS),
            "work_ops": rng.integers(1, 1000, count * FLOWOPS),
        }
    )


@dataclass(frozen=True)
class Took:
    """What a step took, with the processes that it started; the peak is that of the largest."""

    wall_s: float
    cpu_s: float
    peak_b: int

    @classmethod
    def of(cls, several: Sequence[Took]) -> Took:
        """Return what steps took that follow each other."""
        walls_s, cpus_s, peaks_b = zip(*map(astuple, several), strict=True)
        return cls(sum(walls_s), sum(cpus_s), max(peaks_b))


def apart(module: str) -> Took:
    """Do one step in a process of its own."""
    begin_s = time.perf_counter()
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        cpu_s, peak_b = pool.submit(step, module).result()
    return Took(time.perf_counter() - begin_s, cpu_s, peak_b)


def step(module: str) -> tuple[float, int]:
    """Do one step; return the processor time and the peak of this process and its own."""
    import_module(module).write(CAMPAIGN)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(each.ru_utime + each.ru_stime for each in used)
    return cpu_s, 1024 * max(each.ru_maxrss for each in used)


def main() -> None:
    """Print a row for each step and one for all that verdicts rest on; the campaign is removed."""
    asked = arguments()
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        os.environ["FSGREEN_DATA"] = place
        plan = plan_of(asked.trials, asked.seconds)
        make(plan)
        print(f"{len(plan.trials)} trials of {asked.seconds} s, {len(plan.cells)} cells")
        print_row(HEAD, WIDTHS)
        steps = {}
        for name, module in STEPS.items():
            steps[name] = [apart(module) for _ in range(asked.rounds)]
            print_row(row(name, steps[name]), WIDTHS)
    towards = [took for name, took in steps.items() if name not in BESIDE]
    whole = [Took.of(each) for each in zip(*towards, strict=True)]
    fast = Spread.of(took.wall_s for took in whole).median < TARGET_S
    print_row((*row("to verdicts", whole)[:-1], f"< {TARGET_S:g} s {met(fast)}"), WIDTHS)


def row(name: str, rounds: Sequence[Took]) -> tuple[str, ...]:
    """Return what a step took in each round as cells of the table."""
    wall_s, cpu_s = (
        Spread.of(getattr(took, kind) for took in rounds) for kind in ("wall_s", "cpu_s")
    )
    peak_b = max(took.peak_b for took in rounds)
    return (name, f"{wall_s:.1f}", f"{cpu_s:.1f}", f"{peak_b / 1e6:.0f}", "")


if __name__ == "__main__":
    command.run(main)
