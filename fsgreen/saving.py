"""What JupyterLab saves of a notebook that is committed here: what is committed, and no run of it.

`./run lab` loads it as an extension of its server. Outputs, and the kernel of this machine, would
make a change in version control of every look at a notebook. Those that students work in keep
their outputs, and so does every notebook that is not committed, or lies elsewhere.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import paths

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""What the committed notebooks say of their kernel: nothing of its version."""


def before_save(model: dict[str, Any], path: str, contents_manager: Any) -> None:
    """Make what is about to be written what is committed; a hook of Jupyter's contents manager."""
    file = Path(contents_manager.root_dir, path)
    if model.get("type") != "notebook" or not _is_committed(file):
        return
    notebook = model["content"]
    notebook["metadata"] |= KERNEL
    if file.parent == paths.notebooks() / "labs":
        return
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}


def _is_committed(file: Path) -> bool:
    """Return whether a file is one of the notebooks here, and git knows it."""
    if not file.is_relative_to(paths.notebooks()):
        return False
    asked = ["git", "ls-files", "--", file.name]
    try:
        return bool(subprocess.run(asked, cwd=file.parent, capture_output=True).stdout)
    except OSError:  # no git
        return False


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Name this module to Jupyter."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Register the hook."""
    server.contents_manager.register_pre_save_hook(before_save)
