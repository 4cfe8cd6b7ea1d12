"""Cells of a notebook run in this process, by IPython: no kernel to start, wait for or stop."""

from __future__ import annotations

import re
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOBase
from types import ModuleType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from traitlets.config import Config

NAME = "in-process"
"""The engine, to papermill."""

OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
"""What a terminal shows no more after a return of the carriage, such as a bar of progress."""


class InProcess(Engine):
    """Runs each cell in this process, and keeps what it shows in the order it shows it."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, **_: object
    ) -> None:
        """Run the cells up to the first that fails, which keeps its error."""
        # One for the process, as matplotlib ties its pictures to the first that it meets.
        shell = _Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        shell.reset()
        shell.enable_matplotlib("inline")
        for index, cell in enumerate(nb_man.nb.cells):
            nb_man.cell_start(cell, index)
            if error := shell.run(cell) if cell.cell_type == "code" else None:
                nb_man.cell_exception(cell, index, exception=error)
            nb_man.cell_complete(cell, index)
            if error:
                break


class _Hook(DisplayHook):
    """Keeps the value of a cell's last line."""

    shell: Any

    def write_output_prompt(self) -> None:
        """Write none: a notebook numbers its cells itself."""

    def write_format_data(
        self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None
    ) -> None:
        self.shell.shown.append(
            new_output(
                "execute_result",
                data=format_dict,
                metadata=md_dict or {},
                execution_count=self.prompt_count,
            )
        )


class _Publisher(DisplayPublisher):
    """Keeps what a cell displays."""

    def publish(self, data: Any, metadata: Any = None, *_: Any, **options: Any) -> None:
        self.shell.shown.append(new_output("display_data", data=data, metadata=metadata or {}))


class _Shell(InteractiveShell):
    """A shell that keeps what is shown; a failing cell shows its error and raises nothing."""

    def __init__(self, **options: Any) -> None:
        self.shown: list[NotebookNode] = []
        # The program stays `__main__`, which processes that a cell starts look for.
        options["user_module"] = ModuleType("cells")
        super().__init__(displayhook_class=_Hook, display_pub_class=_Publisher, **options)

    def run(self, cell: NotebookNode) -> BaseException | None:
        """Run a cell, put into it what it showed, and return what stopped it."""
        self.shown = []
        with redirect_stdout(_Stream(self, "stdout")), redirect_stderr(_Stream(self, "stderr")):
            result = self.run_cell(cell.source, store_history=True)
        cell.execution_count = result.execution_count
        for output in self.shown:
            if output.output_type == "stream":
                output.text = OVERWRITTEN.sub("", output.text)
        cell.outputs = [output for output in self.shown if output.get("text") != ""]
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        if isinstance(error, KeyboardInterrupt):
            raise error
        return error

    def init_virtualenv(self) -> None:
        """Look for no other environment than that of this process."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Open no window: figures are kept as pictures."""

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        self.shown.append(
            new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)
        )


class _Stream(TextIOBase):
    """What a cell prints, joined to what it has printed since it last showed something else."""

    def __init__(self, shell: _Shell, name: str) -> None:
        self._shell, self._name = shell, name

    def write(self, text: str) -> int:
        """Keep a text."""
        shown = self._shell.shown
        if text and not (shown and shown[-1].get("name") == self._name):
            shown.append(new_output("stream", name=self._name, text=""))
        if text:
            shown[-1].text += text
        return len(text)


papermill_engines.register(NAME, InProcess)
