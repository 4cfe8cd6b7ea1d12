"""What was before must be found again, whole, or be named as damaged; never half-believed."""

from __future__ import annotations

import json
import os
import string
from pathlib import Path

import machines
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen import host
from fsgreen.errors import FsgreenError
from fsgreen.host import disks, journal, memory, timers

FUZZ = settings(max_examples=round(60 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1")))))

ENTRY = journal.Entry("governor", "policy0", "", "powersave", "performance")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.fixture
def written(tree: host.Tree) -> journal.Journal:
    with journal.alone(tree):
        found, hold_fd = journal.begin(tree, [ENTRY], for_run=True)
        os.close(hold_fd)
    return found


def test_what_was_written_is_read_again(written: journal.Journal) -> None:
    assert journal.read(written.file) == written


def test_a_torn_journal_is_named_and_stops_a_restore(
    tree: host.Tree, written: journal.Journal
) -> None:
    written.file.write_bytes(written.file.read_bytes()[:-40])
    (waiting,) = host.pending(tree)
    assert str(written.file) in waiting.sentence
    assert "not a journal of settings" in waiting.sentence
    with pytest.raises(FsgreenError, match="not a journal of settings"):
        host.restore(tree)


def test_a_journal_of_another_version_is_not_guessed_at(
    tree: host.Tree, written: journal.Journal
) -> None:
    written.file.write_text(written.file.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(FsgreenError, match="its schema is 2, not 1"):
        host.restore(tree)


def test_a_half_written_journal_changed_nothing_and_is_in_nobodys_way(tree: host.Tree) -> None:
    folder = tree.path(journal.FOLDER)
    folder.mkdir(parents=True)
    (folder / ".000001.json.partial").write_text('{"schema": 1, "entr')
    assert host.pending(tree) == []
    host.apply(["governor"], tree=tree)
    assert len(journal.journals(tree)) == 1


def test_a_full_disk_changes_nothing(tree: host.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FsgreenError, match="nothing is changed: what was before cannot be kept"):
        host.apply(["turbo"], tree=tree)
    assert tree.text("sys/devices/system/cpu/intel_pstate/no_turbo") == "0"
    assert host.pending(tree) == []


@given(garbage=st.binary() | JSON.map(repr).map(str.encode))
@FUZZ
def test_no_file_is_taken_for_a_journal_that_is_none(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes
) -> None:
    file = tmp_path_factory.mktemp("journal") / "000001.json"
    file.write_bytes(garbage)
    with pytest.raises(FsgreenError, match="not a journal"):
        journal.read(file)


@given(
    field=st.sampled_from(["schema", "boot_id", "written_unix_s", "entries"]),
    value=JSON.filter(lambda value: not isinstance(value, str | int | float)),
)
@FUZZ
def test_a_journal_with_a_wrong_field_is_refused(
    tmp_path_factory: pytest.TempPathFactory, field: str, value: object
) -> None:
    record = {"schema": 1, "boot_id": "b", "written_unix_s": 1.0, "for_run": True, "entries": [{}]}
    file = tmp_path_factory.mktemp("journal") / "000001.json"
    file.write_text(json.dumps(record | {field: value}))
    if field == "entries" and value in ([], {}):
        assert journal.read(file).entries == ()
    else:
        with pytest.raises(FsgreenError, match="not a journal"):
            journal.read(file)


@given(st.floats() | st.integers())
@FUZZ
def test_no_time_in_a_journal_breaks_the_table_that_tells_of_it(
    tmp_path_factory: pytest.TempPathFactory, written_unix_s: float
) -> None:
    root = tmp_path_factory.mktemp("journal")
    record = {"schema": 1, "boot_id": "b", "written_unix_s": written_unix_s, "for_run": True}
    machines.write(root, f"{journal.FOLDER}/000001.json", json.dumps(record | {"entries": []}))
    assert len(host.pending(host.Tree(root))) == 1


# --- what the kernel and programs print ---------------------------------------------------------


@given(st.text())
@FUZZ
def test_no_text_breaks_the_reading_of_programs(text: str) -> None:
    level = disks.apm_level(text)
    assert level is None or level.isdecimal()
    for area in memory.areas(text):
        assert area.name and isinstance(area.priority, int)
    for unit in timers.units(text):
        assert unit.endswith((".timer", ".service"))
    assert isinstance(timers.transient(text), set)
    following = timers.next_of(text)
    assert following is None or following[1] > 0


@given(JSON)
@FUZZ
def test_no_json_breaks_the_list_of_timers(value: object) -> None:
    following = timers.next_of(json.dumps([{"next": value, "unit": "a.timer"}]))
    assert (following is not None) == (isinstance(value, int) and 0 < value < 2**63)


def test_the_first_timer_to_elapse_is_told() -> None:
    text = '[{"next":null,"unit":"n"},{"next":9000000,"unit":"late"},{"next":2500000,"unit":"a"}]'
    assert timers.next_of(text) == ("a", 2.5)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("\n/dev/sda:\n APM_level\t= 254\n", "254"),
        ("\n/dev/sda:\n APM_level\t= off\n", "255"),
        ("\n/dev/sda:\n APM_level\t= not supported\n", None),
        ("\n/dev/sda:\n setting to 0xfe (254)\n APM_level\t= 1\n", "1"),
    ],
)
def test_the_level_that_hdparm_prints_is_read(text: str, level: str | None) -> None:
    assert disks.apm_level(text) == level


def test_the_priorities_of_swap_areas_are_read() -> None:
    text = "Filename Type Size Used Priority\n/dev/zram0 partition 8 0 100\n/swap file 8 0 -2\n"
    assert memory.areas(text) == [("/dev/zram0", 100), ("/swap", -2)]


@given(st.text(string.printable), st.text(string.printable))
@FUZZ
def test_every_wish_is_understood_or_explained(name: str, value: str) -> None:
    for word in (name, f"{name}={value}", f"scheduler={value}"):
        try:
            wishes = host.parse_wishes([word])
        except FsgreenError as error:
            assert error.next_step
        else:
            assert all(wishes.values())


def test_the_lock_folder_is_readable_by_those_without_root(
    tree: host.Tree, written: journal.Journal
) -> None:
    """`fsgreen doctor` tells of a journal without root."""
    assert written.file.stat().st_mode & 0o444 == 0o444
    assert Path(written.file).parent.stat().st_mode & 0o555 == 0o555
