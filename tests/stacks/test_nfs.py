"""The server of NFS as far as no kernel is needed. test_vm_nfs.py has it in a guest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.stacks import nfs


def test_a_connection_that_was_never_made_is_not_counted() -> None:
    """A trial of 8 connections all of whose requests went over one would show what one does."""
    made = "\txprt:\ttcp 893 1 1 0 0 9 9 0 9 0 2 0 0\n"
    never = "\txprt:\ttcp 0 0 0 0 0 0 0 0 0 0 2 0 0\n"
    assert nfs.TRANSPORT.findall(f"{made}{never}{made}") == ["1", "0", "1"]


def test_a_server_that_does_not_come_up_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount would wait for it, and end in a time-out that names nothing."""
    broken = tmp_path / "rpc.mountd"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    export = nfs.Export(tmp_path, 0)
    with pytest.raises(FsgreenError, match=r"rpc\.mountd does not come up: no such luck") as told:
        export._start_mountd()
    assert told.value.next_step == "apt-get install nfs-kernel-server"
    assert isinstance(export._mountd, subprocess.Popen)
