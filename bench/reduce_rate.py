"""How fast power is reduced: energy, error budget and a series of seconds, from `power.parquet`.

A trial of two meters is made from random counts of a converter of 12 bits and written as Parquet
and twice as CSV: as the same table, a row for each reading, and with a column for each meter, which
holds every time once instead of twice. Reducing is held against reading either text with
pandas.read_csv, in turns, each in a process of its own; only the work is timed, not the imports.

With --matrix, sun14's matrix (135 cells) is made, a file for each cell, and reduced in one pass by
as many processes as there are cores, beside plainly reading the same files by as many.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench import command
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.powertable import BLOCK_COUNT, write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.trace import MeterInfo
from fsgreen.trace.powerfile import COLUMNS

RATE_HZ = 10_000
METERS = ("rail5", "rail12")
COUNT_W = 0.00122
SPEED_TARGET_X = 20.0
MEMORY_TARGET_B = 300_000_000

CELLS = 135
"""Of sun14: its SSDs, file systems, workloads and schedulers."""
SAMPLE_B = 3
"""More than a sample takes on the disk."""
READ_B = 2**20

HEAD = ("way", "seconds", "million samples/s", "peak MB", "target")
WIDTHS = (26, 24, 20, 10, 20)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.reduce_rate --seconds 60 --rounds 1", rounds=3
    )
    parser.add_argument(
        "--seconds", type=command.positive, default=600, help="of a trial (default: %(default)s)"
    )
    parser.add_argument("--matrix", action="store_true", help="reduce sun14's matrix instead")
    parser.add_argument(
        "--cells", type=command.positive, default=CELLS, help="of the matrix (default: %(default)s)"
    )
    asked = parser.parse_args()
    if asked.matrix and asked.directory == command.MEMORY:
        asked.directory = Path(tempfile.gettempdir())
    return asked


def info(name: str) -> MeterInfo:
    """Return a meter as of sun14: a Hall sensor on a rail, 10,000 samples a second."""
    return MeterInfo(
        driver="blocks",
        model="generated",
        serial=name,
        boundary="modelled",
        covers=(name,),
        rate_hz=RATE_HZ,
        range_w=25.0,
        resolution_w=COUNT_W,
        gain_error=0.01,
        constant_error_w=0.01,
        source="generated",
    )


def blocks(seed: int, seconds: int, begin_s: float = 14399.6332) -> Iterator[Readings]:
    """Yield the readings of a load that changes every second, with noise, in steps of a count."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(1500, 3000, seconds + 1)
    for begin in range(0, seconds * RATE_HZ, BLOCK_COUNT):
        places = np.arange(begin, min(begin + BLOCK_COUNT, seconds * RATE_HZ))
        noise = rng.normal(0, 40, len(places)).astype(int)
        counts = levels[places // RATE_HZ] + noise
        yield Readings(begin_s + places / RATE_HZ, counts * COUNT_W)


def write_rows(file: Path, seconds: int) -> None:
    """Write the table of power as text."""
    with file.open("w") as stream:
        stream.write(",".join(COLUMNS) + "\n")
        for seed, name in enumerate(METERS):
            for readings in blocks(seed, seconds):
                pairs = zip(readings.time_s.tolist(), readings.power_w.tolist(), strict=True)
                stream.writelines(f"{t:.4f},{name},{p:.5f},,,,ok\n" for t, p in pairs)


def write_columns(file: Path, seconds: int) -> None:
    """Write the same readings as text, a column for each meter."""
    with file.open("w") as stream:
        stream.write(",".join(["time_s", *(f"power_{name}_w" for name in METERS)]) + "\n")
        for one, other in zip(*(blocks(seed, seconds) for seed in (0, 1)), strict=True):
            several = (one.time_s.tolist(), one.power_w.tolist(), other.power_w.tolist())
            rows = zip(*several, strict=True)
            stream.writelines(f"{t:.4f},{p:.5f},{q:.5f}\n" for t, p, q in rows)


def reduced(file: str, names: tuple[str, ...], seconds: int) -> dict[str, Any]:
    """Reduce a file; return the time that it took and the energies."""
    import pandas as pd

    from fsgreen.trace import reduce_power

    pd.DataFrame({"quality": ["ok"]})  # imports what pandas holds text with
    start_s = time.perf_counter()
    span = (14400.0, 14400.0 + seconds - 1)
    edges_s = np.arange(span[0], span[1] + 1)
    infos = {name: info(name) for name in names}
    bins_s = dict.fromkeys(names, np.linspace(*span, 101))
    power = reduce_power(Path(file), infos, [span], edges_s, bins_s)
    energies_j = []
    for meter in power.values():
        energies_j.append(meter.energy_j())
        budget, series_w, flaws = meter.error_budget(), meter.series_w(), meter.flaws()
        whole = not flaws and budget.total_j > 0 and np.isfinite(series_w).all()
        if not whole or abs(series_w.sum() / energies_j[-1] - 1) > 1e-9:
            raise FsgreenError(f"the energy and the series disagree, or {flaws}", where=file)
    return {"wall_s": time.perf_counter() - start_s, "energies_j": energies_j, **_peak()}


def csv_read(file: str) -> dict[str, Any]:
    """Read a file with pandas; return the time that it took."""
    import pandas as pd

    pd.read_csv(file, nrows=10)
    start_s = time.perf_counter()
    pd.read_csv(file)
    return {"wall_s": time.perf_counter() - start_s, **_peak()}


def plainly_read(file: str) -> dict[str, Any]:
    """Read a file and do nothing with it; return the time that it took."""
    start_s = time.perf_counter()
    buffer = bytearray(READ_B)
    with open(file, "rb", buffering=0) as stream:
        while stream.readinto(buffer):
            pass
    return {"wall_s": time.perf_counter() - start_s, **_peak()}


def _peak() -> dict[str, int]:
    """Return the high-water mark of this process, and what it was before the work: in bytes."""
    import resource

    return {"peak_b": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def apart(work: Callable[..., dict[str, Any]], *given: object) -> dict[str, Any]:
    """Call `work` in a process of its own, which shares no memory with this one."""
    with _pool(1) as pool:
        return pool.submit(work, *given).result()


def _pool(workers: int) -> Executor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def trial(asked: argparse.Namespace, folder: Path) -> None:
    """Print a row for reading the text, for reducing, and for plainly reading the table."""
    samples = len(METERS) * asked.seconds * RATE_HZ
    table, rows, columns = (folder / name for name in ("power.parquet", "rows.csv", "columns.csv"))
    write_power(table, {name: blocks(seed, asked.seconds) for seed, name in enumerate(METERS)})
    write_rows(rows, asked.seconds)
    write_columns(columns, asked.seconds)
    sizes = ", ".join(f"{f.name} {f.stat().st_size:,} B" for f in (table, rows, columns))
    print(f"{samples:,} samples: {sizes}")
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "fsgreen, to all three": lambda: apart(reduced, str(table), METERS, asked.seconds),
        "read_csv of the same rows": lambda: apart(csv_read, str(rows)),
        "read_csv, wide": lambda: apart(csv_read, str(columns)),
        "plain read of the table": lambda: apart(plainly_read, str(table)),
    }
    results = interleaved(ways, asked.rounds)
    print_row(HEAD, WIDTHS)
    for name, rounds in results.items():
        wall_s = Spread.of(one["wall_s"] for one in rounds)
        peak_b = max(one["peak_b"] for one in rounds)
        target = ""
        if name.startswith("fsgreen"):
            target = f"< {MEMORY_TARGET_B / 1e6:.0f} MB {met(peak_b < MEMORY_TARGET_B)}"
        cells = (f"{wall_s:.3f}", f"{samples / wall_s.median / 1e6:.1f}", f"{peak_b / 1e6:.0f}")
        print_row((name, *cells, target), WIDTHS)
    ours, *texts = list(ways)[:3]
    for text in texts:
        pairs = zip(results[text], results[ours], strict=True)
        speed_x = Spread.of(its["wall_s"] / our["wall_s"] for its, our in pairs)
        target = f"target {SPEED_TARGET_X:.0f}: {met(speed_x.median >= SPEED_TARGET_X)}"
        print(f"{speed_x:.1f} times as fast as {text}; {target}")


def matrix(asked: argparse.Namespace, folder: Path) -> None:
    """Print a row for reducing the matrix in one pass and for plainly reading its files."""
    samples = asked.cells * asked.seconds * RATE_HZ
    free_b = shutil.disk_usage(folder).free
    if free_b < 2 * SAMPLE_B * samples:
        raise FsgreenError(
            f"the matrix takes up to {SAMPLE_B * samples / 1e9:.0f} GB, and half of what is free "
            f"is {free_b / 2e9:.0f} GB",
            where=folder,
            next_step="give another --directory, or fewer --cells",
        )
    files = [str(folder / f"{cell:03d}.parquet") for cell in range(asked.cells)]
    workers = len(os.sched_getaffinity(0))
    with _pool(workers) as pool:
        print(f"making {asked.cells} cells of {asked.seconds} s: {samples:,} samples")
        _each(pool, make_cell, files, range(asked.cells), repeat(asked.seconds))
        size_b = sum(Path(file).stat().st_size for file in files)
        print_row(HEAD, WIDTHS)
        ways = {
            f"fsgreen, {workers} processes": (reduced, repeat(METERS[:1]), repeat(asked.seconds)),
            f"plain read, {workers} processes": (plainly_read,),
        }
        for name, (work, *given) in ways.items():
            start_s = time.perf_counter()
            results = _each(pool, work, files, *given)
            wall_s = time.perf_counter() - start_s
            peak_b = max(one["peak_b"] for one in results)
            target = f"< {MEMORY_TARGET_B / 1e6:.0f} MB {met(peak_b < MEMORY_TARGET_B)}"
            cells = (
                f"{wall_s:.1f}",
                f"{samples / wall_s / 1e6:.1f}",
                f"{peak_b / 1e6:.0f}",
                target,
            )
            print_row((name, *cells), WIDTHS)
            print(f"  {size_b / wall_s / 1e6:,.0f} MB/s of {size_b:,} B")


def make_cell(file: str, seed: int, seconds: int) -> None:
    """Write one cell of the matrix."""
    write_power(Path(file), {METERS[0]: blocks(seed, seconds)})


def _each(pool: Executor, work: Callable[..., Any], files: list[str], *given: Any) -> list[Any]:
    return list(tqdm(pool.map(work, files, *given), total=len(files), unit="cell", leave=False))


def main() -> None:
    """Print what was asked for; the files are removed."""
    asked = arguments()
    with tempfile.TemporaryDirectory(dir=asked.directory) as place:
        (matrix if asked.matrix else trial)(asked, Path(place))


if __name__ == "__main__":
    command.run(main)
