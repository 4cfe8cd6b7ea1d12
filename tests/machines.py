"""A machine made of files: settings that this one may lack, and programs that act on them."""

from __future__ import annotations

from pathlib import Path

from fsgreen import host
from fsgreen.errors import FsgreenError
from fsgreen.host import journal
from tests.patience import wait_for

CPU = "sys/devices/system/cpu"
POLICIES = 4

FILES = {
    "proc/sys/kernel/random/boot_id": "0b0e5b5e-1111-4222-8333-944445555666",
    "proc/swaps": "Filename Type Size Used Priority\n"
    "/dev/sda2 partition 1048572 0 -2\n/swapfile file 524284 0 7",
    f"{CPU}/intel_pstate/no_turbo": "0",
    f"{CPU}/smt/control": "on",
    f"{CPU}/offline": "",
    "proc/sys/vm/dirty_bytes": "0",
    "proc/sys/vm/dirty_ratio": "20",
    "sys/block/sda/queue/read_ahead_kb": "4096",
    "sys/block/sda/queue/scheduler": "none [mq-deadline] bfq",
    "sys/block/sda/device/model": "ST3500",
    "sys/block/sda/diskseq": "9",
    "run/systemd/system/.here": "",
    "apm/sda": "128",
    "units/apt-daily.timer": "active",
    "units/fstrim.timer": "inactive",
    "units/cron.service": "active",
    "timers.json": '[{"next": 0, "unit": "a.timer"}, {"next": 4102444800000000, "unit": "b.t"}]',
} | {
    f"{CPU}/cpufreq/policy{number}/{name}": text
    for number in range(POLICIES)
    for name, text in {
        "scaling_governor": "powersave",
        "scaling_available_governors": "performance powersave",
    }.items()
}

PROGRAMS = {
    "swapoff": """
awk -v name="$1" '$1 != name' {root}/proc/swaps > {root}/swaps.new
mv {root}/swaps.new {root}/proc/swaps
""",
    "swapon": """
priority=-2
[ "$1" = --priority ] && { priority=$2; shift 2; }
echo "$1 file 1048572 0 $priority" >> {root}/proc/swaps
""",
    "hdparm": """
[ $# = 3 ] && echo "$2" > {root}/apm/sda
level=$(cat {root}/apm/sda)
[ "$level" = 255 ] && level=off
printf '\\n/dev/sda:\\n APM_level\\t= %s\\n' "$level"
""",
    "systemctl": """
verb=$1; shift
case $verb in
list-units) for unit in {root}/units/*; do
    [ "$(cat $unit)" = active ] && echo "${unit##*/} loaded active waiting A unit"
  done; true ;;
list-timers) cat {root}/timers.json ;;
show) for unit; do
    case $unit in --*) continue ;; esac
    if [ -e {root}/units/$unit ]; then echo LoadState=loaded; else echo LoadState=not-found; fi
    echo "ActiveState=$(cat {root}/units/$unit 2>/dev/null || echo inactive)"
    echo "Id=$unit"
    case $unit in run-*) echo Transient=yes ;; *) echo Transient=no ;; esac
    echo
  done ;;
start) echo active > {root}/units/$1 ;;
stop) echo inactive > {root}/units/$1 ;;
esac
""",
}


def make(root: Path) -> host.Tree:
    """Make the files and, in `root/bin`, the programs; put that folder first in PATH."""
    for name, text in FILES.items():
        write(root, name, text)
    for name, text in PROGRAMS.items():
        program(root, name, text)
    return host.Tree(root)


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def program(root: Path, name: str, text: str) -> None:
    write(root, f"bin/{name}", "#!/bin/sh\n" + text.replace("{root}", str(root)))
    (root / "bin" / name).chmod(0o755)


def state(tree: host.Tree) -> dict[str, object]:
    """All that settings can change; the order of swap areas does not matter."""
    kept = ("sys", "apm", "units")
    files = [file for top in kept for file in (tree.root / top).rglob("*") if file.is_file()]
    texts: dict[str, object] = {str(file): file.read_text() for file in files}
    lines = (tree.root / "proc/swaps").read_text().splitlines()[1:]
    return texts | {"swaps": sorted(line.split()[0::4] for line in lines)}


def wait_for_guardian(tree: host.Tree) -> None:
    """Return when no journal is held any more: the guardian of a killed holder has ended."""
    journals = tree.path(journal.FOLDER)
    wait_for(lambda: not any(map(_is_held, journals.glob("*.json"))), "a guardian does not end")


def _is_held(file: Path) -> bool:
    try:
        return journal.read(file).held()
    except FsgreenError:
        assert not file.exists(), "a journal is damaged"
        return False
