"""Columns that tables of a campaign have beside those of factors and of a study's metrics.

A factor is a column of most tables, so none may have the name of another column.
"""

from __future__ import annotations

from collections.abc import Mapping

ABOUT = ("campaign", "trial", "block", "order", "started_s")
"""What tells a trial from others in `trials.csv`."""

CPU_STATES = ("user", "system", "iowait", "idle", "steal")
CPU_SHARES = tuple(f"cpu_{state}_percent" for state in CPU_STATES)

QUANTILES: Mapping[str, float] = {
    "latency_p50_s": 0.5,
    "latency_p95_s": 0.95,
    "latency_p99_s": 0.99,
    "latency_p999_s": 0.999,
    "latency_max_s": 1.0,
}
"""Columns of `latency.csv`, and the quantile that each has."""

LATENCIES = {name: level for name, level in QUANTILES.items() if level <= 0.99}
"""Those of `trials.csv` and `cells.csv`."""

GEOMETRY: Mapping[str, str] = {
    "block_b": "block_b",
    "inode_b": "inode_b",
    "agcount": "allocation_groups_count",
    "blocks_per_group": "group_blocks_count",
}
"""Columns for what is read back from a file system after mkfs."""

STATE = (
    *("device_read_percent", "device_write_percent", "device_request_s", "device_busy_percent"),
    *("resident_percent", "files_b", "memory_limit_b", "data_over_memory_x", "events_count"),
    *GEOMETRY.values(),
)
"""What a trial's own counters tell of the state that it was in (rule 45)."""

ERROR_TERMS = ("gain", "constant", "quantisation", "edges")
"""Of an error budget, those of readings that the host stamps as they come: not that of a clock."""

MEASURED = (
    *("boundary", "duration_s", "work_ops", "throughput_ops_s", "bandwidth_b_s", "read_b"),
    *("write_b", "device_read_b", "device_write_b", "energy_j", "power_w", "idle_power_w"),
    *("idle_power_before_w", "idle_power_after_w", "energy_above_idle_j", "efficiency_ops_j"),
    *CPU_SHARES,
    *(*LATENCIES, "flush_duration_s", *STATE, "dirty_before_flush_b"),
    *("dirty_after_flush_b", "steady", "steady_power"),
    *(f"error_{term}_j" for term in ERROR_TERMS),
    *("workload_cpu_s", "harness_cpu_percent", "settle_s"),
)
"""What `trials.csv` has of every trial."""

OF_METER = ("energy_{}_j", "power_{}_w", "boundary_{}")
"""The formats of the columns of each meter in `trials.csv`."""

METERS = ("system", "disk")
"""Meters that every table of trials has columns of, empty where there are none."""

WINDOWS = "windows_count"
"""What `trials.csv` has of trials in windows alone."""

OF_SSD = ("host_written_b", "flash_programmed_b", "flash_programmed_percent")
"""What `trials.csv` has of trials on a simulated SSD."""

SERIES = ("trial", "time_s", "throughput_ops_s", "power_w")
OF_WINDOW = ("order", "duration_s", "cpu_work_s", "cpu_steal_percent", "core_clock_hz")
"""What `series.csv` has of windows."""

LATENCY = ("flowop", "operation", "work_ops", *QUANTILES)
FINISHES = ("trial", "rank", "ended_s")
POWER_OVER_TIME = ("trial", "meter", "boundary", "time_s", "power_w")

CELLS = (
    *("boundary", "n", "enough", "idle_power_w", "harmonic_throughput_ops_s", "normality_p"),
    *("interval_to_read", "shape", "skewness_p", "dip_p", "studentised_low_ops_s"),
    *("studentised_high_ops_s", "interval_note", "coverage_percent", "starred", "cv_percent"),
    *("range_percent", "throughput_p5_ops_s", "throughput_p95_ops_s", "half_width_percent"),
    *("target_met", "needed_count", "trend_tau_x", "trend_p", "trend_percent", "state"),
    *("steady_percent", "power_state"),
    *(
        f"{centre}_throughput{end}_ops_s"
        for centre in ("mean", "median")
        for end in ("", "_low", "_high")
    ),
)
"""What `cells.csv` has beside means of columns of `trials.csv`."""

TESTED = (
    *("change_percent", "change_low_percent", "change_high_percent"),
    *("difference_p", "difference_holm_p", "equivalence_p", "equivalence_holm_p"),
    *("bound_percent", "outcome"),
)
"""The size of a change, with its tests of difference and of equivalence."""

EFFECTS = (
    *("boundary", "ratio_x", "ratio_low_x", "ratio_high_x", *TESTED, "model", "model_note"),
    *("bootstrap_low_x", "bootstrap_high_x", "lag1_x", "lag1_p", "widened_x", "coverage_percent"),
)
"""What `effects.csv` says of a pair of cells."""

FIRST: Mapping[str, str] = {
    "ratio_x": "first_ratio_x",
    "ratio_low_x": "first_low_x",
    "ratio_high_x": "first_high_x",
    "outcome": "first_outcome",
}
"""Columns of `effects.csv`, and the names of the same columns for the trials measured first."""

GATE = ("gate", "confound", "confound_percent", "gate_reason")
"""What `effects.csv` says of confounds."""

PAIR = ("first", "second", "expected", "together", "over_best")

INTERACTIONS = (
    *("term", "aliases", "clear", "n", "boundary", *TESTED),
    *(f"{name}{part}_percent" for name in PAIR for part in ("", "_low", "_high")),
    "best_alone",
)
"""What `interactions.csv` says of a term of a design."""

_TABLES: Mapping[str, tuple[str, ...]] = {
    "trials.csv": (
        *(*ABOUT, *MEASURED, WINDOWS, *OF_SSD),
        *(column.format(meter) for column in OF_METER for meter in METERS),
    ),
    "series.csv": (*SERIES, *OF_WINDOW),
    "latency.csv": LATENCY,
    "finishes.csv": FINISHES,
    "power_over_time.csv": POWER_OVER_TIME,
    "cells.csv": CELLS,
    "effects.csv": ("kind", "metric", *EFFECTS, *FIRST.values(), *GATE),
    "interactions.csv": ("design", *INTERACTIONS),
    "tables that the analysis makes for itself": (
        "cell",
        "label",
        "run",
        "above",
        "below",
        "upper_ns",
    ),
}


def table_with(name: str) -> str:
    """Return the table that has a column of this name in every study; empty if none has."""
    return next((table for table, columns in _TABLES.items() if name in columns), "")
