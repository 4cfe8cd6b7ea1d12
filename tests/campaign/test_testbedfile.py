"""The testbed file decides which device and which meter: nothing in it may be guessed."""

from pathlib import Path

import pytest

from fsgreen.campaign import testbedfile
from fsgreen.errors import FsgreenError
from fsgreen.testbeds import Disk, GuestAsked, ListedDisk

GOOD = """
[testbed]
kind = "loop"
folder = "/var/tmp"

[[meter]]
name = "system"
driver = "wattsup"
port = "/dev/serial/by-id/usb-meter"
boundary = "wall"
covers = ["server"]
"""


def write(folder: Path, text: str) -> str:
    file = folder / "lab.toml"
    file.write_text(text)
    return str(file)


def test_a_file_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    place = testbedfile.read(write(tmp_path, GOOD))
    assert (place.kind, place.folder, place.in_memory) == ("loop", Path("/var/tmp"), False)
    assert place.meters[0]["port"] == "/dev/serial/by-id/usb-meter"
    other = place.over(folder=Path("/srv"), in_memory=True)
    assert (other.folder, other.in_memory, other.meters) == (Path("/srv"), True, place.meters)


def test_the_settings_of_the_machine_are_read(tmp_path: Path) -> None:
    asked = "[host]\napply = ['governor', 'scheduler=none']\ndisks = ['sda']"
    place = testbedfile.read(write(tmp_path, GOOD + asked))
    assert place.settings == ("governor", "scheduler=none")
    assert place.disks == ("sda",)


def test_a_guest_is_described_and_only_a_virtual_machine_has_one(tmp_path: Path) -> None:
    asked = (
        "drive = 'nvme'\nguest_memory_mib = 512\nguest_dirty_mib = 32\n"
        "drive_mib_s = 100\ndrive_iops = 2000\ndrive_zone_mib = 16"
    )
    place = testbedfile.read(write(tmp_path, f"[testbed]\nkind = 'vm'\n{asked}"))
    assert place.guest() == GuestAsked("auto", "nvme", 512, 32, 100, 2000, 16)
    for line in asked.splitlines():
        key = line.split()[0]
        with pytest.raises(FsgreenError, match=f'{key} is for kind = "vm"'):
            testbedfile.read(write(tmp_path, f"[testbed]\nkind = 'loop'\n{line}"))
    slowed = "[testbed]\nkind = 'vm'\ndrive = 'null'\ndrive_iops = 2000"
    with pytest.raises(FsgreenError, match="limit an image"):
        testbedfile.read(write(tmp_path, slowed))
    zoned = "[testbed]\nkind = 'vm'\ndrive_zone_mib = 16"
    with pytest.raises(FsgreenError, match='is for drive = "nvme" or "null"'):
        testbedfile.read(write(tmp_path, zoned))


def test_a_simulated_disk_is_described_and_the_command_line_wins(tmp_path: Path) -> None:
    asked = "[testbed]\nkind = 'simdisk'\ndisk = 'wd200bb'\nqueue_depth = 4\nwrite = 'through'"
    place = testbedfile.read(write(tmp_path, asked))
    assert (place.kind, place.queue_depth) == ("simdisk", 4)
    assert place.simulated(place.disk) == Disk("wd200bb", write="through")
    other = place.over(folder=None, in_memory=False, disk="ddys-t36950n", queue_depth=32)
    assert (other.simulated(other.disk), other.queue_depth) == (
        Disk("ddys-t36950n", write="through"),
        32,
    )
    assert testbedfile.read("simdisk").simulated(None) is None
    with pytest.raises(FsgreenError, match="queue_depth is 0, not a whole number from 1 on"):
        place.over(folder=None, in_memory=False, queue_depth=0)


