"""Tables leave out rows of which nothing was run, and say how many."""

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.tables import NOT_HERE, NOT_RUN, Ours, rows_left_out, write_all


def test_rows_of_which_nothing_was_run_are_left_out_and_counted(tmp_path, monkeypatch):
    """A campaign of two blocks had pages of "not run"."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    table = pd.DataFrame(
        {
            "option": ["noatime", "dtlg", "notail", "blk1k"],
            "published": ["+1", "+2", NOT_HERE, NOT_RUN],
            "web, ours": [NOT_RUN, "+3", NOT_HERE, NOT_RUN],
            "mail, ours": [NOT_RUN, NOT_RUN, NOT_RUN, "-4"],
        }
    )
    ours = {"some": Ours(["web, ours", "mail, ours"], "fsgreen measure c")}
    folder = write_all("c", {"some": ("S", table), "all": ("A", table)}, ours)
    options = {
        name: list(pd.read_csv(folder / f"{name}.csv")["option"]) for name in ("some", "all")
    }
    assert options == {"some": ["dtlg", "blk1k"], "all": list(table["option"])}
    assert "noatime" not in (folder / "some.tex").read_text()
    (name, left), *others = rows_left_out("c").items()
    assert (name, others) == ("some", [])
    assert left["what"].startswith("Left out: 2 rows of which nothing was run.")
    assert left["command"] == "fsgreen measure c"


def test_tables_of_an_older_version_left_out_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    (paths.results("c") / "tables").mkdir(parents=True)
    assert rows_left_out("c") == {}
