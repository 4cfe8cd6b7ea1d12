"""What a person sends in: enough to compare by, and nothing that says who or where."""

import json
import shutil

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fsgreen import cli, gathered, paths
from fsgreen.design import factors
from fsgreen.errors import FsgreenError
from fsgreen.gathered import broad
from fsgreen.reduce import read_table
from tests.gathered.sending import AUDIT

SECRETS = (
    *("alice", "alices-nas", "ALICE-PC7", "alice@example.org", "alices-nas.fritz.box"),
    *("S5GXNX0R1234", "WD-WCC4N7KPLX1S", "emulated-alice", "2c:cf:67:1a:2b:3c"),
    *("192.168.178.23", "fe80::2ecf:67ff:fe1a:2b3c", "/home/alice/fsgreen", "/mnt/backup-of-bob"),
    *("7bb56ffd-3d18-4447-90a6-11276b51d711", "6.1.0-built-by-alice"),
)
"""A person, hosts, serial numbers, addresses, paths, a mount folder, an identity of a machine."""

ALL = " ".join(SECRETS)


def planted(value, text):
    """The value with a text in every string, and with secrets as further keys and entries."""
    if isinstance(value, dict):
        inside = {key: planted(inner, text) for key, inner in value.items()}
        return {**inside, **{f"{secret} key": secret for secret in SECRETS}, "hostname": ALL}
    if isinstance(value, list):
        return [*(planted(inner, text) for inner in value), ALL]
    return text(value) if isinstance(value, str) else value


def behind(text):
    """What kernels do: the name of a host behind that of a model."""
    return f"{text} {ALL}"


@pytest.fixture
def copied(campaigns, tmp_path, monkeypatch):
    """A copy of the first campaign, to be changed."""
    shutil.copytree(campaigns, tmp_path / "data")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    return "one"


def plant(campaign, text):
    """Plant in all records of a campaign but its plan, and in what tables say in words."""
    for file in paths.raw(campaign).rglob("*.json"):
        if file.name != paths.PLAN:
            whole = planted(json.loads(file.read_text()), text)
            if file.name == paths.IDENTITY:
                whole["meters"] = {secret: whole["meters"]["system"] for secret in SECRETS}
                whole["audit"]["disks"] = {name: whole["audit"]["disks"]["sda"] for name in SECRETS}
                assert all(secret in json.dumps(whole) for secret in SECRETS)
            file.write_text(json.dumps(whole))
    for name in ("cells", "effects", "trust"):
        table = read_table(campaign, name)
        for column in table.select_dtypes(exclude=["number", "bool"]):
            if column.removeprefix("baseline_") not in factors.names() and column not in KEPT:
                table[column] = [text(str(value)) for value in table[column]]
        table.to_csv(paths.results(campaign) / f"{name}.csv", index=False)


KEPT = ("kind", "metric", "model", "state", "rule")
"""What says which row it is."""


@pytest.mark.parametrize("secret", ["behind", *SECRETS])
def test_nothing_says_who_or_where(copied, secret):
    """Wherever it stands in the records: a plug by Tasmota tells its host's name as its model."""
    plant(copied, behind if secret == "behind" else lambda _: secret)
    results = gathered.results_of(copied)
    text = results.text()
    for name in SECRETS:
        assert name.lower() not in text.lower(), name
    assert "alice" not in text.lower()
    assert results.cells and results.effects, "there is something to send"


def test_the_machine_is_told_in_broad_terms(copied):
    plant(copied, behind)
    machine = gathered.results_of(copied).machine
    assert machine.cpu == "Intel Xeon CPU E5-2630 v3 @ 2.40GHz"
    assert (machine.kernel, machine.cores_count) == ("Linux 6.1.0", AUDIT["cores_count"])
    assert machine.memory_b == 31 << 30, "its last bytes tell machines apart"
    assert {disk.model for disk in machine.disks} == {"Samsung SSD 980 PRO 1TB"}


@given(st.text() | st.text("aA1-.: /()R", max_size=40))
@example(ALL)
@example("Tasmota 13.4.0, alices-plug")
@example("Linux alices-nas 5.10.0 #1 SMP")
def test_of_a_name_only_listed_words_go_along(name):
    for word in broad.hardware(name).split():
        assert word in broad.WORDS or broad.NUMBER.fullmatch(word)
        assert len(word) <= 14 and not {*"/:"} & {*word}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("AMD Ryzen 9 9950X3D 16-Core Processor", "AMD Ryzen 9 9950X3D 16-Core Processor"),
        ("12th Gen Intel(R) Core(TM) i7-1260P", "12th Gen Intel Core i7-1260P"),
        ("Watts Up? PRO, hardware 5.0, firmware 7.8", "Watts Up PRO"),
        ("Tasmota 13.4.0, alices-plug", "Tasmota"),
        (None, ""),
    ],
)
def test_a_maker_s_name_stays_readable(name, told):
    assert broad.hardware(name) == told


