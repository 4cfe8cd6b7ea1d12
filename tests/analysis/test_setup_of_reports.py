"""Page 1 of a report says how large the files were, and who answered what was read."""

import math

import pandas as pd

from fsgreen import design
from fsgreen.analysis.setup import reads, scaled

TRIAL = {"workload": "fio", "read_b": 2.0**30, "files_b": 2.0**29, "resident_percent": 0.0}


def of_trials(**found):
    return pd.DataFrame([{**TRIAL, "device_read_b": math.nan, **found}] * 2)


def test_a_command_with_a_size_of_its_own_is_not_said_to_have_the_published_one():
    """Page 1 said "fio 1 of the published files" of a file that is two hundred times smaller."""
    study = design.load_study("massie25")
    plan = design.make_plan(study, "guest")
    text = scaled(plan, study, of_trials())
    assert text == "fio: 512 MiB of files, set by the profile and not scaled"


def test_what_is_scaled_is_told_as_before():
    study = design.load_study("fast10")
    plan = design.make_plan(study, "quick")
    text = scaled(plan, study, of_trials(workload="webserver"))
    assert " of the published " in text and "MiB" not in text


def test_reads_that_nobody_counted_are_said_not_to_be():
    """A guest's disk is unknown to the machine's kernel: the report had no line on its reads."""
    assert reads(of_trials()).startswith("nobody counted what the device served")
    assert "memory held 0 % of the files" in reads(of_trials())
    assert "memory" not in reads(of_trials(resident_percent=math.nan))
    assert reads(of_trials(device_read_b=2.0**29)) == "of their bytes the device served: fio 50 %"
    assert not reads(of_trials(read_b=0.0)), "nothing was read"
