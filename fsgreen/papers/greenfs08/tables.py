"""Tables 1 to 6 of greenfs08: each printed number beside what comes of it here."""

from __future__ import annotations

import pandas as pd

from fsgreen.analysis.tables import write_all
from fsgreen.papers.greenfs08.published import saving_percent
from fsgreen.papers.greenfs08.reference import DISKS, Printed
from fsgreen.papers.greenfs08.virtual import Simulated, read
from fsgreen.units import HOURS_A_YEAR

NOTHING = "not here"

MARKS = {True: "yes", False: "no"}

HERE = {
    "hierarchical_cdp": "every version is kept; none is thinned out by its age",
    "all_data_cdp": "every change goes to the server, which keeps each version",
    "small_seek_time": "simulated: the start of a program, in the campaign's figure 5",
    "power": "simulated: the storage of each class, in a figure",
    "noise": "not measured",
    "shocks": "simulated: spin-ups on both ways of table 5",
}
"""What this project has on each benefit of table 6."""


def write_tables(campaign: str, printed: Printed) -> None:
    """Write tables 1 to 6 of a campaign, as CSV and TeX."""
    write_all(campaign, {name: (title, made) for name, title, made in tables(printed, read())})


def tables(printed: Printed, days: Simulated | None) -> list[tuple[str, str, pd.DataFrame]]:
    """Return the name, title and rows of tables 1 to 6, as texts.

    `days` is what was simulated; without it those cells say so.
    """
    return [
        ("table1", "Table 1: a year of a disk; recomputed from print", costs(printed)),
        ("table2", "Table 2: moving data; the disks here are simulated", ways(printed, days)),
        ("table3", "Table 3: traces; the weeks here are generated", traces(printed, days)),
        ("table4", "Table 4: idle power; savings recomputed from print", idle(printed)),
        ("table5", "Table 5: ways; GreenFS's side is simulated", trips(printed, days)),
        ("table6", "Table 6: benefits, and what there is here", benefits(printed)),
    ]


def costs(printed: Printed) -> pd.DataFrame:
    """Return table 1 with the cost of a year, as printed and recomputed."""
    rows = []
    for device, row in printed.costs.iterrows():
        power_kw = row["power_w"] * row["cooling_ups_multiplier"] / 1000
        cost_usd = power_kw * HOURS_A_YEAR * row["electricity_price_usd_per_kwh"]
        rows.append(
            {
                "device": device,
                "price (USD)": f"{row['unit_cost_usd']:g}",
                "W": f"{row['power_w']:g} x {row['cooling_ups_multiplier']:g}",
                "a year (USD), printed": f"{row['power_cost_usd_per_year']:g}",
                "recomputed": f"{cost_usd:.2f}",
            }
        )
    return pd.DataFrame(rows)


def ways(printed: Printed, days: Simulated | None) -> pd.DataFrame:
    """Return table 2, and of each disk how far its simulation is from equation 1 at most."""
    rows = []
    for name, way in printed.ways.items():
        off = NOTHING
        if days is not None and name in DISKS:
            of_disk = days.transfers[days.transfers["disk"] == DISKS[name]]
            ratios = of_disk["energy_j"] / of_disk["equation_j"] - 1
            off = f"{100 * ratios.abs().max():.2g} %"
        rows.append(
            {
                "device": name,
                "start-up (J)": f"{way.startup_j:g}",
                "W": f"{way.power_w:g}",
                "MB/s": f"{way.bandwidth_mb_s:g}",
                "J/MB": f"{way.per_mb_j:.4f}",
                "simulated, off equation 1 by at most": off,
            }
        )
    return pd.DataFrame(rows)


def traces(printed: Printed, days: Simulated | None) -> pd.DataFrame:
    """Return table 3 with the rates of the generated weeks."""
    rows = []
    for name, row in printed.traces.iterrows():
        rate = row["operations"] / (row["duration_h"] * 3600)
        generated = dict.fromkeys(("ops/s", "updates", "requests/s to the server"), NOTHING)
        if days is not None:
            sums = days.weeks[days.weeks["trace"] == name].sum(numeric_only=True)
            generated = {
                "ops/s": f"{sums['work_ops'] / sums['duration_s']:.3g}",
                "updates": f"{100 * sums['updates_count'] / sums['work_ops']:.3g} %",
                "requests/s to the server": f"{sums['requests_count'] / sums['duration_s']:.3g}",
            }
        rows.append(
            {
                "trace": name,
                "ops/s, printed": f"{rate:.3g}",
                "updates, printed": f"{row['update_ops_percent']:g} %",
                "working set (MB)": f"{row['working_set_mb']:g}",
                **{f"{what}, generated": value for what, value in generated.items()},
            }
        )
    return pd.DataFrame(rows)


def idle(printed: Printed) -> pd.DataFrame:
    """Return table 4 with the savings that its watts allow, by their rounding."""
    rows = []
    for system, row in printed.idle.iterrows():
        known = pd.notna(row["greenfs_power_w"])
        low, high = saving_percent(printed, str(system)) if known else (0.0, 0.0)
        rows.append(
            {
                "system": system,
                "with its disk (W)": f"{row['original_power_w']:g}",
                "disk off (W)": f"{row['greenfs_power_w']:g}" if known else "",
                "saving, printed": f"{row['savings_percent_printed']:g} %" if known else "",
                "recomputed": f"{low:.1f} to {high:.1f} %" if known else "",
            }
        )
    return pd.DataFrame(rows)


def trips(printed: Printed, days: Simulated | None) -> pd.DataFrame:
    """Return table 5 with the spin-ups of a disk that GreenFS's policy lets sleep."""
    stops = {} if days is None else days.trips.set_index("trip")["disk_stops_count"].to_dict()
    return pd.DataFrame(
        [
            {
                "way": name,
                "s": f"{row['trip_time_s']:g}",
                "network": f"{row['network_available_percent']:g} %",
                "protected, APS": f"{row['shock_protected_aps_percent']:g} %",
                "GreenFS": f"{row['shock_protected_greenfs_percent']:g} %",
                "stops, APS": f"{row['disk_stops_aps']:g}",
                "stops, GreenFS": f"{row['disk_stops_greenfs']:g}",
                "simulated spin-ups": f"{stops[name]:g}" if name in stops else NOTHING,
            }
            for name, row in printed.trips.iterrows()
        ]
    )


def benefits(printed: Printed) -> pd.DataFrame:
    """Return table 6 with what there is here on each benefit."""
    return pd.DataFrame(
        [
            {
                "benefit": str(name).replace("_", " "),
                **{group: MARKS[bool(row[group])] for group in printed.benefits.columns},
                "here": HERE[str(name)],
            }
            for name, row in printed.benefits.iterrows()
        ]
    )
