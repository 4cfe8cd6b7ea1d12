"""What holds for every reader of files: what its meter may be said to be, and how its file ends."""

import pytest
from test_declared_table import DECLARED, read

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import registry
from fsgreen.meters.core.base import Importer
from fsgreen.meters.files.energies import energy_of
from fsgreen.meters.table.driver import recipes

READERS = [
    name
    for name in [*registry.names(), *recipes()]
    if isinstance(reader := registry.named(name), Importer)
    and "gain_error" in reader.settings.model_fields
]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("error", [1.5, -1])
def test_an_accuracy_that_no_meter_has_is_refused(name, error):
    """It widened the limits of error to more than the energy, or made them negative."""
    settings = registry.importer(name).settings
    with pytest.raises(FsgreenError, match="gain_error: takes a number"):
        settings.of({"name": "file", "driver": name, "gain_error": error, "boundary": "wall"})


@pytest.mark.parametrize(
    ("stamps", "cut"),
    [
        ([f"2026-08-17 12:00:{n:02d}" for n in range(15)], "2026-08-17 12:0"),
        ([f"{100 + n}" for n in range(15)], "11"),
    ],
)
def test_a_last_row_of_a_table_that_was_cut_inside_its_stamp_marks_the_one_before(stamps, cut):
    """Its time was read as an earlier one, and the whole file refused: times go back."""
    rows = "".join(f"{stamp},{20 + n / 8:.3f}\n" for n, stamp in enumerate(stamps))
    unit = {} if "-" in cut else {"time_unit": "s"}
    imported = read("when,mine\n" + rows + cut, **DECLARED, **unit, numbers="1,234.56")
    assert imported.readings.flags == {14: "cut"}
    assert len(imported.readings) == 15


def test_a_counter_that_contradicts_the_power_is_told():
    """An import looked at no rule of the traces."""
    rows = "".join(f"{n},{100 + n % 7},{0.015 * n:.3f}\n" for n in range(60))
    options = {"time": "t", "time_unit": "s", "power": "p in W", "energy": "e in Wh"}
    said = energy_of(read("t,p,e\n" + rows, **options, boundary="wall"))
    assert [flaw.name for flaw in said.flaws] == ["counter"]
    assert said.flaws[0].detail.startswith("power adds up to 60")
