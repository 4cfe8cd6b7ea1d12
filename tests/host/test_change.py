"""Settings are changed as asked, or not at all, and always come back."""

from __future__ import annotations

import os
from pathlib import Path

import machines
import pytest

from fsgreen import host
from fsgreen.audit import HERE, machine
from fsgreen.errors import FsgreenError
from fsgreen.host import journal

EVERYTHING = ("governor", "turbo", "timers", "swap", "smt", "read-ahead=256", "apm")
POLICY = f"{machines.CPU}/cpufreq/policy0/scaling_governor"


def calm(tree: host.Tree) -> dict[str, object]:
    """What `state` should be with all of `EVERYTHING` applied."""
    texts = machines.state(tree)
    for name in texts:
        if name.endswith("scaling_governor"):
            texts[name] = "performance\n"
    values = {
        f"{machines.CPU}/intel_pstate/no_turbo": "1\n",
        f"{machines.CPU}/smt/control": "off\n",
        "sys/block/sda/queue/read_ahead_kb": "256\n",
        "apm/sda": "254\n",
        "units/apt-daily.timer": "inactive\n",
        "units/cron.service": "inactive\n",
    }
    return texts | {str(tree.path(name)): text for name, text in values.items()} | {"swaps": []}


def test_everything_is_applied_and_restored(tree: host.Tree) -> None:
    before, wanted = machines.state(tree), calm(tree)
    rows = host.apply(EVERYTHING, disks=["sda"], tree=tree)
    assert {row.setting for row in rows if row.changes} == {
        word.partition("=")[0] for word in EVERYTHING
    }
    assert machines.state(tree) == wanted
    outcomes = host.restore(tree)
    assert {outcome.result for outcome in outcomes} == {"put back"}
    assert machines.state(tree) == before
    assert host.restore(tree) == []
    assert host.pending(tree) == []


def test_a_block_has_the_settings_and_what_follows_it_has_not(tree: host.Tree) -> None:
    before, wanted = machines.state(tree), calm(tree)
    with host.applied(EVERYTHING, disks=["sda"], tree=tree):
        assert machines.state(tree) == wanted
        assert host.pending(tree) == [], "what a running block holds waits for nobody"
    assert machines.state(tree) == before
    assert journal.journals(tree) == []


def test_an_exception_in_the_block_restores_and_is_not_hidden(tree: host.Tree) -> None:
    before = machines.state(tree)
    with pytest.raises(ValueError, match="in the block"), host.applied(["governor"], tree=tree):
        raise ValueError("in the block")
    assert machines.state(tree) == before


def test_without_names_only_the_default_settings_change(tree: host.Tree) -> None:
    rows = host.apply(tree=tree)
    assert {row.setting for row in rows} == set(host.BY_DEFAULT)
    assert tree.text(f"{machines.CPU}/smt/control") == "on"
    assert tree.text("sys/block/sda/queue/read_ahead_kb") == "4096"


def test_what_is_as_wanted_needs_no_journal_and_no_guardian(tree: host.Tree) -> None:
    with host.applied(["governor=powersave"], tree=tree) as rows:
        assert not any(row.changes for row in rows)
        assert journal.journals(tree) == []


def test_applying_twice_is_undone_to_the_first_state(tree: host.Tree) -> None:
    before = machines.state(tree)
    host.apply(["governor"], tree=tree)
    host.apply(["governor=powersave", "turbo"], tree=tree)
    assert len(host.pending(tree)) == 2
    host.restore(tree)
    assert machines.state(tree) == before


def test_a_block_inside_of_applied_settings_gives_these_back(tree: host.Tree) -> None:
    host.apply(["governor"], tree=tree)
    with host.applied(["governor", "turbo"], tree=tree):
        assert tree.text(f"{machines.CPU}/intel_pstate/no_turbo") == "1"
    assert tree.text(POLICY) == "performance"
    assert tree.text(f"{machines.CPU}/intel_pstate/no_turbo") == "0"