def test_a_real_disk_is_named_by_id_and_confirmed_by_its_serial_number(tmp_path: Path) -> None:
    device = "/dev/disk/by-id/ata-WDC_1"
    asked = f"[testbed]\nkind = 'block'\ndevice = '{device}'\n"
    assert testbedfile.read(write(tmp_path, asked)).listed() == ListedDisk(Path(device), None)
    place = testbedfile.read(write(tmp_path, f"{asked}serial = 'WD-1'"))
    assert (place.kind, place.listed()) == ("block", ListedDisk(Path(device), "WD-1"))
    assert testbedfile.read("block").listed() is None


def test_a_kind_needs_no_file() -> None:
    assert testbedfile.read("directory").kind == "directory"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[testbed]\nkid = 'loop'", "line 2: unknown key kid, did you mean kind"),
        ("[testbed]\nkind = 'lop'", "unknown testbed 'lop', did you mean loop"),
        ("not toml", r"not TOML[^$]*where: .*toml:1\n"),
        ("[meter]\nname = 'a'", r"takes tables that each begin with \[\[meter\]\]"),
        ("testbed = 3", "not a testbed file"),
        ("meter = ['x']", "not a testbed file"),
        ("[[meter]]\nname = 'a'\n", "line 1: the key driver is missing"),
        (f"{GOOD}rnage_w = 5", "line 12: unknown key rnage_w, did you mean range_w. Known: baud, "),
        (f"{GOOD}range_w = 'high'", "line 12: range_w: takes a number, not 'high'"),
        (f"{GOOD}baud = true", "line 12: baud: takes a whole number, not true"),
        ("[[meter]]\nname = 'a'\ndriver = 'wattsup'\nemulate = true\nprofil = 'x'", "line 5: "),
        ("[[meter]]\nname = 'a'\ndriver = 'hwmon'\ngain_error = 1.5", "for 3 reasons"),
        ("[[meter]]\nname = 'a'\ndriver = 'watsup'", "driver 'watsup'[^$]*toml:3\n"),
        ("[[meter]]\nname = 'a'\ndriver = 'table'", r"reads files[^$]*toml:3\n"),
        ("host = 3", "not a testbed file"),
        ("[host]\napply = 'governor'", "not a testbed file"),
        ("[host]\ndisk = ['sda']", "line 2: unknown key disk, did you mean disks"),
        ("[testbed]\ndisk = 3", "testbed.disk: takes a text, not 3"),
        ("[testbed]\nqueue_depth = 0", "takes a whole number from 1 on, not 0"),
        ("[testbed]\nqueue_depth = true", "takes a whole number from 1 on, not true"),
        ("[testbed]\nin_memory = 'false'", "in_memory: takes true or false, not 'false'"),
        ("[testbed]\npulses = 'no'", "pulses: takes true or false, not 'no'"),
        ("[testbed]\nfolder = 3", "folder: takes a text, not 3"),
        ("[testbed]\nkind = ['loop']", "takes a text"),
        ("[testbed]\nwrite = 'bak'", "takes back or through, not 'bak'"),
        ("[testbed]\nkind = 'block'\ndevice = '/dev/sdb'", "line 3: .*stays with the disk"),
        ("[testbed]\nkind = 'block'\nserial = 5", "serial: takes a text"),
        ("[testbed]\ndevice = '/dev/disk/by-id/ata-1'", 'are for kind = "block"'),
        ("[testbed]\nkind = 'vm'\ndrive_zone_mib = 24", "takes a power of two from 4 on, not 24"),
        ("[testbed]\nclock = 'virtual'", "takes real, instant, kvm or tcg, not 'virtual'"),
    ],
)
def test_a_wrong_word_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FsgreenError, match=message):
        testbedfile.read(write(tmp_path, text))


def test_a_missing_file_and_an_unknown_kind_are_named() -> None:
    with pytest.raises(FsgreenError, match="the testbed file cannot be read: No such file"):
        testbedfile.read("nowhere.toml")
    with pytest.raises(FsgreenError, match="unknown testbed 'lop', did you mean loop"):
        testbedfile.read("lop")
