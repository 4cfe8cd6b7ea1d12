"""Stamps of rows: which are whole, and which were cut."""

import numpy as np

from fsgreen.meters.files.dates import Stamps


def clock(second):
    return f"9/9/26 {second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"


def test_rows_whose_hour_gains_a_digit_at_the_end_are_read():
    """The pulses that fit a meter's clock are the last thing in its file."""
    seconds = range(8 * 3600 + 30, 10 * 3600 + 60)
    found = Stamps.of([clock(second) for second in seconds])
    assert found.second_s.tolist() == list(seconds)


def test_a_few_rows_with_fewer_digits_are_cut_ones():
    rows = [clock(second) for second in range(11 * 3600, 11 * 3600 + 500)]
    found = Stamps.of([*rows, "9/9/26 1:08:20"])
    assert np.isnan(found.second_s[-1]) and not np.isnan(found.second_s[:-1]).any()


def test_a_digit_too_many_after_the_second_is_no_time():
    """Otherwise a doubled digit moves a reading by part of a second, and nothing says so."""
    found = Stamps.of([f"{clock(second)}.313" for second in range(10)] + ["9/9/26 0:00:10.3313"])
    assert np.isnan(found.second_s[-1]) and not np.isnan(found.second_s[:-1]).any()
