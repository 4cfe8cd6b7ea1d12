"""The tables of sun14: 1 to 3 as printed beside what is here, every pair, leaders and changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsgreen import paths, stats
from fsgreen.analysis.cells import NOTHING, steady
from fsgreen.analysis.setup import simulated_disks
from fsgreen.analysis.tables import NOT_RUN, as_shown, change_text, interval_texts, write_all
from fsgreen.design.metrics import Metric
from fsgreen.papers.sun14.model import SLOWER, model
from fsgreen.papers.sun14.reference import PRINTED_ON, SCHEDULER_NAME, Printed, pair
from fsgreen.reduce import at, factors_of, read_identity, read_table
from fsgreen.trial import read_trial
from fsgreen.words import digits

KEY = ["workload", "file_system", "scheduler"]

OVER = "ext2"
"""The file system that the others of table 3 are compared with."""

MOVES = "no steady state"
"""What stands in place of a number of a cell whose work or power moves (rule 24)."""

NET = Metric("net_efficiency", "work_ops", "energy_above_idle_j", "ops_j")
"""Work per joule above those that the drive would have taken at rest."""

OF_DRIVES = {
    "product": "product",
    "capacity_gb": "GB",
    "flash_type": "flash",
    "controller": "controller",
    "dram_mb": "DRAM (MB)",
    "read_mb_s": "reads (MB/s)",
    "write_mb_s": "writes (MB/s)",
    "work_power_w": "W at work",
    "idle_power_w": "W at rest",
    "secure_erase": "erased before a run",
}
"""The columns of table 1 that are shown, in words."""

OF_FILES = {
    "throughput": ("iops", "ops_s", "ops/s"),
    "power": ("power_w", "w", "W"),
    "efficiency": ("ai_iops_per_w", "ops_j", "AI (ops/J)"),
}
"""By metric its column in table 3, its unit as the end of a column, and that in words."""


def write_tables(campaign: str, cells: pd.DataFrame, leaders: pd.DataFrame) -> None:
    """Write all tables of a campaign as CSV and TeX.

    `cells` are as people are shown them; `leaders` is what `cemp.table` returns.
    """
    printed, trials = Printed.load(), read_table(campaign, "trials")
    effects = read_table(campaign, "effects")
    disk = modelled(read_identity(campaign), cells)
    beside = f", and the model {disk} of SSD-I" if disk else ""
    slower = SLOWER.get(disk, 1)
    slowed = f"; here it is {slower} times slower: only ratios compare"
    write_all(
        campaign,
        {
            "table1": (f"Table 1: the drives as printed{beside}", drives(printed, disk)),
            "table2": (
                "Table 2: the workloads as printed, and as they ran here",
                workloads(printed, ran(campaign, trials)),
            ),
            "table3": (
                f"Table 3: SSD-I on the file server under CFQ{slowed if slower > 1 else ''}",
                file_server(printed, cells, effects),
            ),
            "pairs": (
                "Every pair, on a simulated SSD-I; AI is over the SSD alone",
                pairs(as_shown(with_net(cells, trials))),
            ),
            "leaders": (
                "What leads here and in print, and between which watts its power moves in a trial",
                leaders,
            ),
            "changes": (
                "Each file system over ext2, and each scheduler over CFQ",
                changes(effects),
            ),
        },
    )


def modelled(identity: Mapping[str, Any], cells: pd.DataFrame) -> str:
    """Return the model of SSD-I that a campaign ran on; "" if it ran on none or on several."""
    disks = simulated_disks(identity, cells)
    return disks[0] if len(disks) == 1 and disks[0] in SLOWER else ""


def drives(printed: Printed, disk: str) -> pd.DataFrame:
    """Return table 1 turned: a row per property, a column per drive, and the model of SSD-I.

    `disk` is what `modelled` returns; without one there is only what is printed.
    """
    known = model(disk) if disk else {}
    rows = []
    for column, words in OF_DRIVES.items():
        row = {"property": words}
        row |= {str(drive): _text(value) for drive, value in printed.table1[column].items()}
        if known:
            row |= {"simulated SSD-I": known[column].value, "known from": known[column].source}
        rows.append(row)
    return pd.DataFrame(rows)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def ran(campaign: str, trials: pd.DataFrame) -> dict[str, Mapping[str, Any]]:
    """Return the variables of each workload and its `measure_s`, as its first trial recorded them.

    The keys are the names in print.
    """
    found: dict[str, Mapping[str, Any]] = {}
    folder = paths.raw(campaign) / "trials"
    for row in trials.drop_duplicates("workload").to_dict("records"):
        variables = read_trial(folder / row["trial"]).record.work.variables
        name = row["workload"].removesuffix("-sun14")
        found[name] = {**variables, "measure_s": row["duration_s"]}
    return found


def workloads(printed: Printed, here: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return table 2, each number beside that of the campaign; `here` is what `ran` returns."""
    rows = []
    for name, row in printed.table2.iterrows():
        ours = dict.fromkeys(("files", "size", "threads", "requests", "run"), NOT_RUN)
        if (values := here.get(str(name))) is not None:
            ours = {
                "files": f"{values['nfiles']:,}",
                "size": _kib(values["filesize"]["mean"]),
                "threads": f"{values['nthreads']}",
                "requests": f"{_kib(values['iosize'])}; appends up to {_kib(values['appendsize'])}",
                "run": digits(values["measure_s"]),
            }
        rows.append(
            {
                "workload": name,
                "files": f"{row['number_of_files']:,}",
                "files, here": ours["files"],
                "mean size": f"{row['file_size_kb']:g} KB",
                "mean size, here": ours["size"],
                "threads": f"{row['number_of_threads']:g}",
                "threads, here": ours["threads"],
                "requests": _requests(row),
                "requests, here": ours["requests"],
                "run (s)": f"{row['run_time_s']:g}",
                "run (s), here": ours["run"],
                "reads : writes": row["read_write_ratio"],
            }
        )
    return pd.DataFrame(rows)