def test_the_command_says_what_it_wrote_and_what_it_left_out(here, capsys):
    assert cli.main(["export", "one", "--out", "mine.json"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    file = here / "mine.json"
    assert f"mine.json: {file.stat().st_size / 1000:.0f} kB; nothing was sent" in shown
    assert "read it before you send it: less mine.json" in shown
    assert "boot_id" in shown and "started_unix_s" in shown and "serial" in shown
    assert "words of the study go as they are: fast10, test" in shown
    assert "webserver" in shown
    lines = file.read_text().splitlines()
    assert sum('"metric": "throughput"' in line for line in lines) == 2, "a row in a line"


def test_what_is_there_already_is_kept(here, capsys):
    (here / "mine.json").write_text("a letter")
    assert cli.main(["export", "one", "--out", "mine.json"]) == 1
    assert "there is a file already" in capsys.readouterr().err
    assert (here / "mine.json").read_text() == "a letter"


def test_what_was_written_is_what_is_read(here):
    done = gathered.write("one")
    assert done.file.name == "fast10-test.results.json"
    assert gathered.read(done.file) == done.results


def test_numbers_are_those_of_the_tables(here, sent):
    table = read_table("one", "effects").set_index(["metric", "option", "file_system"])
    for effect in sent[0].effects:
        row = table.loc[(effect.metric, effect.of["option"], effect.of["file_system"])]
        assert effect.ratio.low == row["ratio_low_x"]
        assert (effect.outcome, effect.n) == (row["outcome"], row["n"])
        # Five blocks of three cells leave eight degrees for all, four for a pair by itself.
        assert effect.degrees_count == (8 if row["model"] == "mixed model" else 4)


def test_a_large_campaign_is_a_few_hundred_kilobytes(sent):
    results = sent[0]
    many = results.model_copy(
        update={"effects": results.effects[:1] * 400, "cells": results.cells[:1] * 200}
    )
    assert len(many.text()) < 400_000


def test_a_level_that_the_plan_has_not_is_no_word_of_the_study(copied):
    """Who edits a table may write anything there."""
    table = read_table(copied, "cells")
    table.assign(file_system="alice").to_csv(paths.results(copied) / "cells.csv", index=False)
    with pytest.raises(FsgreenError, match="a level that its plan has not: alice"):
        gathered.results_of(copied)


def test_imported_runs_say_nothing_of_a_machine(copied):
    file = paths.raw(copied) / paths.IDENTITY
    file.write_text(json.dumps({**json.loads(file.read_text()), "imported": {}}))
    with pytest.raises(FsgreenError, match="nothing says on which machine"):
        gathered.write(copied)


def test_a_campaign_that_was_not_analysed_says_what_to_do(copied):
    (paths.results(copied) / "effects.csv").unlink()
    with pytest.raises(FsgreenError, match="the table effects"):
        gathered.write(copied)


def test_without_a_comparison_there_are_cells(copied):
    pd.DataFrame(columns=read_table(copied, "effects").columns).to_csv(
        paths.results(copied) / "effects.csv", index=False
    )
    assert not gathered.results_of(copied).effects


def test_a_campaign_that_testbeds_shared_is_not_sent_as_that_of_one(copied, tmp_path):
    """Twelve machines would be taken for one; which they are is nobody's business."""
    alone = gathered.results_of(copied)
    assert json.loads(alone.text())["schema"] == 1, "older versions would not read it any more"
    file = paths.raw(copied) / paths.IDENTITY
    members = [f"{copied}.{name}" for name in SECRETS[:3]]
    file.write_text(json.dumps({**json.loads(file.read_text()), "testbeds": members}))
    done = gathered.write(copied, tmp_path / "mine.json")
    assert done.results == alone.model_copy(update={"testbeds_count": 3})
    assert gathered.about(done.results).startswith("3 testbeds that are alike, ")
    assert gathered.read(done.file) == done.results
    assert not any(name in done.file.read_text() for name in members)
