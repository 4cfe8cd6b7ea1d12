"""A file of power gives in one pass what the whole gives, and says what it is not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from traces import INFO, sampled, whole_budget, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.meters.core.powertable import BLOCK_COUNT, write_power
from fsgreen.meters.core.readings import Readings
from fsgreen.trace.powerfile import PowerFile

FAST = replace(INFO, rate_hz=10_000.0, resolution_w=0.001)
SPAN = (100.4, 125.5)
EDGES_S = np.arange(101.0, 126.0)
SLOW = sampled(lambda t: 100 + t, np.arange(99.0, 131.0))


def wave(seed: int) -> pd.DataFrame:
    """Thirty seconds at 10 kHz, from a converter of 12 bits."""
    rng = np.random.default_rng(seed)
    time_s = 100 + np.arange(300_000) / 10_000
    counts = np.round(2000 + 500 * np.sin(time_s) + rng.normal(0, 50, len(time_s)))
    return sampled(lambda _: counts * 0.0025, time_s).assign(energy_wh=np.nan)


def in_pieces(readings: pd.DataFrame, size: int = 997) -> list[Readings]:
    time_s, power_w = (readings[name].to_numpy() for name in ("time_s", "power_w"))
    cuts = range(0, len(readings), size)
    return [Readings(time_s[cut : cut + size], power_w[cut : cut + size]) for cut in cuts]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two fast meters and a slow one in one table."""
    pieces = {"a": in_pieces(wave(1)), "b": in_pieces(wave(2))}
    columns = {name: SLOW[name].to_numpy() for name in ("time_s", "power_w", "energy_wh")}
    write_power(tmp_path / "power.parquet", {**pieces, "slow": [Readings(**columns)]})
    return tmp_path / "power.parquet"


@pytest.mark.parametrize("piece_count", [1000, trace.powerfile.PIECE_COUNT])
def test_one_pass_gives_what_the_whole_gives(file: Path, piece_count, monkeypatch) -> None:
    """The energy of a trial must not depend on how its file was read."""
    monkeypatch.setattr(trace.powerfile, "PIECE_COUNT", piece_count)
    wholes = {"a": (wave(1), FAST), "b": (wave(2), FAST), "slow": (SLOW, INFO)}
    infos = {name: info for name, (_, info) in wholes.items()}
    for name, reduced in trace.reduce_power(file, infos, [SPAN], EDGES_S).items():
        readings, info = wholes[name]
        energy_j = pytest.approx(whole_energy_j(readings, *SPAN), rel=1e-12)
        assert reduced.energy_j() == reduced.covered_energy_j()[0] == energy_j
        budget = vars(whole_budget(readings, *SPAN, info))
        assert vars(reduced.error_budget()) == pytest.approx(budget, rel=1e-9)
        assert reduced.flaws() == []


@pytest.mark.parametrize("piece_count", [7, trace.powerfile.PIECE_COUNT])
def test_series_is_a_mean_where_readings_are_many_and_else_the_reading_at_the_end(
    file: Path, piece_count, monkeypatch
) -> None:
    monkeypatch.setattr(trace.powerfile, "PIECE_COUNT", piece_count)
    slow = trace.reduce_power(file, {"slow": INFO}, [SPAN], EDGES_S)["slow"]
    assert slow.series_w() == pytest.approx(100 + EDGES_S[1:])
    beyond_s = np.array([97.0, 98.0, 130.0, 140.0])
    (outer,) = trace.reduce_power(file, {"slow": INFO}, [SPAN], beyond_s).values()
    assert outer.series_w() == pytest.approx([199.0, 230.0, 230.0])


def test_means_of_a_fast_meter_are_those_of_its_readings(file: Path) -> None:
    means_w = wave(1)["power_w"].to_numpy()[10_001:260_001].reshape(25, -1)[:-1].mean(axis=1)
    fast = trace.reduce_power(file, {"a": FAST}, [SPAN], EDGES_S)["a"]
    assert fast.series_w() == pytest.approx(means_w, rel=1e-3)


