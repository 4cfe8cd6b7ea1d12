"""An NVMe drive: the power state in which it works, and whether it rests by itself (APST).

nvme-cli asks and sets the power state (NVM Express Base Specification, feature 02h). A file of the
kernel bounds the time in which the drive must wake, and so the states in which it may rest.
"""

from __future__ import annotations

import re

from fsgreen import commands
from fsgreen.audit import nvme
from fsgreen.audit.tree import HERE, Tree
from fsgreen.errors import FsgreenError

NO_DRIVE = "no NVMe drive"
NO_APST = "its controller has no APST"


def controller_of(disk: str) -> str:
    """Return the controller of a drive (`nvme0n1`), or of one of its paths (`nvme0c1n1`)."""
    return re.sub(r"^nvme(?:[0-9]+c)?([0-9]+)n[0-9]+$", r"nvme\1", disk)


class Drive:
    """The drive behind a disk of the kernel. Its states are its controller's, of all namespaces.

    Parameters
    ----------
    disk : str
        The kernel's name of the disk (`nvme0n1`).
    tree : Tree
        The files of the kernel.

    Attributes
    ----------
    controller : str
        The kernel's name of its controller (`nvme0`); that of the disk if it is no NVMe drive.
    rest_file : str
        The file of the kernel for APST, in `tree`.
    """

    def __init__(self, disk: str, tree: Tree = HERE) -> None:
        self.controller = controller_of(disk)
        self._disk = tree.path(f"dev/{disk}")
        self._node = str(tree.path(f"dev/{self.controller}"))
        self.rest_file = f"sys/class/nvme/{self.controller}/power/pm_qos_latency_tolerance_us"

    def power_state(self) -> int | None:
        """Return the state in which the drive works, after it was woken; None if it tells none.

        A drive that rests wakes into the state in which it worked last, so a read wakes it first.
        """
        read = ["dd", f"if={self._disk}", "of=/dev/null", "bs=4096", "count=1", "iflag=direct"]
        try:
            commands.run(read)
            return nvme.power_state(self._feature())
        except FsgreenError:
            return None

    def lacks_state(self, state: str) -> str:
        """Return why the drive does not work in a state; empty if it does. It may only rest there.

        Raises `FsgreenError` if the drive cannot be asked.
        """
        command = ["nvme", "id-ctrl", self._node, "--output-format=json"]
        states = [str(number) for number in nvme.working_states(commands.run(command))]
        if state in states:
            return ""
        return f"the drive works in the states {', '.join(states) or '(none)'}, not in '{state}'"

    def set_power_state(self, state: int, lock_fd: int | None) -> None:
        """Set the state until the drive is reset. The hint beside it stays."""
        hint = (nvme.feature(self._feature()) or 0) & ~nvme.STATE
        commands.run(self.state_command(hint | state), lock_fd=lock_fd)

    def state_command(self, value: int) -> list[str]:
        """Return the call of nvme that sets feature 02h."""
        return ["nvme", "set-feature", self._node, "--feature-id=2", f"--value={value:#x}"]

    def _feature(self) -> bytes:
        """Return what nvme says of feature 02h of the controller."""
        return commands.run(["nvme", "get-feature", self._node, "--feature-id=2"]).encode()