def _requests(row: pd.Series) -> str:
    """Return the sizes of requests that table 2 prints of a workload."""
    words = {"io_size_mean_kb": "mean", "io_size_read_kb": "reads", "io_size_fixed_kb": "fixed"}
    sizes = {word: row[column] for column, word in words.items() if pd.notna(row[column])}
    return "; ".join(
        f"{size_kb / 1024:g} MB {word}" if size_kb >= 1024 else f"{size_kb:g} KB {word}"
        for word, size_kb in sizes.items()
    )


def _kib(size_b: float) -> str:
    return f"{size_b / 2**20:g} MiB" if size_b >= 2**20 else f"{size_b / 2**10:g} KiB"


def file_server(printed: Printed, cells: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """Return table 3 beside ours with intervals, and what each file system has over ext2.

    `cells` and `effects` are the tables `cells.csv` and `effects.csv`.
    """
    workload, scheduler = PRINTED_ON
    rows = []
    for metric, (column, unit, words) in OF_FILES.items():
        for system, value in printed.table3[column].items():
            levels = pair(workload, str(system), scheduler)
            of_cell = cells[at(cells, levels)]
            ratio = value / printed.table3.loc[OVER, column]
            over = _over(effects, metric, levels)
            if system == OVER and len(of_cell):
                over = "1"
            rows.append(
                {
                    "number": words,
                    "file system": system,
                    "printed": f"{value:,.6g}",
                    "here": _here(of_cell, metric, unit),
                    f"over {OVER}, printed": digits(ratio),
                    f"over {OVER}, here": over,
                }
            )
    return pd.DataFrame(rows)


def _here(of_cell: pd.DataFrame, metric: str, unit: str) -> str:
    if of_cell.empty:
        return NOT_RUN
    return interval_texts(of_cell, metric, unit)[0] if steady(of_cell, metric).all() else MOVES


def _over(effects: pd.DataFrame, metric: str, levels: Mapping[str, Any]) -> str:
    """Return a ratio to `OVER` with its interval, as `effects.csv` has it."""
    baseline = {"baseline_file_system": OVER, "baseline_scheduler": levels["scheduler"]}
    found = effects[at(effects, {"metric": metric, **levels, **baseline})]
    if found.empty:
        return NOT_RUN
    row = found.iloc[0]
    if row["outcome"] == "inconsistent":
        return MOVES
    value, low, high = (row[f"ratio{end}_x"] for end in ("", "_low", "_high"))
    return digits(value) + ("" if pd.isna(low) else f" [{digits(low)}, {digits(high)}]")


def with_net(cells: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Return cells with the columns of `NET`: operations per joule above idle, with interval.

    They are empty for a cell of which a trial has no energy above that of a drive at rest.
    """
    rows = []
    for cell in cells[factors_of(cells)].to_dict("records"):
        levels = {str(name): None if pd.isna(level) else level for name, level in cell.items()}
        above, below = NET.totals(trials[at(trials, levels)])
        known = len(below) > 0 and (below > 0).all()
        ours = stats.ratio_of_totals(above, below) if known else NOTHING
        rows.append((ours.value, ours.low, ours.high))
    net = pd.DataFrame(rows, index=cells.index, columns=[*NET.columns], dtype=float)
    return cells.assign(**{name: net[name] for name in NET.columns})


def pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each cell with operations a second, watts of the SSD, and AI, as texts.

    `cells` is what `with_net` returns.
    """
    table = cells.sort_values(KEY)
    return pd.DataFrame(
        {
            "workload": table["workload"].str.removesuffix("-sun14"),
            "file system": table["file_system"],
            "scheduler": table["scheduler"].map(SCHEDULER_NAME),
            "n": table["n"].astype(str),
            "ops/s": interval_texts(table, "throughput", "ops_s"),
            "W": interval_texts(table, "power", "w"),
            "AI (ops/J)": interval_texts(table, "efficiency", "ops_j"),
            "ops/J above idle": interval_texts(table, NET.name, NET.unit),
        }
    )


def changes(effects: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of a comparison changes, in per cent, as texts."""
    keys = [key for key in ("metric", *KEY) if key in effects]
    rows = [
        {
            "workload": row["workload"].removesuffix("-sun14"),
            "metric": row["metric"],
            "pair": f"{row['file_system']} {SCHEDULER_NAME[row['scheduler']]}",
            "over": f"{row['baseline_file_system']} {SCHEDULER_NAME[row['baseline_scheduler']]}",
            "change (%)": change_text(row),
            "outcome": row["outcome"],
        }
        for row in effects.sort_values(keys).to_dict("records")
    ]
    return pd.DataFrame(
        rows, columns=["workload", "metric", "pair", "over", "change (%)", "outcome"]
    )
