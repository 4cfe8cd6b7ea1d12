"""Tables of `perf stat`: what contains what is not added twice, and other tables of it are told."""

import shlex

import pytest
from tables_of_programs import FILES, POWERS, lines
from test_declared_table import read, refused

from fsgreen.errors import FsgreenError
from fsgreen.meters.core import registry
from fsgreen.meters.files.energies import energy_of
from fsgreen.meters.files.importing import options_of


def perf(mark, *parts):
    """Lines of `perf stat -I`: of each part its name and its joules in each second."""
    rows = [
        [f"{n + 1}.000000013", f"{joules + n / 4:.2f}", "Joules", f"power/{name}/"]
        for n in range(8)
        for name, joules in parts
    ]
    return lines([mark.join([*row, *(["1000", "100.00"] if mark == "," else [])]) for row in rows])


@pytest.mark.parametrize(("recipe", "mark"), [("perf-stat", " "), ("perf-stat-x", ",")])
@pytest.mark.parametrize(
    ("parts", "taken"),
    [
        (("energy-pkg", "energy-cores", "energy-gpu", "energy-ram"), "energy-pkg energy-ram"),
        (("energy-cores", "energy-pkg"), "energy-pkg"),
        (("energy-psys", "energy-pkg", "energy-ram", "energy-cores"), "energy-psys"),
        (("energy-cores", "energy-ram"), "energy-cores energy-ram"),
    ],
)
def test_a_domain_of_a_processor_is_not_added_to_the_one_that_contains_it(
    recipe, mark, parts, taken
):
    """Cores of 20 W in a package of 30 W were a processor of 50 W."""
    joules = {"energy-psys": 40, "energy-pkg": 30, "energy-cores": 20}
    imported = read(perf(mark, *[(name, joules.get(name, 2)) for name in parts]), recipe)
    expected = sum(joules.get(name, 2) for name in taken.split())
    assert not imported.readings.flags
    assert imported.readings.power_w[1] == pytest.approx(expected, rel=1e-6)
    told = " ".join(imported.decisions)
    added = ", ".join(f"power/{name}/" for name in taken.split())
    assert f"Added up over 4: {added}." in told
    for name in set(parts) - set(taken.split()):
        assert f"Left out: power/{name}/, as power/" in told


def test_parts_that_contain_each_other_may_be_added_where_that_is_asked_for():
    text = perf(" ", ("energy-pkg", 30), ("energy-cores", 20))
    assert read(text, "perf-stat", inside=[]).readings.power_w[1] == pytest.approx(50, rel=1e-6)
    assert "names no part in a whole" in refused(text, driver="perf-stat", inside=["cores"])


@pytest.mark.parametrize("mark", [";", "\t"])
def test_perf_may_have_been_told_another_separator(mark):
    text = FILES["perf-stat-x"].replace(",", mark)
    assert read(text, "perf-stat-x").readings.power_w[1:].tolist() == pytest.approx(POWERS)


def test_what_a_recipe_does_not_read_is_told_with_the_command_whose_table_it_reads():
    text = FILES["perf-stat-x"].replace(",", "|")
    assert "perf stat -I 1000 -x, -e power/energy-pkg/ -o FILE" in refused(
        text, driver="perf-stat-x"
    )


@pytest.mark.parametrize(("recipe", "mark"), [("perf-stat", " "), ("perf-stat-x", ",")])
@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("1.0001 S0 1 ", "perf stat --per-socket"),
        ("1.0001 S0-D0 8 ", "perf stat --per-socket"),
        ("1.0001 CPU0 ", "perf stat -A"),
        ("", "perf stat without -I"),
        ("S0 1 ", "perf stat without -I"),
    ],
)
def test_another_table_of_perf_is_told_what_it_is(recipe, mark, before, told):
    """It was told that there is no column 4."""
    line = f"{before}12.34 Joules power/energy-pkg/".replace(" ", mark)
    assert f"this is {told}" in refused(f"# started on Mon\n\n{line}\n", driver=recipe)


@pytest.mark.parametrize(("recipe", "mark"), [("perf-stat", " "), ("perf-stat-x", ",")])
@pytest.mark.parametrize("before", ["S{} 1 ", "CPU{} "])
def test_the_settings_that_another_table_of_perf_is_told_read_it(recipe, mark, before):
    rows = [
        f"{n + 1}.0 {before.format(part)}{power / 2:.3f} Joules power/energy-{event}/"
        for n, power in enumerate(POWERS)
        for part in (0, 1)
        for event in ("pkg", "ram")
    ]
    text = lines([row.replace(" ", mark) for row in rows])
    with pytest.raises(FsgreenError) as caught:
        read(text, recipe)
    words = shlex.split(caught.value.next_step.partition(": ")[2])[1::2]
    options = options_of(words, registry.importer(recipe).settings)
    imported = read(text, recipe, **options)
    assert not imported.readings.flags
    assert energy_of(imported).energy_j == pytest.approx(sum(POWERS))


def test_thousands_of_perf_are_no_end_of_a_number():
    """perf groups them by the locale of the user."""
    rows = [f"{n + 1}.0001  {1234 + n:,}.50 Joules power/energy-pkg/" for n in range(5)]
    powers_w = read(lines(rows), "perf-stat").readings.power_w
    assert powers_w[1:].tolist() == pytest.approx([1234.5 + n for n in range(5)], 1e-3)
