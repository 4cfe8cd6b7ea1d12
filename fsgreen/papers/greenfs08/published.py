"""Claims that can be recomputed from greenfs08's own printed numbers: one function per claim."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from fsgreen.analysis.claims.ledger import Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.analysis.printed import beyond, holds, implied, inside
from fsgreen.claims import Band, Part, about
from fsgreen.papers.greenfs08.reference import DISKS, NETWORKS, Printed, crossover_mb
from fsgreen.units import HOURS_A_YEAR, S_PER_HOUR

BREAK_EVEN_S = 16
"""Of section 5.1: the shortest rest that pays for a stop of a notebook's disk."""
HUNDREDS_MB = 100.0
HALF_W = {"SERVER": 0.5, "DESKTOP": 0.05, "NOTEBOOK": 0.05, "NOTEBOOK_PRIME": 0.05}
"""Half a unit in the last place of the watts of table 4, by system."""
SMALL_MB = 1.0
"""No request of the trace was larger (section 4.2)."""
SPIKES = (10_000, 1_000, 100)
"""Requests in 30 s, at least, of the three classes of bursts in section 4.2."""


def _rounds(what: str, low: float, high: float, printed: float, half: float, unit: str) -> Part:
    """Return whether a printed number is the rounding of one between two ends."""
    span = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    meets = low <= printed + half and high >= printed - half
    return holds(f"{what}: {span} {unit}", meets, f"{printed:g} {unit}")


def _cost(device: str) -> Check:
    """Return the check of a year's electricity of a disk."""

    def check(printed: Printed, numbers: Numbers) -> Iterator[Part]:
        row = printed.costs.loc[device]
        energy_kwh = row["power_w"] * row["cooling_ups_multiplier"] * HOURS_A_YEAR / 1000
        cost_usd = energy_kwh * row["electricity_price_usd_per_kwh"]
        of_year = row["power_cost_usd_per_year"]
        yield _rounds(f"{device}, a year at full power", cost_usd, cost_usd, of_year, 0.5, "USD")
        yield beyond("price and power of disks of the time")

    return check


