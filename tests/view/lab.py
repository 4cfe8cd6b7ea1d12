"""A JupyterLab of its own, with nothing of the user's settings."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

from fsgreen import paths
from tests.patience import LIMIT_S

LAB = (sys.executable, "-m", "jupyterlab", "--allow-root", "--ServerApp.ip=127.0.0.1")
PANEL = "[...window.jupyterapp?.shell?.widgets('main') ?? []][0]"
"""The first notebook that is open."""


def write_notebook(file: Path, cells: Sequence[str]) -> None:
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, file)


def _set(home: Path, of: str, settings: dict[str, Any]) -> None:
    file = home / "lab_settings" / "@jupyterlab" / f"{of}.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(settings))


@contextmanager
def jupyterlab(folder: Path, home: Path, command: Sequence[str] = LAB) -> Iterator[str]:
    """Serve `folder`; yields the address to which `/lab/tree/FILE` and the token are added."""
    environment = os.environ | {
        "HOME": str(home),
        "PYTHONPATH": str(paths.root()),
        **{
            f"JUPYTER{name}_DIR": str(home / name.lower())
            for name in ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
        },
    }
    no_news = {"fetchNews": "false", "checkForUpdates": False}
    _set(home, "apputils-extension/notification", no_news)
    options = ("--no-browser", "--expose-app-in-browser", "--ServerApp.port=0")
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, *options],
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(server, home)
    finally:
        server.terminate()
        server.wait(LIMIT_S)


def _address(server: "subprocess.Popen[bytes]", home: Path) -> str:
    deadline_s = time.monotonic() + LIMIT_S
    while not (told := [*_told(home)]):
        assert server.poll() is None, (home / "server.log").read_text()
        assert time.monotonic() < deadline_s, (home / "server.log").read_text()
        time.sleep(0.05)
    serving = json.loads(told[0])
    return f"{serving['url']}lab/tree/{{}}?token={serving['token']}"


def _told(home: Path) -> Iterator[str]:
    """Yield what servers have told of themselves; a file is there before what it tells."""
    for file in (home / "_runtime").glob("jpserver-*.json"):
        if told := file.read_text():
            yield told
