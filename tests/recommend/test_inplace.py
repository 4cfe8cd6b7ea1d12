"""Commands that stand in for mkfs: what they leave must be what mkfs would have made."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from fsgreen import paths, recommend
from fsgreen.analysis.configuration import parse
from fsgreen.devices import mounts
from fsgreen.recommend import inplace
from fsgreen.stacks import filesystems
from fsgreen.testbeds import open_testbed

SIZE_B = 160 << 20
TOOLS = ("mkfs.ext4", "dumpe2fs", "tune2fs", "e2fsck", "losetup")


if missing := [name for name in TOOLS if paths.program(name) is None]:
    reason = f"needs {', '.join(missing)}: apt-get install e2fsprogs mount"
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def testbed(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        bed = open_testbed("loop", in_memory=True, size_b=SIZE_B)
    with bed:
        yield bed


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def features(device):
    """The features on a device; what is to be recovered is no property of how it is made."""
    shown = subprocess.run(["dumpe2fs", "-h", device], check=True, capture_output=True, text=True)
    (line,) = re.findall(r"^Filesystem features:(.*)$", shown.stdout, re.M)
    return set(line.split()) - {"needs_recovery", "orphan_present"}


@pytest.mark.loop
@pytest.mark.parametrize(
    ("now", "then", "unmade"),
    [
        ("ext4/default", "ext4/nojnl", set()),
        ("ext4/wrbck", "ext4/nojnl+noatime", set()),
        # Newer mke2fs makes an orphan file with the journal; to do without is safe.
        ("ext4/nojnl", "ext4/default", {"orphan_file"}),
        ("ext3/default", "ext2/default", set()),
        ("ext3/blk2k+dtlg", "ext2/blk2k", set()),
        ("ext2/noatime", "ext3/default", set()),
    ],
)
def test_a_command_does_what_mkfs_would_and_keeps_the_data(testbed, now, then, unmade):
    """Where it does not, the gain that is promised was measured on something else."""
    old, new = parse(now), parse(then)
    for config in (old, new):
        usable, why = filesystems.usable_here(filesystems.file_system(config["file_system"]))
        if not usable:
            pytest.skip(f"{config['file_system']}: {why}")
    made_by = filesystems.file_system(new["file_system"])
    made = testbed.prepare(new)
    wanted = features(made.device) - unmade, made_by.geometry(Path(made.device))
    mount = testbed.prepare(old)
    device, folder = mount.device, mount.directory
    (folder / "file").write_bytes(b"kept" * 100_000)

    places = {"umount": [folder], "tune2fs": [device], "mount": [device, folder]}
    step = recommend.change(old, new)
    for command in step.how.split("; "):
        tool, *words = command.split()
        run(tool, *words, *places[tool])

    assert step.kind == "offline"
    assert mounts.holding(folder).file_system == new["file_system"]
    assert (folder / "file").read_bytes() == b"kept" * 100_000
    run("umount", folder)
    assert (features(device), made_by.geometry(Path(device))) == wanted
    run("e2fsck", "-f", "-n", device)


def test_no_orphan_file_is_left_behind_the_journal(tmp_path):
    """Newer mke2fs makes one, and e2fsck calls one without a journal an error."""
    image = tmp_path / "image"
    image.touch()
    os.truncate(image, 32 << 20)
    made = subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "orphan_file", image], check=False)
    if made.returncode:
        pytest.skip("an e2fsprogs before 1.47 knows no orphan file")
    run(*inplace.SET["ext4", "nojnl"].split(), image)
    run("e2fsck", "-f", "-n", image)
    assert not {"has_journal", "orphan_file"} & features(image)
