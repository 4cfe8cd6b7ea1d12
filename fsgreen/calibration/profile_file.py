"""The file of profiles that a calibration writes, and how it is told on the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import audit
from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.meters.modelled import load_profile
from fsgreen.meters.modelled.activity import BY_NAME

if TYPE_CHECKING:
    import pandas as pd

    from fsgreen.meters.modelled.fit import Fit
    from fsgreen.trace import MeterInfo

HEAD = """\
# Power profiles, fitted by fsgreen calibrate. Use one as a meter in a testbed file:
#   [[meter]]
#   name = "NAME"
#   driver = "wattsup"
#   emulate = true
#   profile = "PROFILE"
#   profile_file = "THIS FILE"
# Power from a profile is always `modelled`.
"""


@dataclass(frozen=True)
class Calibration:
    """What was fitted to one meter.

    `table` has a row per step; `left_out` the error of each step's prediction from all others;
    `remarks` are on the measurement, those on the fit are in it.
    """

    name: str
    info: MeterInfo
    fit: Fit
    table: pd.DataFrame
    left_out: pd.DataFrame
    remarks: tuple[str, ...]


def require_new(out: Path) -> None:
    """Raise FsgreenError where `out` is there already or is no TOML file in a folder."""
    if out.suffix != ".toml" or not out.parent.is_dir():
        raise FsgreenError(
            "profiles are written into a .toml file in a folder that is there",
            where=out,
            next_step="--out my-machine.toml",
        )
    if out.exists():
        raise FsgreenError(
            "this file is there already",
            where=out,
            next_step="name another with --out: a profile that numbers rest on is never replaced",
        )


def write(calibrations: Sequence[Calibration], out: Path) -> None:
    """Write a profile per calibration, whole or not at all."""
    today = datetime.now(UTC).date().isoformat()
    machine = audit.audit()
    text = "\n".join(
        [HEAD, *(_profile(calibration, today, machine) for calibration in calibrations)]
    )
    with whole(out) as partial:
        partial.write_text(text, "utf-8")
        for calibration in calibrations:
            load_profile(calibration.name, partial)


def report(calibration: Calibration) -> str:
    """Return the fit, its residual and the errors of leaving one step out, as text."""
    fit = calibration.fit
    rows = [("idle_w", fit.idle_w, "all the parts at rest")]
    rows += [(name, value, BY_NAME[name].per) for name, value in fit.terms.items()]
    lines = [f"{calibration.name}: {_source(calibration, '')}"]
    lines += [
        f"  {name:22}{value:12.4g} +- {fit.errors[name]:<10.2g} {per}" for name, value, per in rows
    ]
    if fit.clock_exponent:
        lines.append(
            f"  {'clock_exponent':22}{fit.clock_exponent:12.4g}"
            f"               of the clock over {fit.clock_base_hz / 1e9:.2f} GHz"
        )
    lines.append(f"  residual {fit.residual_w:.2f} W ({fit.residual_percent:.2f} %), rms")
    lines.append("  error for a step that the fit has not seen:")
    lines.append(error_lines(calibration.left_out))
    lines += [f"  note: {remark}" for remark in (*calibration.remarks, *fit.remarks)]
    return "\n".join(lines)


def error_lines(errors: pd.DataFrame) -> str:
    """Return the columns of `prediction_errors` as text: measured power and error."""
    return "\n".join(
        f"  {row.workload:22}{row.power_w:10.2f} W{row.error_w:+10.2f} W{row.error_percent:+9.2f} %"
        for row in errors.itertuples()
    )


def _source(calibration: Calibration, date: str) -> str:
    on = f" on {date}" if date else ""
    info = calibration.info
    meter = f"{info.title}, boundary {info.boundary}"
    if info.boundary == "modelled":
        return f"self-test{on}: fitted to an emulated meter ({meter}); says nothing of a machine"
    return f"fitted{on} to {meter}"


def _profile(calibration: Calibration, date: str, machine: Mapping[str, Any]) -> str:
    fit, name = calibration.fit, _key(calibration.name)
    head: dict[str, Any] = {
        "covers": list(calibration.info.covers),
        "idle_w": fit.idle_w,
        "source": _source(calibration, date),
    }
    if isfinite(fit.disk_rate_b_s):
        head["disk_rate_b_s"] = fit.disk_rate_b_s
    if fit.clock_exponent:
        head |= {"clock_exponent": fit.clock_exponent, "clock_base_hz": fit.clock_base_hz}
    evidence = {
        "date": date,
        "self_test": calibration.info.boundary == "modelled",
        "machine": f"{machine['cpu']}, {machine['cores_count']} cores, {machine['kernel']}",
        "meter": calibration.info.source,
        "steps_count": len(calibration.table),
        "residual_w": fit.residual_w,
        "residual_percent": fit.residual_percent,
        "remarks": [*calibration.remarks, *fit.remarks],
    }
    unseen = {row.workload: row.error_w for row in calibration.left_out.itertuples()}
    return "\n".join(
        [
            *_table(name, head),
            *_table(f"{name}.terms", fit.terms),
            *_table(f"{name}.fit", evidence),
            *_table(f"{name}.fit.half_width_95", fit.errors),
            *_table(f"{name}.fit.unseen_error_w", unseen),
        ]
    )


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items()), ""]


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else _value(key)


def _value(value: Any) -> str:
    """A value as TOML has it, which differs from JSON only in what none of ours uses."""
    if isinstance(value, float):
        return repr(float(f"{value:.6g}"))
    return json.dumps(value, ensure_ascii=False)
