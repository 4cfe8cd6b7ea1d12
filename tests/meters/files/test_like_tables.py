"""Tables of one form that hold powers of other parts: each recipe reads its own only."""

import pytest
from tables_of_programs import FILES
from test_declared_table import read

from fsgreen.errors import FsgreenError


@pytest.mark.parametrize(
    ("recipe", "other"),
    [
        ("powerstat", "powerstat-rapl"),
        ("powerstat-rapl", "powerstat"),
        ("pmt", "pmt-gpu"),
        ("pmt-gpu", "pmt"),
    ],
)
def test_a_table_of_another_part_is_refused_with_the_recipe_that_reads_it(recipe, other):
    """Power of a processor passed for that of a laptop, and that of a GPU for a processor's."""
    with pytest.raises(FsgreenError) as caught:
        read(FILES[other], recipe)
    assert caught.value.next_step.endswith(f"--driver {other}")


def test_a_table_without_what_tells_the_part_is_read_as_the_recipe_says():
    rows = [row for row in FILES["pmt-gpu"].splitlines(keepends=True) if row[0].isdigit()]
    assert read("".join(rows), "pmt").means
    assert not read("".join(rows), "pmt-gpu").means
