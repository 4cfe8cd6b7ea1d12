"""Tables without compression: each comes back to the byte, or is left as it is."""

import io
import lzma
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.pipeline import plain
from fsgreen.trial.files import SMALL

WHOLE = st.integers(-(1 << 63), (1 << 63) - 1)


def written(table: pd.DataFrame, **options: Any) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file, index=False, **(options or SMALL))
    return file.getvalue()


def latencies() -> pd.DataFrame:
    """A table like those that a trial has of its latencies."""
    lower_ns = [1000 + 64 * step for step in range(3000)]
    return pd.DataFrame(
        {
            "operation": ["read", "write"] * 1500,
            "lower_ns": lower_ns,
            "upper_ns": [ns + 64 for ns in lower_ns],
            "work_ops": [step * step % 97 for step in range(3000)],
        }
    )


@given(st.lists(st.tuples(st.text(), WHOLE, st.floats(), st.booleans())))
def test_a_table_comes_back_to_the_byte(rows: list[tuple[str, int, float, bool]]) -> None:
    columns = {"file": "string", "read_b": "int64", "time_s": "float64", "rotating": "bool"}
    table = written(pd.DataFrame(rows, columns=list(columns)).astype(columns))
    made = plain.made_plain(table)
    assert made is not None
    assert plain.made_small(made) == table


def test_xz_makes_a_plain_table_smaller() -> None:
    """Otherwise all of this is for nothing."""
    table = written(latencies())
    made = plain.made_plain(table)
    assert made is not None
    assert len(lzma.compress(made)) < 0.8 * len(lzma.compress(table))


@pytest.mark.parametrize(
    "table",
    [b"", b"no table", written(latencies(), compression="snappy"), written(latencies())[1:]],
)
def test_a_table_that_would_come_back_otherwise_is_left_as_it_is(table: bytes) -> None:
    assert plain.made_plain(table) is None


@given(st.data())
def test_garbage_is_told_or_is_a_table(data: st.DataObject) -> None:
    made = bytearray(plain.made_plain(written(latencies().head(20))) or b"")
    at = data.draw(st.integers(0, len(made) - 8))
    made[at : at + 8] = data.draw(st.binary(max_size=16))
    try:
        plain.made_small(bytes(made))
    except ValueError as told:
        assert str(told) != ""


def test_a_table_of_more_values_than_a_trial_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    table = written(latencies())
    made = plain.made_plain(table)
    monkeypatch.setattr(plain, "LARGEST_VALUES", 100)
    assert plain.made_plain(table) is None
    with pytest.raises(ValueError, match="more values"):
        plain.made_small(made or b"")


def test_a_table_that_is_compressed_in_a_pack_is_told() -> None:
    """A few bytes could become any number of them."""
    with pytest.raises(ValueError, match="is compressed"):
        plain.made_small(written(latencies()))


def test_how_tables_of_trials_are_written_stays() -> None:
    """Packs that ship come out with these options only: others need another suffix in packs."""
    assert SMALL == {
        "compression": "zstd",
        "compression_level": 9,
        "use_dictionary": False,
        "write_statistics": False,
    }