def test_bins_are_means_and_change_nothing_else(file: Path) -> None:
    """Also of a slow meter; and no energy may hang on who wants its power over time."""
    of, bins = {"a": FAST, "slow": INFO}, {"a": np.arange(101, 125.1, 0.5), "slow": [101, 103, 105]}
    plain = trace.reduce_power(file, of, [SPAN], EDGES_S)
    binned = trace.reduce_power(file, of, [SPAN], EDGES_S, bins)
    assert binned["slow"].binned_w() == pytest.approx([202, 204])
    halves_w = binned["a"].binned_w().reshape(-1, 2)
    assert halves_w.mean(axis=1) == pytest.approx(binned["a"].series_w(), rel=1e-12)
    for name, without in plain.items():
        assert without.binned_w().size == 0
        assert without.energy_j() == binned[name].energy_j()
        assert without.series_w().tolist() == binned[name].series_w().tolist()


def test_a_bin_without_a_value_has_no_power() -> None:
    """Outside of the trace, or with a reading that holds none."""
    readings = wave(1)
    readings.loc[15_000, "power_w"] = np.nan
    reduced = trace.MeterTrace(FAST, [(100.0, 130.0)], bins_s=[99.0, 101.0, 102.0, 103.0, 131.0])
    reduced.feed(trace.powerfile.Piece.of(readings))
    assert np.isnan(reduced.binned_w()).tolist() == [True, True, False, True]


@pytest.mark.parametrize("column", ["voltage_v", "current_a"])
def test_volts_or_amperes_over_range_are_found_in_a_file_of_any_length(
    tmp_path: Path, column: str, monkeypatch
) -> None:
    """An analyzer says over range by 9.9e37, and its power may look sound beside that."""
    monkeypatch.setattr(trace.powerfile, "PIECE_COUNT", 1000)
    readings = wave(1)
    values = np.full(len(readings), 5.0)
    values[123_456] = 9.9e37
    columns = {name: readings[name].to_numpy() for name in ("time_s", "power_w")}
    write_power(tmp_path / "power.parquet", {"a": [Readings(**columns, **{column: values})]})
    reduced = trace.reduce_power(tmp_path / "power.parquet", {"a": FAST}, [SPAN])["a"]
    assert [flaw.name for flaw in reduced.flaws()] == ["over-range"]


def test_seconds_of_a_series_add_up_to_the_energy(file: Path) -> None:
    reduced = trace.MeterTrace(FAST, [SPAN], EDGES_S)
    with PowerFile(file) as power:
        for piece in power.pieces("a"):
            reduced.feed(piece)
    assert reduced.series_w().sum() == pytest.approx(
        whole_energy_j(wave(1), EDGES_S[0], EDGES_S[-1]), rel=1e-12
    )


def test_seconds_that_the_trace_does_not_cover_have_no_power() -> None:
    edges_s = np.arange(98.0, 134.0)
    reduced = trace.MeterTrace(FAST, [(100.0, 130.0)], edges_s)
    with pytest.raises(FsgreenError, match="two readings or more"):
        reduced.series_w()
    readings = wave(1)
    reduced.feed(
        trace.powerfile.Piece(readings["time_s"].to_numpy(), readings["power_w"].to_numpy())
    )
    ends_s = edges_s[1:][np.isnan(reduced.series_w())]
    assert ends_s.tolist() == [99.0, 100.0, 130.0, 131, 132, 133]


