"""Programs of Debian as workloads: a source package that is compiled, a program that starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fsgreen import debian
from fsgreen.workloads.debian.build import Build
from fsgreen.workloads.debian.start import Start

__all__ = ["Build", "Start", "emacs", "openssh"]


def openssh(name: str, scale: float, levels: Mapping[str, Any]) -> Build:
    """OpenSSH of Debian 12 is compiled, a file after the other."""
    # Debian's patches leave the files that are made of what they change older than that.
    configure = "touch aclocal.m4 config.h.in configure; ./configure"
    return Build(
        name,
        scale,
        levels,
        source="openssh",
        configure=["sh", "-ec", f"{configure} --without-openssl --without-zlib"],
        command=["make", "-j1"],
        makes="sshd",
        size_mib=30,
    )


def emacs(name: str, scale: float, levels: Mapping[str, Any]) -> Start:
    """Emacs of Debian 12 starts on a terminal, and ends."""
    own, programs = "usr/share/emacs/28.2", "usr/libexec/emacs/28.2/x86_64-linux-gnu"
    unread = ("doc", "info", "locale", "man", "perl")
    return Start(
        name,
        scale,
        levels,
        packages=["emacs-nox", "ncurses-base"],
        command=[
            *("usr/bin/emacs-nox", f"--dump-file={{files}}/{programs}/emacs.pdmp"),
            *("-nw", "-Q", "--eval", "(kill-emacs)"),
        ],
        environment={
            "EMACSDATA": f"{{files}}/{own}/etc",
            "EMACSDOC": f"{{files}}/{own}/etc",
            "EMACSLOADPATH": f"{{files}}/{own}/lisp:",
            "EMACSPATH": f"{{files}}/{programs}",
            "HOME": "{files}",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "TERMINFO": "{files}/lib/terminfo",
        },
        left_out=[
            *("usr/include", "usr/lib/gcc", f"{debian.LIBRARIES[1]}/*.a"),
            f"{debian.LIBRARIES[1]}/perl",
            *(f"usr/share/{name}" for name in unread),
        ],
        size_mib=300,
    )
