"""The record is what everything else trusts: whole or absent, and never silently changed."""

import errno
import json
from pathlib import Path

import pandas as pd
import pytest
import synthetic

from fsgreen import trial
from fsgreen.errors import FsgreenError

NAME = "b01-001-webserver-ext4-default"
WHOLE = synthetic.record().to_json()
NEWER = ("energy", "events", "efficiency_meters")


def write(campaign: Path, name: str = NAME) -> Path:
    writer = trial.TrialWriter(campaign, name)
    writer.write_table("power", pd.DataFrame({"time_s": [1.0, 2.0], "power_w": [5.0, 6.0]}))
    return writer.keep(synthetic.record(trial=name))


def test_a_trial_reads_back_as_it_was_written(tmp_path: Path) -> None:
    found = trial.read_trial(write(tmp_path))
    found.verify()
    assert found.name == NAME
    assert found.phase("measure").duration_s == 10
    assert found.table("power")["power_w"].tolist() == [5.0, 6.0]


def test_a_trial_without_its_final_name_does_not_count_and_is_swept(tmp_path: Path) -> None:
    write(tmp_path)
    trial.TrialWriter(tmp_path, "b01-002-x")
    assert [found.name for found in trial.list_trials(tmp_path)] == [NAME]
    assert trial.sweep(tmp_path) == [".b01-002-x.partial"]
    assert [entry.name for entry in (tmp_path / "trials").iterdir()] == [NAME]


def test_invalid_trials_are_kept_apart_and_numbered(tmp_path: Path) -> None:
    for _ in range(2):
        writer = trial.TrialWriter(tmp_path, NAME)
        writer.set_aside(synthetic.record(exit="invalid", reason="rule 13"))
    assert [found.folder.name for found in trial.list_invalid(tmp_path)] == [
        f"{NAME}.1",
        f"{NAME}.2",
    ]
    assert trial.list_trials(tmp_path) == []


def test_what_was_set_aside_by_hand_is_read_apart(tmp_path: Path) -> None:
    """A block that was discarded after a look is evidence (rule 48)."""
    (tmp_path / "discarded").mkdir()
    write(tmp_path).rename(tmp_path / "discarded" / NAME)
    [found] = trial.list_discarded(tmp_path)
    found.verify()
    assert found.name == NAME
    assert trial.list_trials(tmp_path) == []


def test_a_trial_may_be_set_aside_more_than_once(tmp_path: Path) -> None:
    """The second copy had no name under which it could be kept."""
    for name in (NAME, f"{NAME}.2", f"{NAME}.3"):
        place = trial.place_to_discard(tmp_path, NAME)
        assert place == tmp_path / "discarded" / name
        place.parent.mkdir(exist_ok=True)
        write(tmp_path).rename(place)
    assert [found.name for found in trial.list_discarded(tmp_path)] == [NAME] * 3
    (tmp_path / "discarded" / f"{NAME}.3").rename(tmp_path / "discarded" / "another.3")
    with pytest.raises(FsgreenError, match=f"the record is that of trial {NAME}"):
        trial.list_discarded(tmp_path)


def test_a_changed_byte_in_a_raw_file_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path)
    with (folder / "power.parquet").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(FsgreenError, match=r"power\.parquet is not the file that was recorded"):
        trial.read_trial(folder).verify()


def test_a_missing_raw_file_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "power.parquet").unlink()
    with pytest.raises(FsgreenError, match=r"power\.parquet is missing"):
        trial.read_trial(folder).verify()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not readable JSON"),
        ("[]", "does not hold a record"),
        ("[" * 100_000, "not readable JSON"),
        ('{"schema": 3}', "its schema is 3, not 1 or 2"),
        ('{"schema": 1}', "of the record the key trial is missing"),
        (json.dumps({**WHOLE, "block": "1"}), "of the record block: takes a whole number, not '1'"),
        (json.dumps({**WHOLE, "exit": "fine"}), "of the record exit: takes ok"),
        (json.dumps({**WHOLE, "trial": "other"}), "that of trial other"),
    ],
)
def test_a_foreign_folder_is_named_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    folder = tmp_path / "trials" / NAME
    folder.mkdir(parents=True)
    (folder / "trial.json").write_text(text)
    with pytest.raises(FsgreenError, match=reason) as caught:
        trial.list_trials(tmp_path)
    assert str(folder) == caught.value.where


def test_a_folder_without_a_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "trials" / "holiday-pictures").mkdir(parents=True)
    with pytest.raises(FsgreenError, match=r"there is no trial\.json"):
        trial.list_trials(tmp_path)


def test_a_full_disk_says_what_to_do_and_leaves_no_half_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = trial.TrialWriter(tmp_path, NAME)

    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(FsgreenError, match="is full; the trials so far are whole"):
        writer.write_table("power", pd.DataFrame({"power_w": [1.0]}))
    writer.discard()
    assert trial.list_trials(tmp_path) == []


def test_a_table_without_units_is_not_written(tmp_path: Path) -> None:
    writer = trial.TrialWriter(tmp_path, NAME)
    with pytest.raises(FsgreenError, match="columns without a unit: volume"):
        writer.write_table("power", pd.DataFrame({"volume": [1.0]}))


def test_a_campaign_whose_folder_was_removed_is_not_begun_anew_in_silence(tmp_path: Path) -> None:
    """The next trials would stand alone in a folder without a plan."""
    with pytest.raises(FsgreenError, match="the folder of the campaign is gone"):
        trial.TrialWriter(tmp_path / "removed", NAME)


def test_a_record_that_is_older_reads_as_it_was_written() -> None:
    """The shipped campaigns must be read by every later version."""
    old = {name: value for name, value in WHOLE.items() if name not in NEWER} | {"schema": 1}
    found = trial.TrialRecord.from_json(json.dumps(old), Path())
    assert (found.energy, found.events, found.efficiency_meters) == ({}, (), ())
    assert found.meters == synthetic.record().meters