def test_file_keeps_values_to_the_bit_and_one_meter_to_a_row_group(file: Path) -> None:
    table = pd.read_parquet(file)
    for seed, name in ((1, "a"), (2, "b")):
        kept = table[table["meter"] == name].reset_index(drop=True)
        assert kept["power_w"].equals(wave(seed)["power_w"])
        assert kept["time_s"].equals(wave(seed)["time_s"])
        assert kept["voltage_v"].isna().all()
        assert set(kept["quality"]) == {"ok"}
    groups = pa.parquet.ParquetFile(file).metadata
    sizes = [groups.row_group(nth).num_rows for nth in range(groups.num_row_groups)]
    assert sizes == [BLOCK_COUNT, 300_000 - BLOCK_COUNT] * 2 + [32]
    assert file.stat().st_size < 3 * 600_000


def test_mixed_row_groups_of_other_writers_are_read_by_meter(tmp_path: Path) -> None:
    mixed = pd.concat([wave(1)[:50].assign(meter="a"), wave(2)[:70].assign(meter="b")])
    mixed = mixed.sample(frac=1, random_state=1).sort_values("time_s", kind="stable")
    mixed.loc[mixed["meter"] == "b", "quality"] = "retimed"
    mixed.to_parquet(tmp_path / "power.parquet", index=False)
    with PowerFile(tmp_path / "power.parquet") as power:
        assert sorted(power.meters()) == ["a", "b"]
        (piece,) = power.pieces("a")
        assert piece.power_w.tolist() == wave(1)["power_w"][:50].tolist()
        (piece,) = power.pieces("b")
        assert piece.codes is not None and len(piece.codes) == 70
        assert set(piece.frame()["quality"]) == {"retimed"}
        assert list(power.pieces("c")) == []


def test_what_a_row_group_says_of_itself_hides_no_bad_reading(tmp_path: Path) -> None:
    """Least and greatest values in a file leave out NaN: one among good readings is still found."""
    readings = wave(1)
    time_s, power_w = (readings[name].to_numpy() for name in ("time_s", "power_w"))
    for bad_w, flaw in ((np.nan, "no-value"), (-1.0, "sentinel"), (2000.0, "over-range")):
        spoilt_w = power_w.copy()
        spoilt_w[123_456] = bad_w
        write_power(tmp_path / "power.parquet", {"a": [Readings(time_s, spoilt_w)]})
        reduced = trace.MeterTrace(FAST, [SPAN, (100.0, 101.0)])
        with PowerFile(tmp_path / "power.parquet") as power:
            for piece in power.pieces("a"):
                reduced.feed(piece)
        assert [found.name for found in reduced.flaws()] == [flaw]
        assert reduced.flaws(1) == []


def test_flagged_readings_are_found_in_any_piece(tmp_path: Path, monkeypatch) -> None:
    """A row group holds qualities for all its pieces; those without a flag are sound."""
    monkeypatch.setattr(trace.powerfile, "PIECE_COUNT", 1000)
    readings = wave(1)
    columns = (readings[name].to_numpy() for name in ("time_s", "power_w"))
    flagged = Readings(*columns, flags={5_500: "clipped", 5_501: "retimed"})
    write_power(tmp_path / "power.parquet", {"a": [flagged]})
    with PowerFile(tmp_path / "power.parquet") as power:
        pieces = list(power.pieces("a"))
        assert pd.concat(piece.frame() for piece in pieces)["quality"].value_counts().to_dict() == {
            "ok": 299_998,
            "clipped": 1,
            "retimed": 1,
        }
    assert [nth for nth, piece in enumerate(pieces) if piece.codes is not None] == [5]


@pytest.mark.parametrize("spoil", ["text", "column", "cut"])
def test_what_is_no_table_of_power_is_told(tmp_path: Path, file: Path, spoil: str) -> None:
    bad = tmp_path / "bad.parquet"
    if spoil == "text":
        bad.write_text("time_s,power_w\n")
    elif spoil == "column":
        wave(1)[["time_s", "power_w"]].to_parquet(bad)
    else:
        bad.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(FsgreenError, match="not a whole table of power") as caught:
        trace.reduce_power(bad, {"a": FAST}, [SPAN])
    assert caught.value.where == str(bad)