@pytest.mark.parametrize(
    ("words", "disks", "message"),
    [
        (["governer"], [], "did you mean governor"),
        (["governor=schedutil"], [], "there is no 'schedutil', only performance, powersave"),
        (["turbo=perhaps"], [], "neither on nor off"),
        (["scheduler"], ["sda"], "which scheduler"),
        (["scheduler=cfq"], ["sda"], "there is no 'cfq', only none, mq-deadline, bfq"),
        (["read-ahead"], [], "no disk is named for read-ahead"),
        (["governor"], ["sda"], "no setting that a disk has"),
        (["read-ahead"], ["sdb"], "unknown whole disk 'sdb', did you mean sda"),
        (["read-ahead=much"], ["sda"], "no number of KiB"),
        (["apm=0"], ["sda"], "no level from 1 to 255"),
        (["dirty"], [], "which dirty"),
        (["dirty=32MiB"], [], "neither a number of bytes, 10000 or more, nor a percentage"),
        (["swap=on"], [], "can only be switched off"),
        (["timers=paused"], [], "can only be stopped"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_changes(
    tree: host.Tree, words: list[str], disks: list[str], message: str
) -> None:
    before = machines.state(tree)
    with pytest.raises(FsgreenError, match=message):
        host.apply(["turbo", *words] if disks else words, disks=disks, tree=tree)
    assert machines.state(tree) == before
    assert journal.journals(tree) == []


def test_a_drive_that_falls_asleep_by_itself_is_kept_awake_meanwhile(tree: host.Tree) -> None:
    """An NVMe drive has its limit in its controller; others have none."""
    for name in ("nvme0n1", "nvme1n1"):
        machines.write(tree.root, f"sys/block/{name}/queue/read_ahead_kb", "128")
        machines.write(tree.root, f"sys/block/{name}/diskseq", name[4])
    file = "sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us"
    machines.write(tree.root, file, "100000")
    with host.applied(["apst"], disks=["nvme0n1"], tree=tree):
        assert tree.text(file) == "0"
    assert tree.text(file) == "100000"
    for disk, word, why in (
        ("sda", "apst", "no NVMe drive"),
        ("nvme1n1", "apst", "its controller has no APST"),
        ("nvme0n1", "apst=never", "neither a number of us nor auto or any"),
    ):
        with pytest.raises(FsgreenError, match=why):
            host.apply([word], disks=[disk], tree=tree)
    assert tree.text(file) == "100000"


def test_smt_is_refused_where_putting_it_back_would_wake_other_cores(tree: host.Tree) -> None:
    machines.write(tree.root, f"{machines.CPU}/offline", "6-7")
    with pytest.raises(FsgreenError, match="cores 6-7 are offline"):
        host.apply(["smt"], tree=tree)


def test_swap_on_a_deleted_file_is_left_on(tree: host.Tree) -> None:
    with (tree.root / "proc/swaps").open("a") as swaps:
        swaps.write("/old\\040(deleted) file 1024 0 -3\n")
    rows = host.apply(["swap"], tree=tree)
    left = [row for row in rows if row.obstacle]
    assert [row.target for row in left] == ["/old\\040(deleted)"]
    assert host.look({"swap": "off"}, tree=tree) == left
    with pytest.raises(FsgreenError, match="its file is deleted"):
        host.apply(["swap"], tree=tree)


def test_of_two_named_disks_none_changes_if_one_cannot(tree: host.Tree) -> None:
    machines.write(tree.root, "sys/block/dm-0/queue/scheduler", "none")
    with pytest.raises(FsgreenError, match="scheduler dm-0: this disk has no choice"):
        host.apply(["read-ahead", "scheduler=bfq"], disks=["sda", "dm-0"], tree=tree)
    assert tree.text("sys/block/sda/queue/read_ahead_kb") == "4096"


def test_a_transient_timer_is_left_running(tree: host.Tree) -> None:
    machines.write(tree.root, "units/run-u7.timer", "active")
    host.apply(["timers"], tree=tree)
    assert tree.text("units/run-u7.timer") == "active"
    assert tree.text("units/apt-daily.timer") == "inactive"


def test_a_value_that_does_not_hold_undoes_what_was_changed_before_it(tree: host.Tree) -> None:
    before = machines.state(tree)
    machines.program(tree.root, "swapoff", "exit 0")
    with pytest.raises(FsgreenError, match="although off was set"):
        host.apply(["governor", "swap"], tree=tree)
    assert machines.state(tree) == before
    with (
        pytest.raises(FsgreenError, match="although off was set"),
        host.applied(["governor", "swap"], tree=tree),
    ):
        pytest.fail("the block runs although a setting does not hold")
    assert machines.state(tree) == before
    assert journal.journals(tree) == []


def test_what_cannot_be_put_back_is_named_and_kept_for_the_next_time(tree: host.Tree) -> None:
    before = machines.state(tree)
    program = (tree.root / "bin/swapon").read_text()
    with (
        pytest.raises(FsgreenError, match=r"(?s)not put back: swap .*swapon.*next: .*host restore"),
        host.applied(["governor", "swap"], tree=tree),
    ):
        machines.program(tree.root, "swapon", "echo 'swapon: no such area' >&2; exit 255")
    assert tree.text(POLICY) == "powersave", "the others are put back"
    (waiting,) = host.pending(tree)
    assert waiting.sentence.startswith("swap: changed")
    assert "a run that ended without" in waiting.sentence
    assert not waiting.asked_for
    (tree.root / "bin/swapon").write_text(program)
    assert {outcome.result for outcome in host.restore(tree)} == {"put back"}
    assert machines.state(tree) == before


def test_what_failed_is_put_back_before_anything_older(tree: host.Tree) -> None:
    """Otherwise the older value would be overwritten by the newer one the next time."""
    before = machines.state(tree)
    host.apply(["apm=200"], disks=["sda"], tree=tree)
    host.apply(["apm=254"], disks=["sda"], tree=tree)
    program = (tree.root / "bin/hdparm").read_text()
    machines.program(tree.root, "hdparm", "echo ' APM_level = 254'")
    (outcome,) = host.restore(tree)
    assert outcome.result == "failed"
    assert "hdparm -B 200 /dev/sda" in outcome.detail
    (tree.root / "bin/hdparm").write_text(program)
    assert [outcome.before for outcome in host.restore(tree)] == ["200", "128"]
    assert machines.state(tree) == before


def test_a_disk_that_was_taken_away_is_gone_and_its_successor_is_not_touched(
    tree: host.Tree,
) -> None:
    host.apply(["read-ahead"], disks=["sda"], tree=tree)
    machines.write(tree.root, "sys/block/sda/diskseq", "10")
    (outcome,) = host.restore(tree)
    assert outcome.result == "gone"
    assert tree.text("sys/block/sda/queue/read_ahead_kb") == "128"


def test_a_disk_that_cannot_be_asked_is_not_taken_for_gone(tree: host.Tree) -> None:
    before = machines.state(tree)
    host.apply(["apm"], disks=["sda"], tree=tree)
    program = (tree.root / "bin/hdparm").read_text()
    machines.program(tree.root, "hdparm", "echo 'hdparm: busy' >&2; exit 5")
    (outcome,) = host.restore(tree)
    assert outcome.result == "failed"
    (tree.root / "bin/hdparm").write_text(program)
    host.restore(tree)
    assert machines.state(tree) == before


def test_values_of_another_boot_are_compared_and_never_written(tree: host.Tree) -> None:
    host.apply(["governor", "turbo"], tree=tree)
    machines.write(tree.root, journal.BOOT_ID, "another")
    machines.write(tree.root, f"{machines.CPU}/intel_pstate/no_turbo", "0")
    (waiting,) = host.pending(tree)
    assert "before the machine was booted" in waiting.sentence
    assert not waiting.asked_for
    outcomes = host.restore(tree)
    assert {outcome.result for outcome in outcomes if outcome.setting == "turbo"} == {"as it was"}
    left = [outcome for outcome in outcomes if outcome.setting == "governor"]
    assert {outcome.result for outcome in left} == {"left"}
    assert f"echo powersave > /{POLICY}" in {outcome.detail.split("; ")[1] for outcome in left}
    assert tree.text(POLICY) == "performance"
    assert host.pending(tree) == []


def test_a_second_run_is_refused_while_the_first_holds_settings(tree: host.Tree) -> None:
    with host.applied(["governor"], tree=tree):
        with pytest.raises(FsgreenError, match="a run holds settings"):
            host.apply(["turbo"], tree=tree)
        with pytest.raises(FsgreenError, match="a run that is going on holds these"):
            host.restore(tree)
        with host.applied(["governor"], tree=tree):
            assert tree.text(POLICY) == "performance"
        assert tree.text(POLICY) == "performance", "an inner run that changed nothing restores none"


def test_nothing_is_changed_where_what_was_before_cannot_be_written(tree: host.Tree) -> None:
    tree.path(journal.BOOT_ID).unlink()
    before = machines.state(tree)
    with pytest.raises(FsgreenError, match="this boot has no number"):
        host.apply(["governor"], tree=tree)
    assert machines.state(tree) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="asks what somebody without root is told")
def test_without_root_this_machine_is_shown_and_not_changed() -> None:
    assert host.look()
    with pytest.raises(FsgreenError, match="needs root"):
        host.apply(["governor"])


def test_root_is_asked_for_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for change in (host.apply, host.restore):
        with pytest.raises(FsgreenError, match="needs root"):
            change()


def test_a_machine_without_any_setting_says_why(tmp_path: Path) -> None:
    rows = host.look(tree=host.Tree(tmp_path))
    assert {row.setting for row in rows} == set(host.SETTINGS)
    assert all(row.obstacle and row.now is None for row in rows)
    assert host.apply(tree=host.Tree(tmp_path)) == host.look(
        {name: host.SETTINGS[name].wanted for name in host.BY_DEFAULT}, tree=host.Tree(tmp_path)
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the kernel's limit: run as root")
@pytest.mark.parametrize("value", ["268435456", "7%"])
def test_this_machine_has_its_limit_back_whichever_way_it_was_given(value: str) -> None:
    """A percentage that came back as bytes of 0 would let every writer wait."""
    before = machine.dirty_limit(HERE)
    with host.applied([f"dirty={value}"]):
        assert machine.dirty_limit(HERE) == value
    assert machine.dirty_limit(HERE) == before
