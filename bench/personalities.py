"""fast10's four servers, as the project ships them, in the words that Filebench knows.

Left out is what limits the rate, which at rate 0 does nothing but make Filebench spin: to its
advantage. Parameters: fast10, table 1, and what fsgreen/workloads/personalities says of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.texts import process

THREADS = 100
VARMAIL_ROOM = 10


def _sizes(mean: str) -> str:
    return f"set $filesize=randvar(type=gamma,gamma=1500,mean={mean},min=1k)\n"


def webserver(directory: Path, scale: float, threads: int = THREADS) -> str:
    """Return the web server: ten files read whole, then an append to one log."""
    entries = round(20_000 * scale)
    flowops = [
        flowop
        for nth in range(1, 11)
        for flowop in (
            f"openfile name=open-{nth},filesetname=pages,fd=1",
            f"readwholefile name=read-{nth},fd=1,iosize=1m",
            f"closefile name=close-{nth},fd=1",
        )
    ]
    return (
        _sizes("32k")
        + f"define fileset name=pages,path={directory},size=$filesize,entries={entries},"
        "dirwidth=20,prealloc\n"
        f"define file name=weblog,path={directory},size=16k,prealloc\n"
        + process(
            "webserver",
            1,
            "worker",
            threads,
            [*flowops, "appendfilerand name=append-log,filesetname=weblog,iosize=16k,fd=2"],
        )
    )


def fileserver(directory: Path, scale: float) -> str:
    """Return the file server: create and write, append, read whole, delete, stat."""
    entries = round(50_000 * scale)
    return (
        _sizes("256k")
        + f"define fileset name=shares,path={directory},size=$filesize,entries={entries},"
        "dirwidth=20,prealloc=80\n"
        + process(
            "fileserver",
            1,
            "worker",
            THREADS,
            [
                "createfile name=make,filesetname=shares,fd=1",
                "writewholefile name=put,fd=1,iosize=1m",
                "closefile name=close-written,fd=1",
                "openfile name=open-to-append,filesetname=shares,fd=1",
                "appendfilerand name=append,fd=1,iosize=16k",
                "closefile name=close-appended,fd=1",
                "openfile name=open-to-read,filesetname=shares,fd=1",
                "readwholefile name=get,fd=1,iosize=1m",
                "closefile name=close-read,fd=1",
                "deletefile name=drop,filesetname=shares",
                "statfile name=look,filesetname=shares",
            ],
        )
    )


def varmail(directory: Path, scale: float) -> str:
    """Return the mail server: delete; deliver, durably; read and append, durably; read.

    The published number of files is there at the start, and room for ten times as many: Filebench
    passes over a delete of an open file but over no create, and aborts once the set is full.
    """
    entries = round(50_000 * scale) * VARMAIL_ROOM
    return (
        _sizes("16k")
        + f"define fileset name=mail,path={directory},size=$filesize,entries={entries},"
        f"dirwidth=1000000,dirgamma=0,prealloc={80 // VARMAIL_ROOM}\n"
        + process(
            "mailserver",
            1,
            "worker",
            THREADS,
            [
                "deletefile name=drop,filesetname=mail",
                "createfile name=make,filesetname=mail,fd=1",
                "appendfilerand name=append-new,fd=1,iosize=16k",
                "fsync name=fsync-new,fd=1",
                "closefile name=close-new,fd=1",
                "openfile name=open-old,filesetname=mail,fd=1",
                "readwholefile name=read-old,fd=1,iosize=1m",
                "appendfilerand name=append-old,fd=1,iosize=16k",
                "fsync name=fsync-old,fd=1",
                "closefile name=close-old,fd=1",
                "openfile name=open-any,filesetname=mail,fd=1",
                "readwholefile name=read-any,fd=1,iosize=1m",
                "closefile name=close-any,fd=1",
            ],
        )
    )


def oltp(directory: Path, scale: float, stores: int = 200_000) -> str:
    """Return the database: readers, asynchronous writers and a log, kept in step by semaphores.

    A reader makes so many `stores` to memory after each read; 0 leaves the computing out.
    """
    size_b = round((512 << 20) * scale) // 4096 * 4096
    hog = [f"hog name=compute,value={stores}"] if stores else []
    return (
        f"define fileset name=tables,path={directory},size={size_b},entries=10,"
        "dirwidth=1024,dirgamma=0,prealloc\n"
        f"define fileset name=redo,path={directory},size=10m,entries=1,"
        "dirwidth=1024,dirgamma=0,prealloc\n"
        + process(
            "log-writer",
            1,
            "log-writer",
            1,
            [
                "semblock name=wait-for-log,value=3200,highwater=6400",
                "write name=write-log,filesetname=redo,iosize=256k,random,dsync",
            ],
        )
        + process(
            "writer",
            10,
            "writer",
            1,
            [
                "semblock name=wait-for-reads,value=1000,highwater=2000",
                "aiowrite name=write-tables,filesetname=tables,iosize=2k,random,dsync,iters=5",
                "aiowait name=reap",
            ],
        )
        + process(
            "reader",
            200,
            "reader",
            1,
            [
                "read name=read-tables,filesetname=tables,iosize=2k,random",
                *hog,
                "sempost name=post-log,value=1,target=wait-for-log,blocking",
                "sempost name=post-writers,value=1,target=wait-for-reads,blocking",
            ],
        )
    )


def oltp_without_computing(directory: Path, scale: float) -> str:
    """Return the database whose readers do not compute, so that the generator's own cost shows."""
    return oltp(directory, scale, stores=0)


PERSONALITIES: dict[str, Callable[[Path, float], str]] = {
    "webserver": webserver,
    "fileserver": fileserver,
    "varmail": varmail,
    "oltp": oltp,
    "oltp-no-hog": oltp_without_computing,
}
