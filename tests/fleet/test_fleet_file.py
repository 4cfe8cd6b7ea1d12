"""The fleet file: what it says, and what would leave a testbed open to others."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fsgreen import cli, fleet
from fsgreen.errors import FsgreenError
from fsgreen.fleet import certificates


def written(folder: Path, **said: object) -> Path:
    """A fleet file of two testbeds on one machine that says these things, too."""
    values = {"home": "localhost:8786", "testbeds": ["disk", "memory"], **said}
    file = folder / "fleet.toml"
    file.write_text("".join(f"{name} = {value!r}\n" for name, value in values.items()))
    return file


def test_a_fleet_has_testbeds_and_a_home(tmp_path: Path) -> None:
    read = fleet.read(written(tmp_path, certificates="shown"))
    assert read.testbeds == ("disk", "memory")
    assert (read.host, read.port, read.is_local) == ("127.0.0.1", 8786, True)
    assert read.certificates == tmp_path / "shown", "it is not looked for beside the file"


@pytest.mark.parametrize("home", ["192.0.2.7:8786", "lab.example.org:8786", "0.0.0.0:8786"])
def test_without_certificates_nobody_on_another_machine_can_reach_home(
    tmp_path: Path, home: str
) -> None:
    """Whoever reaches a worker has it measure, as root perhaps."""
    with pytest.raises(FsgreenError, match="nobody would ask them who they are") as told:
        fleet.read(written(tmp_path, home=home))
    assert "fsgreen fleet certificates" in str(told.value.next_step)
    assert not fleet.read(written(tmp_path, home=home, certificates="shown")).is_local


@pytest.mark.parametrize("home", ["127.0.0.1:1", "[::1]:8786", "127.8.9.10:65535"])
def test_this_machine_is_known_by_each_of_its_names(tmp_path: Path, home: str) -> None:
    assert fleet.read(written(tmp_path, home=home)).is_local


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"home": "lab"}, "home is HOST:PORT"),
        ({"home": "lab:99999"}, "home is HOST:PORT"),
        ({"home": "user@lab:1"}, "home is HOST:PORT"),
        ({"home": "lab:1/x"}, "home is HOST:PORT"),
        ({"testbeds": []}, "1 or more entries"),
        ({"testbeds": ["a", "a"]}, "named twice"),
        ({"testbeds": ["../a"]}, "named by letters"),
        ({"testbed": ["a"]}, "testbeds"),
        ({"design": "shared"}, "design"),
    ],
)
def test_what_a_fleet_file_cannot_say_is_refused_with_its_line(
    tmp_path: Path, said: dict[str, object], why: str
) -> None:
    with pytest.raises(FsgreenError, match=why) as told:
        fleet.read(written(tmp_path, **said))
    assert "fleet.toml:" in str(told.value.where)


def test_one_testbed_shares_with_nobody(tmp_path: Path) -> None:
    assert fleet.read(written(tmp_path, design="share")).design == "share"
    with pytest.raises(FsgreenError, match="nobody to share the blocks with") as told:
        fleet.read(written(tmp_path, design="share", testbeds=["disk"]))
    assert 'design = "replicate"' in str(told.value.next_step)


def test_a_worker_of_no_testbed_is_told_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="did you mean memory"):
        fleet.read(written(tmp_path)).check_testbed("memroy")


def test_certificates_are_for_their_owner_alone_and_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new key in place of the old one would shut out every machine that has that."""
    folder = tmp_path / "shown"
    assert cli.main(["fleet", "certificates", str(folder)]) == 0
    key = folder / "key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n", "git would take the key"
    before = key.read_bytes()
    assert cli.main(["fleet", "certificates", str(folder)]) == 1
    assert key.read_bytes() == before
    assert "name a new folder" in capsys.readouterr().err


def test_a_key_that_others_may_read_is_shown_to_nobody(tmp_path: Path) -> None:
    certificates.make(tmp_path / "shown")
    read = fleet.read(written(tmp_path, certificates="shown"))
    certificates.security(read)
    (tmp_path / "shown" / "key.pem").chmod(0o644)
    with pytest.raises(FsgreenError, match="others may read the key"):
        certificates.security(read)
    (tmp_path / "shown" / "key.pem").unlink()
    with pytest.raises(FsgreenError, match="no such file that you may read"):
        certificates.security(read)


@pytest.mark.parametrize("module", ["fsgreen.fleet", "fsgreen.cli", "fsgreen.fleet.child"])
def test_without_a_fleet_nothing_of_dask_is_imported(module: str) -> None:
    """It is a second of every command, and of what measures."""
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"dask", "distributed", "tornado"} & {*loaded.stdout.split()}
