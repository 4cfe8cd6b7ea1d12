"""Fits a power model to the meters of a testbed file: known loads, measured; a profile a meter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen import trace
from fsgreen.calibration import exercise, profile_file, schedule
from fsgreen.calibration.model_error import profile_error
from fsgreen.calibration.profile_file import Calibration
from fsgreen.campaign.testbedfile import TestbedFile
from fsgreen.errors import FsgreenError
from fsgreen.meters import HostSampler, open_meters
from fsgreen.meters.modelled import load_profile
from fsgreen.trace import MeterInfo

if TYPE_CHECKING:
    import pandas as pd

SEED = 1
"""Of the order of the steps and of the seeks."""


def calibrate(
    place: TestbedFile,
    out: Path,
    *,
    disk: Path | None = None,
    minutes: float | None = None,
    campaign: str | None = None,
) -> list[Calibration]:
    """Fit a profile to each meter of a testbed file, write them, and print how good they are.

    A scratch file in the folder of `place` exercises the disk; `disk` is another folder, or a block
    device, which is only read. Without either no disk is exercised. Beside `out`, a new file of
    profiles, stay the raw trace (`.power.raw`) and the tables of steps (`.METER.csv`), from which
    the fit can be made again. It takes `minutes`; by default two passes over the steps. The error
    of the fit is also printed for each workload of `campaign`, which the same meters measured.

    Raises FsgreenError if no meter is named, a meter fails, the machine is busy, the time is too
    short or a load stops; or if the power does not follow the load: the tables are then kept, and
    no profile is written.
    """
    if not place.meters:
        raise FsgreenError(
            "no meter is named to calibrate a power model with",
            next_step="name one in a testbed file, see docs/meters.md, and give it with --testbed",
        )
    profile_file.require_new(out)
    with exercise.disk_target(disk or place.folder, SEED) as target:
        device = None if target is None else target.device
        meters = open_meters(place.meters, lambda: device)
        try:
            infos = {name: meter.describe() for name, meter in meters.items()}
            recording = schedule.record(
                meters,
                HostSampler(lambda: device),
                HostSampler(lambda: None),
                exercise.steps(os.cpu_count() or 1, target, SEED),
                out.with_suffix(".power.raw"),
                minutes=minutes,
                seed=SEED,
            )
        finally:
            for meter in meters.values():
                meter.close()
    tables = {name: step_table(name, info, recording) for name, info in infos.items()}
    for name, (table, _) in tables.items():
        table.to_csv(out.with_suffix(f".{name}.csv"), index=False)
    calibrations = [
        fit_steps(name, infos[name], table, remarks) for name, (table, remarks) in tables.items()
    ]
    profile_file.write(calibrations, out)
    for calibration in calibrations:
        print(profile_file.report(calibration))
    if campaign is not None:
        models = [load_profile(calibration.name, out) for calibration in calibrations]
        print(f"error for the workloads of {campaign}:")
        print(profile_file.error_lines(profile_error(models, campaign)))
    return calibrations


def step_table(
    name: str, info: MeterInfo, recording: schedule.Recording
) -> tuple[pd.DataFrame, list[str]]:
    """Return a row per step that one meter saw without a flaw, and a sentence per other one."""
    from fsgreen.meters.modelled.table import activity_table

    power = recording.power[recording.power["meter"] == name]
    sound, remarks = [], []
    for workload, start_s, end_s in recording.spans:
        if flaws := trace.check_trace(power, start_s, end_s, info.rate_hz, info=info):
            why = "; ".join(f"rule {flaw.rule}: {flaw.detail}" for flaw in flaws)
            remarks.append(f"a step {workload} is left out: {why}")
        else:
            sound.append((workload, start_s, end_s))
    if name in recording.remarks:
        remarks.append(recording.remarks[name])
    return activity_table([power], recording.host, sound), remarks


def fit_steps(name: str, info: MeterInfo, table: pd.DataFrame, remarks: list[str]) -> Calibration:
    """Fit a model to the steps that one meter saw.

    Raises FsgreenError as `fit` does, and with the remarks where they leave no step.
    """
    from fsgreen.meters.modelled.fit import fit, leave_one_out

    if table.empty:
        raise FsgreenError(
            "no step was measured without a flaw:\n    " + "\n    ".join(remarks[:5]),
            where=f"meter {name}",
            next_step="mend that (docs/meters.md), then calibrate again into another file",
        )
    return Calibration(
        name=name,
        info=info,
        fit=fit(table, resolution_w=info.resolution_w),
        table=table,
        left_out=leave_one_out(table, resolution_w=info.resolution_w),
        remarks=tuple(remarks),
    )
