"""Result files of the Phoronix Test Suite, `composite.xml`.

`PhoronixTestSuite/Result` is a test with its arguments: `Identifier`, `Title`, `Description`,
`Scale` (its unit, as the test's author wrote it), `Data/Entry` for each system or configuration:
`Identifier` as the user named it, `Value`, the mean that is shown, and `RawString`, the values of
the single runs with `:` between. `DisplayFormat` is BAR_GRAPH where a value is one number.
Source: github.com/phoronix-test-suite/phoronix-test-suite,
pts-core/openbenchmarking.org/schemas/result-file.xsd, pts-core/objects/pts_result_file_writer.php.
"""

from __future__ import annotations

import math
import re

from fsgreen.meters.importers.text import Report, decode
from fsgreen.runs import xmltree
from fsgreen.runs.formats import Format, Run
from fsgreen.runs.meanings import ASIDE, LEVELS, UNITS, Meanings, number

SCALES = {
    "Seconds": "duration_s",
    "Milliseconds": "duration_ms",
    "IOPS": "throughput_ops_s",
    "Joules": "energy_j",
    "Watts": "power_w",
}
"""Scales that say in full which quantity they are."""

SYSTEM = "Identifier"
"""The name under which `--map` says what the systems of a file are."""

AGREEMENT = 0.01


def read(data: bytes, meanings: Meanings, report: Report) -> list[Run]:
    """Read the single runs of each test on each system; tests in other scales are kept aside."""
    try:
        root = xmltree.parse(decode(data, report))
    except ValueError as error:
        report.refuse(f"this cannot be read: {error}", "give the composite.xml of a result")
    if root.name != "PhoronixTestSuite":
        report.refuse("this is no result of the Phoronix Test Suite", "give its composite.xml")
    system = meanings.of(SYSTEM, own={SYSTEM: "option"})
    if system not in LEVELS:
        report.refuse(f"the systems of a file are levels, not {system}", "--map Identifier=option")
    runs: list[Run] = []
    for nth, result in enumerate(root.all("Result"), 1):
        runs += _of_test(result, f"test{nth}", system, meanings, report)
    if not any(run.values.keys() & {target for target, _ in UNITS.values()} for run in runs):
        report.refuse("no test of this file has a scale that is known", "--map 'SCALE=MEANING'")
    return runs


def _of_test(
    result: xmltree.Element, name: str, system: str, meanings: Meanings, report: Report
) -> list[Run]:
    scale, title = result.value("Scale"), result.value("Title") or result.value("Identifier")
    workload = " ".join(part for part in (title, result.value("Description")) if part)
    if not workload:
        report.refuse(f"{name} has neither a title nor an identifier", "give the file as it was")
    if result.value("DisplayFormat") not in ("BAR_GRAPH", ""):
        report.tell(f"Left out, as its values are no single numbers: {workload}.")
        return []
    kind = meanings.of(scale, own=SCALES)
    runs = []
    for data in result.all("Data"):
        for place, entry in enumerate(data.all("Entry"), 1):
            levels = {system: entry.value("Identifier"), "workload": workload}
            if not levels[system]:
                report.refuse(
                    f"an entry of {workload} has no identifier", "give the file as it was"
                )
            for number_of, text in enumerate(_single_runs(entry, workload, report), 1):
                values: dict[str, object] = dict(levels)
                if kind in UNITS:
                    column, factor = UNITS[kind]
                    values[column] = factor * number(text, f"a run of {workload}", report.where)
                runs.append(
                    Run(
                        f"{name}-{place}-{number_of}",
                        values,
                        {scale or "no scale": text} if kind == ASIDE else {},
                    )
                )
    return runs


def _single_runs(entry: xmltree.Element, workload: str, report: Report) -> list[str]:
    """Return the values of the runs of an entry, which must have the mean that is shown."""
    shown, raw = entry.value("Value"), entry.value("RawString")
    where = f"{entry.value('Identifier')}, {workload}"
    if not shown:
        report.tell(f"No value: {where}.")
        return []
    if not raw:
        report.tell(f"A mean of an unknown number of runs counts as one run: {where}.")
        return [shown]
    single = raw.split(":")
    values = [number(text, f"a run of {where}", report.where) for text in single]
    mean, value = math.fsum(values) / len(values), number(shown, where, report.where)
    half_digit = 0.51 * 10.0 ** -len(re.sub(r".*\.|^[^.]*$", "", shown))
    if not abs(mean - value) <= max(AGREEMENT * abs(value), half_digit):
        report.refuse(
            f"the runs of {where} have the mean {mean:g}, and {shown} is shown",
            "give the file as it was written",
        )
    return single


FORMAT = Format(
    name="Phoronix Test Suite (composite.xml)",
    recognises=lambda head: b"<PhoronixTestSuite" in head,
    read=read,
)
