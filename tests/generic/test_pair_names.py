"""What the comparisons of a study of one's own are called."""

import pandas as pd

from fsgreen.design import load_study
from fsgreen.generic.figures import pair_names


def effects(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([{"workload": "webserver", "option": "default", **row} for row in rows])


def test_what_both_cells_have_tells_comparisons_apart() -> None:
    """Four rows called "read-ahead of 128 KiB over read-ahead of 0 KiB" say nothing."""
    load_study("linux-read-ahead")  # which declares the factor
    pair = {"kernel_read_ahead_kib": 128, "baseline_kernel_read_ahead_kib": 0}
    table = effects(*({"readers": n, "baseline_readers": n, **pair} for n in (1, 8)))
    assert pair_names(table) == [
        "webserver 1 readers read-ahead of 128 KiB over 0 KiB",
        "webserver 8 readers read-ahead of 128 KiB over 0 KiB",
    ]


def test_a_factor_that_nothing_is_compared_by_tells_them_apart_too() -> None:
    pair = {"file_system": "xfs", "baseline_file_system": "ext4"}
    table = effects(*({"disk": disk, **pair} for disk in ("wd200bb", "ddys-t36950n")))
    assert len({*pair_names(table)}) == 2 and "wd200bb" in pair_names(table)[0]


def test_what_all_of_a_workload_have_is_left_out() -> None:
    of_one = effects({"file_system": "xfs", "baseline_file_system": "ext4"})
    assert pair_names(of_one) == ["webserver xfs over ext4"]
