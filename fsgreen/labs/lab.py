"""What every lab has: predictions that are kept, and tasks whose answers are checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fsgreen.errors import unknown
from fsgreen.labs.feedback import NotYet, Task

if TYPE_CHECKING:
    import pandas as pd


class Lab(ABC):
    """A lab of one student: what was predicted, and what was found since."""

    conclusions: ClassVar[Mapping[str, str]]
    """What to keep in mind of each task."""

    def __init__(self) -> None:
        self._predicted: dict[str, float] = {}
        self._found: dict[str, float] = {}

    @property
    @abstractmethod
    def tasks(self) -> Mapping[str, Callable[[], Task]]:
        """Return what makes the task of each name."""

    def conclusion(self, name: str) -> str:
        """Return what to keep in mind of a task, said once it is done."""
        return self.conclusions[name]

    def predict(self, name: str, value: Any) -> None:
        """Keep a prediction, which is neither right nor wrong; raises NotYet if it is no number."""
        self._known(name)
        if value is ...:
            print("No prediction yet: put your number in place of `...` before you go on.")
            return
        try:
            self._predicted[name] = float(value)
        except (TypeError, ValueError):
            raise NotYet("a prediction is one number, without its unit.") from None
        print(f"Noted: {value}. Now run the next cell.")

    def check(self, name: str, answer: Any) -> None:
        """Print what to keep in mind if an answer is right; raises NotYet with feedback if not."""
        value = self._known(name)().check(answer)
        if value is not None:
            self._found[name] = value
        print(f"Right. {self.conclusion(name)}")

    def predictions(self) -> pd.DataFrame:
        """Return a row for each prediction: what was found, as far as that is done, and a ratio."""
        import pandas as pd

        table = pd.DataFrame({"predicted": self._predicted, "found": self._found}, dtype=float)
        table = table.loc[table["predicted"].notna()]
        return table.assign(found_over_predicted=table["found"] / table["predicted"])

    def _known(self, name: str) -> Callable[[], Task]:
        if name not in self.tasks:
            raise unknown("task", name, self.tasks)
        return self.tasks[name]
