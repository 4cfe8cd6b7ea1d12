"""What a report says of trials that do not count."""

import pytest
import synthetic

from fsgreen import trial
from fsgreen.analysis.setaside import MOST_NAMED, set_aside

NAME = "b01-001-webserver-ext3-default"
REASON = "rule 10: others took 21.8 % of all cores"


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A campaign of eight whole trials."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return synthetic.write_raw("small", synthetic.make_plan(blocks=4))


def test_a_trial_that_broke_a_rule_is_named_with_its_reason(raw):
    """A report spoke of one that was set aside, and of neither its name nor why."""
    assert set_aside("small") == []
    refused = synthetic.record(exit="invalid", reason=REASON)
    trial.TrialWriter(raw, NAME).set_aside(refused)
    assert set_aside("small") == [
        {
            "what": "1 trial broke a rule or failed",
            "trials": [f"{NAME}.1: {REASON}"],
            "others": None,
            "all": "ls data/raw/small/invalid",
        }
    ]


def test_of_many_that_a_person_set_aside_the_first_are_named(raw):
    """A whole block would be a page of names; none of their records has a reason."""
    (raw / "discarded").mkdir()
    chosen = sorted((raw / "trials").iterdir())[: MOST_NAMED + 2]
    for folder in chosen:
        folder.rename(raw / "discarded" / folder.name)
    (told,) = set_aside("small")
    assert told["what"].startswith("7 trials set aside by a person")
    assert told["trials"] == [f"{one.name}: no record says why" for one in chosen[:MOST_NAMED]]
    assert (told["others"], told["all"]) == (2, "ls data/raw/small/discarded")
