"""The machine's disks: what each is, and how requests reach it."""

from __future__ import annotations

from typing import Any

from fsgreen.audit.tree import Tree

BLOCK = "sys/block"


def names(tree: Tree) -> list[str]:
    """Return the kernel's names of the disks that a device stands behind: no loop, ram or zram."""
    return tree.folders(BLOCK, "device")


def disks(tree: Tree) -> dict[str, dict[str, Any]]:
    """Return model, serial number, firmware and request queue of each disk, None where not told.

    `queue_depth` are the requests that the kernel holds (nr_requests), `device_queue_depth` those
    that the device itself may reorder (NCQ or TCQ: rule 40).
    """
    return {name: _disk(tree, f"{BLOCK}/{name}") for name in names(tree)}


def serial(tree: Tree, name: str) -> str | None:
    """Return a disk's serial number: of virtio, NVMe, or SCSI and ATA (VPD page 80h)."""
    folder = f"{BLOCK}/{name}"
    text = tree.text(f"{folder}/serial") or tree.text(f"{folder}/device/serial")
    return text or serial_of_page(tree.raw(f"{folder}/device/vpd_pg80") or b"")


def identity(tree: Tree, name: str) -> str:
    """Return what tells a disk from a later one of its name, and from itself after a boot."""
    names = ("proc/sys/kernel/random/boot_id", f"{BLOCK}/{name}/diskseq")
    return " ".join(str(tree.text(name)) for name in names)


def serial_of_page(page: bytes) -> str | None:
    """Return the serial number in VPD page 80h (SPC-4, 7.8.16); None where there is none."""
    if page[1:2] != b"\x80":
        return None
    length_b = int.from_bytes(page[2:4], "big")
    return page[4 : 4 + length_b].decode("ascii", "replace").strip("\0 ") or None


def _disk(tree: Tree, folder: str) -> dict[str, Any]:
    return {
        "model": tree.text(f"{folder}/device/model"),
        "serial": serial(tree, folder.rpartition("/")[2]),
        "firmware": tree.text(f"{folder}/device/firmware_rev") or tree.text(f"{folder}/device/rev"),
        "rotational": _flag(tree, f"{folder}/queue/rotational"),
        "scheduler": tree.choice(f"{folder}/queue/scheduler"),
        "queue_depth": tree.number(f"{folder}/queue/nr_requests"),
        "device_queue_depth": tree.number(f"{folder}/device/queue_depth"),
        "read_ahead_b": _read_ahead_b(tree, folder),
        "write_cache": tree.text(f"{folder}/queue/write_cache"),
    }


def _flag(tree: Tree, name: str) -> bool | None:
    number = tree.number(name)
    return None if number is None else bool(number)


def _read_ahead_b(tree: Tree, folder: str) -> int | None:
    kib = tree.number(f"{folder}/queue/read_ahead_kb")
    return None if kib is None else kib * 1024