def _g_5y_cost(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    years = printed.method["model_parameters"]["disk_life_years"]
    for device, row in printed.costs.iterrows():
        ratio = years * row["power_cost_usd_per_year"] / row["unit_cost_usd"]
        what = f"{device}: five years of electricity over its price"
        yield inside(what, ratio, about(numbers[0]["value"]), "about 1x", "x")


def _g_hdd_share_cited(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether what table 4 saves without the disk is a share like those that are cited."""
    low, high = numbers[0]["value"], numbers[0]["value_high"]
    for system in ("DESKTOP", "NOTEBOOK", "NOTEBOOK_PRIME"):
        least, most = saving_percent(printed, system)
        what = f"{system}: {least:.3g} to {most:.3g} % less without its disk (table 4)"
        yield holds(what, most >= low and least <= high, f"{low} to {high} %")
    yield beyond("what a stopped disk still draws, which no saving has")


def saving_percent(printed: Printed, system: str) -> tuple[float, float]:
    """Return the least and the largest saving that the rounded watts of table 4 allow."""
    before_w, after_w = printed.idle.loc[system, ["original_power_w", "greenfs_power_w"]]
    half_w = HALF_W[system]
    ends = [100 * (1 - (after_w + sign * half_w) / (before_w - sign * half_w)) for sign in (1, -1)]
    return ends[0], ends[1]


def _saving(system: str) -> Check:
    """Return the check of a row of table 4."""

    def check(printed: Printed, numbers: Numbers) -> Iterator[Part]:
        value = printed.idle.loc[system, "savings_percent_printed"]
        half = 0.05 if value % 1 else 0.5
        what = f"{system}: saving by the printed watts"
        yield _rounds(what, *saving_percent(printed, system), value, half, "%")
        yield Part(f"{system} itself", "not testable here", needs="period-system")

    return check


def _g_cycles(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    method = printed.method["model_parameters"]
    rate = method["start_stop_cycles"] / (method["disk_life_years"] * HOURS_A_YEAR)
    yield _rounds("50,000 cycles in five years", rate, rate, numbers[1]["value"], 0.5, "an hour")
    yield Part("cycles that a disk survives", "not testable here", needs="data-sheets")


def _g_notebook_cycles(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    cycles = printed.method["model_parameters"]["start_stop_cycles"] * numbers[0]["value"]
    life_years = cycles * BREAK_EVEN_S / S_PER_HOUR / HOURS_A_YEAR
    what = f"{cycles:,} cycles, one in {BREAK_EVEN_S} s, in years"
    yield inside(what, life_years, Band(0, numbers[1]["value"], 0), "less than a year")
    yield Part("cycles that a notebook's disk stands", "not testable here", needs="data-sheets")


def _g_gear_raid(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    method = printed.method["model_parameters"]
    unique_gb = method["user_data_gb"] * (1 - method["redundant_share"])
    yield inside("users per disk of 1 TB", 1000 / unique_gb, about(numbers[0]["value"]), "about 50")
    yield Part("that two thirds are redundant", "not testable here", needs="duplicates")


def _g_flash_wear(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether one bandwidth gives both lives, as far as they are rounded."""
    cycles = printed.method["model_parameters"]["flash_overwrites"]
    ends = {
        kind: [4000 * cycles[kind] / (times * days * 86_400) for times in (1.5, 0.5)]
        for kind, days in (("mlc", 30), ("slc", 365))
    }
    both = max(low for low, _ in ends.values()), min(high for _, high in ends.values())
    what = "bandwidth of writes: MLC {0[0]:.3g} to {0[1]:.3g} MB/s, SLC {1[0]:.3g} to {1[1]:.3g}"
    yield holds(what.format(*ends.values()), both[0] <= both[1], "one bandwidth")
    yield Part("overwrites that flash stands", "not testable here", needs="data-sheets")


def _g_server_per_client(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    clients = numbers[1]["value"]
    low_w, high_w = numbers[0]["value"] / clients, numbers[0]["value_high"] / clients
    yield holds(
        f"{clients} clients: {low_w:g} to {high_w:g} W each; with more of them less",
        high_w == numbers[2]["value_high"] and low_w >= numbers[2]["value"],
        "1 to 4 W, 50 clients at least",
    )


def _g_reads_hundreds_mb(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield, for each disk that is named, up to which size each network of table 2 is cheaper."""
    ways = printed.ways
    for disk in ("server_hdd", "desktop_hdd"):
        sizes_mb = {network: crossover_mb(ways[disk], ways[network]) for network in NETWORKS}
        told = [
            f"{network} {'at any size' if math.isinf(size_mb) else f'up to {size_mb:.1f} MB'}"
            for network, size_mb in sizes_mb.items()
        ]
        what = f"equation 1, cheaper than a stopped {disk}: {', '.join(told)}"
        yield holds(what, max(sizes_mb.values()) >= HUNDREDS_MB, "hundreds of MB over some")


def _g_small_reads(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    disks = {disk: printed.ways[disk].energy_j(SMALL_MB) for disk in DISKS}
    networks = {name: printed.ways[name].energy_j(SMALL_MB) for name in NETWORKS}
    cheapest, dearest = min(disks, key=disks.__getitem__), max(networks, key=networks.__getitem__)
    what = (
        f"{SMALL_MB:g} MB: {disks[cheapest]:.3g} J from a stopped {cheapest}, "
        f"{networks[dearest]:.3g} J over {dearest}"
    )
    yield holds(what, disks[cheapest] > networks[dearest], "any disk above any network")


def _g_large_writes(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    network = printed.ways["gigabit_ethernet"]
    for disk in DISKS:
        alone_j = printed.ways[disk].energy_j(1000)
        both_j = alone_j + network.energy_j(1000)
        what = f"{disk}: 1 GB costs {alone_j:.4g} J, {both_j:.4g} J with the server's copy"
        yield holds(what, both_j > alone_j, "more with GreenFS")


def _g_ssh_greenfs(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    over_flash, flash = 1.024, 1.06
    what = "2.4 % over Ext3 on flash, which is 6 % over the disk"
    yield implied(numbers[0], what, over_flash * flash)
    yield Part("the compilation itself", "not testable here", needs="greenfs-trials")


def _g_ssh_greenfs_ext3flash(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    yield implied(numbers[0], "9 % over the disk, where Ext3 on flash is 6 %", 1.09 / 1.06)
    yield Part("the compilation itself", "not testable here", needs="greenfs-trials")


def _g_em_nfs_flash(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    of = {point["x"]: point["y"] for point in printed.points("5")}
    what = "27 % faster than the disk over 45 % faster than the disk"
    yield implied(numbers[0], what, of["NFS"] / of["flash"])
    yield Part("the starts themselves", "not testable here", needs="nfs-and-flash")


def _g_em_order(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    of = {point["x"]: point["y"] for point in printed.points("5")}
    what = f"disk 1, NFS {of['NFS']:g}, flash {of['flash']:g}, GreenFS {of['GreenFS']:g}"
    yield holds(what, 1 > of["NFS"] > of["flash"] == of["GreenFS"], "disk, NFS, flash as GreenFS")
    yield Part("the starts themselves", "not testable here", needs="greenfs-trials")


def _g_fits_flash(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    row = printed.traces.loc["JEFF"]
    share = row["working_set_mb"] / 1000
    yield inside("JEFF's working set over 1 GB of flash", share, Band(0, 1, -1), "fits", "x")
    what = f"{row['update_ops_percent']:g} % of JEFF's operations are updates"
    yield holds(what, row["update_ops_percent"] < 50, "mostly reads")


def _g_server_rate(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    row = printed.traces.loc["JEFF"]
    rate = row["operations"] / (row["duration_h"] * S_PER_HOUR)
    updates = rate * row["update_ops_percent"] / 100
    whole = numbers[0]["value"]
    what = "JEFF's updates in a second, all of which go to the server"
    yield inside(what, updates, Band(0, whole, 0), f"{whole:g} with the reads that miss")
    yield Part("the reads that miss", "not testable here", needs="trace-file")


def _g_server_spikes(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    least = sum(spike["value"] * size for spike, size in zip(numbers, SPIKES, strict=True))
    hours = printed.traces.loc["JEFF", "duration_h"]
    whole = 1.3 * hours * S_PER_HOUR
    what = f"requests in all bursts, {least:,} at least, of {whole:,.0f} in {hours:g} h"
    yield holds(what, least <= whole, "1.3 requests in a second")
    yield Part("the bursts themselves", "not testable here", needs="trace-file")


def _g_blade_max(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    clients = printed.method["model_parameters"]["clients_per_server"]
    share_w = numbers[0]["value"] / clients
    yield _rounds(
        f"{numbers[0]['value']} W over {clients} clients", share_w, share_w, 2.6, 0.05, "W"
    )
    yield Part("BLADE itself", "not testable here", needs="period-system")


def _g_total_7(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    before_w, after_w = printed.idle.loc["DESKTOP", ["original_power_w", "greenfs_power_w"]]
    for server_w, which in ((130, "at most"), (90, "idle")):
        ratio = (after_w + server_w / 50) / before_w
        what = f"DESKTOP of table 4 with a fiftieth of BLADE, {which} {server_w} W"
        yield implied(numbers[0], what, ratio)


def _g_storage_60(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether a disk that draws what table 1 says can be both 60 % and 7 %."""
    whole_w = printed.idle.loc["DESKTOP", "original_power_w"]
    share = 7 / 60
    storage_w = share * whole_w
    what = f"7 % of DESKTOP's {whole_w:g} W as 60 % of its storage: {storage_w:.3g} W"
    yield holds(what, storage_w <= printed.costs.loc["desktop_hdd", "power_w"], "10 W at most")


def _g_notebook_negligible(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    for number, system in zip(numbers[1:], ("NOTEBOOK", "NOTEBOOK_PRIME"), strict=True):
        low, high = saving_percent(printed, system)
        what = f"{system}: {low:.3g} to {high:.3g} % by table 4, printed {number['value']:g} %"
        yield holds(what, low <= numbers[0]["value"], f"{numbers[0]['value']:g} % or less")


def _g_shares(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    low, high = saving_percent(printed, "SERVER")
    most = numbers[0]["value"]
    what = f"SERVER saves {low:.3g} to {high:.3g} % by the watts of table 4"
    yield holds(what, low <= most, f"{most} % or less")
    told = printed.idle.loc["SERVER", "savings_percent_printed"]
    yield holds(f"SERVER saves {told:g} % as table 4 prints it", told <= most, f"{most} % or less")
    low, high = saving_percent(printed, "DESKTOP")
    within = about(numbers[1]["value"])
    what = f"DESKTOP saves {low:.3g} to {high:.3g} %"
    yield holds(what, low <= within.high and high >= within.low, "about 15 %")
    yield beyond("other subsystems")


def _g_t6(printed: Printed, numbers: Numbers) -> Iterator[Part]:
    """Yield whether table 6 has the cells that the text lists, and table 4 agrees on notebooks."""
    everybody = {"servers", "desktops", "notebooks"}
    listed = {
        "hierarchical_cdp": {"notebooks"},
        "all_data_cdp": everybody,
        "small_seek_time": everybody,
        "power": {"servers", "desktops"},
        "noise": {"desktops", "notebooks"},
        "shocks": {"notebooks"},
    }
    table = printed.benefits
    same = all(
        {group for group in table.columns if table.loc[name, group]} == groups
        for name, groups in listed.items()
    )
    yield holds(f"{int(table.to_numpy().sum())} of {table.size} cells of table 6", same, "as told")
    for system in ("SERVER", "DESKTOP"):
        low, _ = saving_percent(printed, system)
        least = saving_percent(printed, "NOTEBOOK_PRIME")[1]
        what = f"power: {system} saves {low:.3g} % at least, a notebook {least:.3g} % at most"
        yield holds(what, low > least, "servers and desktops, not notebooks")


RECOMPUTED: Mapping[str, Check] = {
    **functions_of(vars(), "printed"),
    "g_t1_desktop": _cost("desktop_hdd"),
    "g_t1_server": _cost("server_hdd"),
    "g_t4_server": _saving("SERVER"),
    "g_t4_desktop": _saving("DESKTOP"),
    "g_t4_notebook": _saving("NOTEBOOK"),
    "g_t4_notebook_prime": _saving("NOTEBOOK_PRIME"),
}
"""The functions above by the slug of their claim."""
