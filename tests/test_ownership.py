"""Under sudo: who types it gets what was made, and not one file of root that was there before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OWNER = 12345

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="changes owners: run as root (sudo ./run test)"
)

BEGIN = """
import os, sys, time
from pathlib import Path
import pandas as pd
from fsgreen import durable, paths
paths.root = lambda: Path(sys.argv[1])
os.environ |= {"SUDO_UID": "12345", "SUDO_GID": "12345"}
from fsgreen import ownership
ownership.begin()
data = paths.data()
"""


def under_sudo(checkout: Path, code: str, data: Path | None = None) -> int:
    """Run code as `sudo fsgreen` would by the owner of a checkout; return how it ended."""
    os.chown(checkout, OWNER, OWNER)
    moved = {} if data is None else {"FSGREEN_DATA": str(data)}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code, checkout], env=os.environ | moved, check=False
    )
    return done.returncode


def owners(folder: Path) -> dict[str, int]:
    """Who owns what stands in a folder, at any depth."""
    return {str(p.relative_to(folder)): p.lstat().st_uid for p in sorted(folder.rglob("*"))}


def test_what_was_made_belongs_to_who_typed_sudo(tmp_path: Path) -> None:
    """Also through a rename, and by libraries whose files Python does not open."""
    code = """
campaign = data / "raw" / "mine"
(campaign / ".t.partial").mkdir(parents=True)
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"a": [1]}), campaign / ".t.partial" / "power.parquet")
(campaign / ".t.partial").rename(campaign / "t")
with durable.whole(campaign / "late.parquet") as partial:
    pq.write_table(pa.table({"a": [1]}), partial)
(campaign / "link").symlink_to("t")
"""
    assert under_sudo(tmp_path, code) == 0
    seen = owners(tmp_path / "data")
    assert {"raw/mine/t/power.parquet", "raw/mine/late.parquet", "raw/mine/link"} < set(seen)
    assert set(seen.values()) == {OWNER}


@pytest.mark.parametrize("code", ["status = 1", "(data / 'raw').mkdir(); (data / 'x').touch()"])
def test_a_file_of_root_that_was_there_stays_its_own(tmp_path: Path, code: str) -> None:
    """FSGREEN_DATA=/srv once gave all of /srv away, and by commands that only read."""
    data = tmp_path / "srv"
    (data / "results").mkdir(parents=True)
    secret = data / "results" / "secret"
    secret.touch(0o600)
    (tmp_path / "checkout").mkdir()
    assert under_sudo(tmp_path / "checkout", code, data) == 0
    seen = owners(data)
    assert seen.pop("results") == seen.pop("results/secret") == 0
    assert set(seen.values()) <= {OWNER}


def test_what_another_process_of_root_makes_meanwhile_stays_its_own(tmp_path: Path) -> None:
    code = """
import subprocess
(data / "raw").mkdir(parents=True)
subprocess.run(["touch", data / "of-another", paths.root() / "of-another"], check=True)
(data / "raw" / "mine").mkdir()
"""
    assert under_sudo(tmp_path, code) == 0
    seen = owners(tmp_path)
    assert seen.pop("of-another") == seen.pop("data/of-another") == 0
    assert set(seen.values()) == {OWNER}


def test_a_file_that_is_written_anew_in_place_keeps_its_owner(tmp_path: Path) -> None:
    of_root = tmp_path / "data" / "raw" / "notes"
    of_root.parent.mkdir(parents=True)
    of_root.write_text("of root")
    assert under_sudo(tmp_path, "(data / 'raw' / 'notes').write_text('more')") == 0
    assert of_root.read_text() == "more" and of_root.stat().st_uid == 0


def test_a_link_out_of_the_data_folder_gives_nothing_away(tmp_path: Path) -> None:
    outside, checkout = tmp_path / "etc", tmp_path / "checkout"
    outside.mkdir()
    (outside / "shadow").touch()
    (checkout / "data").mkdir(parents=True)
    (checkout / "data" / "raw").symlink_to(outside)
    code = "(data / 'raw' / 'new').touch(); (data / 'link').symlink_to(sys.argv[1] + '/../etc')"
    assert under_sudo(checkout, code) == 0
    assert owners(outside) == {"shadow": 0, "new": 0}
    assert outside.stat().st_uid == 0


def test_after_a_kill_only_the_last_thing_made_stays_with_root(tmp_path: Path) -> None:
    """Nobody could analyse without root what was measured until then."""
    code = """
for name in ("a", "b", "c"):
    (data / "raw" / name).mkdir(parents=True)
os.kill(os.getpid(), 9)
"""
    assert under_sudo(tmp_path, code) == -9
    seen = owners(tmp_path / "data")
    assert seen.pop("raw/c") == 0
    assert set(seen.values()) == {OWNER}


def test_somebody_elses_sudo_changes_no_owner(tmp_path: Path) -> None:
    """Only the owner of a checkout gets what is made in it."""
    code = BEGIN.replace('"SUDO_UID": "12345"', '"SUDO_UID": "12346"') + "data.mkdir()"
    os.chown(tmp_path, OWNER, OWNER)
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    assert (tmp_path / "data").stat().st_uid == 0
