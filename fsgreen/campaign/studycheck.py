"""Whether a study can be measured, as far as its file tells. `fsgreen plan` uses this."""

from __future__ import annotations

import difflib
import math
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fsgreen import design, paths, simdisk, testbeds, workloads
from fsgreen.design import Cell, Examined, Profile, Study
from fsgreen.design.factors import AS_FOUND
from fsgreen.devices.image import SPARE_B
from fsgreen.devices.queue import known_schedulers
from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.core.registry import WITHOUT_METER
from fsgreen.meters.modelled import load_profile
from fsgreen.meters.modelled.profiles import SHARES
from fsgreen.schema import Fault, Place
from fsgreen.stacks.filesystems import FILE_SYSTEMS, recipe
from fsgreen.trace import budget

LARGEST_B = 2**63
"""No file, and so no image, can be larger: the range of the kernel's `off_t`."""

OF_CELLS = frozenset({"baseline", "matrices", "factors", "constants"})
"""The keys of a study that determine its cells."""

INTERVAL_S, OFFSET_W = 1.0, 0.3
"""Interval and offset of each emulated meter: one reading a second, and three counts of 0.1 W."""

WARM_READINGS = 2
"""Least length of a warm-up, in intervals of the meter, so that the last reading before the phase
`measure` has only work in it. That reading begins up to two intervals earlier."""


def check(file: Path, profile: str) -> Study:
    """Return the study of a file, if all its names are known and all its profiles have plans.

    Raises FsgreenError with all faults of the file, by line; or if it has no such profile.
    """
    examined = design.examine(file)
    document, study, faults = examined.document, examined.study, [*examined.faults]
    if study is not None:
        faults += examined.sound.own(_further(study, examined))
        if faults and profile not in {*study.profiles, *document.values["profiles"]}:
            told = unknown("profile", profile, study.profiles).what
            faults.append(Fault(("profiles",), told))
    if faults or study is None:
        raise document.refusal(faults)
    if profile not in study.profiles:
        near = difflib.get_close_matches(profile, study.profiles, n=1) or [*study.profiles]
        raise unknown(
            "profile",
            profile,
            study.profiles,
            where=f"{file}:{document.line(('profiles',))}",
            next_step=f"fsgreen plan {file.stem} --profile {near[0]}",
        )
    return study


def _further(study: Study, examined: Examined) -> Iterator[Fault]:
    """Yield the faults of a study that its file alone does not show."""
    told = [
        *_unknown_workloads(study),
        *_unknown_options(study),
        *_unknown_schedulers(study),
        *_without_turns(study),
        *_impossible_images(study),
    ]
    yield from told
    wrong = [*(fault.place for fault in (*examined.faults, *told)), *examined.sound.replaced]
    if not OF_CELLS & {place[0] for place in wrong if place}:
        yield from _without_baseline(study, wrong)


def too_short(study: Study, profile: str) -> str | None:
    """Return a warning if the trials of a profile are too short for modelled meters, else None.

    By rule 16, constant and edge errors must stay within their share of a trial's energy. Power is
    assumed to swing over the full range of the models.
    """
    chosen = study.profiles[profile]
    share = {**study.bounds, **(chosen.bounds or {})}["budget_percent"] / 100
    warm_s = WARM_READINGS * INTERVAL_S
    in_turns = chosen.windows is not None
    can_warm = not in_turns and _warms_up(study, chosen)
    is_warm = can_warm and chosen.warmup_s >= warm_s
    needed_s = _needed_s(share, steps=1 if is_warm else 2)
    if chosen.interval_s >= needed_s:
        return None
    if math.isinf(needed_s):
        return (
            f"budget_percent is {100 * share:g}: with modelled meters, used where none is "
            "plugged in, no length would do: their constant error alone is more (rule 16)"
        )
    asked, unit = ("length_s", "windows") if in_turns else ("measure_s", "trials")
    enough = f"{math.ceil(needed_s)} would do for steady work"
    after_warm_s, any_s = _needed_s(share, steps=1), _needed_s(share, steps=2, steady=False)
    if can_warm and math.ceil(after_warm_s) < math.ceil(needed_s):
        enough += f" ({math.ceil(after_warm_s)} with warmup_s {warm_s:g})"
    if math.isfinite(any_s):
        enough += f", and {math.ceil(any_s)} for any"
    return (
        f"{asked} is {chosen.interval_s:g}; with modelled meters, used where none is "
        f"plugged in, {enough} (rule 16); shorter {unit} may not count"
    )


def too_large(study: Study, profile: str) -> str | None:
    """Return a warning if the image of a profile does not fit the default folder, else None.

    Another folder may hold it. Only `measure` knows which folder is meant.
    """
    image_b, folder = study.profiles[profile].image_b, testbeds.default_folder("loop")
    ready = design.most_ready(design.make_plan(study, profile))
    free_b = shutil.disk_usage(folder).free - SPARE_B
    if ready * image_b <= free_b:
        return None
    several = f" for each of {ready} that are ready at once" if ready > 1 else ""
    return (
        f"image_mib is {image_b >> 20}{several}, and {folder}, where images go unless --folder "
        f"names another place, has room for {max(0, free_b >> 20)} now"
    )


def _cells(study: Study, profile: Profile) -> list[Cell]:
    """Return the cells of a profile whose matrix and workload are known."""
    of = (cell for name in profile.matrices for cell in study.matrices.get(name, ()))
    return [cell for cell in of if "workload" in cell]


def _warms_up(study: Study, profile: Profile) -> bool:
    """Return whether all workloads have a warm-up. Some commands take no `warmup_s`."""
    names = {cell["workload"] for cell in _cells(study, profile)}
    commands = (study.workloads.get(name, {}).get("command") for name in names)
    return all(
        command is None or any("{warmup_s}" in word for word in command) for command in commands
    )


def _needed_s(share: float, steps: int, *, steady: bool = True) -> float:
    """Return the least length of the phase `measure` with the emulated meters, in seconds.

    `steps` is the number of edges of the phase at which power may jump: the end, and the beginning
    if there is no warm-up. Steady work has the same mean power as at the edges. Other work may have
    as little as idle power.
    """
    models = [load_profile(str(meter["profile"])) for meter in WITHOUT_METER]
    idle_w = sum(model.idle_w for model in models)
    busy = dict.fromkeys(SHARES.values(), 1.0)
    peak_w = sum(model.power_w(busy) for model in models)
    return budget.minimum_duration_s(
        peak_w if steady else idle_w,
        constant_error_w=OFFSET_W * len(models),
        edges_j=(budget.LAG + steps * budget.STRADDLE) * (peak_w - idle_w) * INTERVAL_S,
        share=share,
    )


def _unknown_workloads(study: Study) -> Iterator[Fault]:
    known = [*workloads.names(), *study.workloads, *workloads.offered()]
    for matrix, cells in study.matrices.items():
        for name in dict.fromkeys(cell["workload"] for cell in cells if "workload" in cell):
            if name not in known and not name.endswith(".f"):
                yield Fault(("matrices", matrix, "workload"), unknown("workload", name, known).what)
    for name, entry in study.workloads.items():
        for nth, part in enumerate(entry.get("together", ())):
            if part not in known and not part.endswith(".f"):
                place = ("workloads", name, "together", nth)
                yield Fault(place, unknown("workload", part, known).what)


def _without_turns(study: Study) -> Iterator[Fault]:
    """Yield a fault for each profile with windows whose workloads end by themselves (rule 47)."""
    ending = {
        name for name, entry in study.workloads.items() if {"command", "together"} & entry.keys()
    }
    for profile in study.profiles.values():
        cells = _cells(study, profile)
        names = {cell["workload"] for cell in cells if "readers" in cell}
        names |= {cell["workload"] for cell in cells} & ending
        for name in sorted(names) if profile.windows is not None else ():
            told = f"{name} cannot take turns: it is not told when to end"
            yield Fault(("profiles", profile.name, "windows"), told)


def _unknown_schedulers(study: Study) -> Iterator[Fault]:
    known = {*known_schedulers(), *simdisk.SCHEDULERS}
    named: dict[Place, Iterable[object]] = {
        ("matrices", matrix, "scheduler"): dict.fromkeys(cell.get("scheduler") for cell in cells)
        for matrix, cells in study.matrices.items()
    }
    named["baseline", "scheduler"] = [study.baseline.get("scheduler")]
    named["constants", "scheduler"] = [study.constants.get("scheduler")]
    for profile in study.profiles.values():
        of_profile = (profile.constants or {}).get("scheduler")
        named["profiles", profile.name, "constants", "scheduler"] = [of_profile]
    for place, names in named.items():
        for name in names:
            if name not in (None, AS_FOUND, *known):
                yield Fault(place, unknown("scheduler", name, known).what)


def _impossible_images(study: Study) -> Iterator[Fault]:
    """Yield a fault for each image that is too small for a file system, or too large for a file."""
    for profile in study.profiles.values():
        least_b = dict(_least_sizes_b(_cells(study, profile)))
        place, image_mib = ("profiles", profile.name, "image_mib"), profile.image_b >> 20
        if least_b and profile.image_b < max(least_b):
            least_mib = -(-max(least_b) // 2**20)
            who = least_b[max(least_b)]
            yield Fault(place, f"image_mib is {image_mib}, and {who} takes {least_mib} at least")
        elif profile.image_b >= LARGEST_B:
            most_mib = (LARGEST_B >> 20) - 1
            yield Fault(place, f"image_mib is {image_mib}, and no file is larger than {most_mib}")


def _least_sizes_b(cells: Iterable[Cell]) -> Iterator[tuple[int, str]]:
    """Yield the least size of each known file system in bytes, and its name."""
    for cell in cells:
        if "file_system" in cell:
            with suppress(FsgreenError):
                least_b = recipe(cell["file_system"], cell["option"]).minimum_b
                yield least_b, f"{cell['file_system']} with option {cell['option']}"


def _without_baseline(study: Study, elsewhere: Iterable[Place]) -> Iterator[Fault]:
    """Yield a fault for each profile that has no plan, as it lacks the baseline.

    If no profile has the baseline, there is one fault at the baseline. Profiles whose matrices have
    other faults are left out.
    """
    other = {place[1] for place in elsewhere if place[0] == "profiles" and "matrices" in place}
    wrong: dict[Place, str] = {}
    for name in study.profiles.keys() - other:
        try:
            design.make_plan(study, name)
        except FsgreenError as error:
            wrong["profiles", name, "matrices"] = error.what
    if wrong and len(wrong) == len(study.profiles):
        wrong = {("baseline",): next(iter(wrong.values()))}
    yield from (Fault(place, what) for place, what in wrong.items())


def _unknown_options(study: Study) -> Iterator[Fault]:
    for matrix, cells in study.matrices.items():
        made = dict.fromkeys(
            (cell["file_system"], cell["option"]) for cell in cells if "file_system" in cell
        )
        for file_system, option in made:
            try:
                recipe(file_system, option)
            except FsgreenError as error:
                known = file_system in FILE_SYSTEMS
                name = "option" if known else "file_system"
                yield Fault(("matrices", matrix, name), error.what)


def file_of(study: str) -> Path:
    """Return the file of a study, given its name in `studies/` or a path that ends in `.yaml`."""
    return Path(study) if study.endswith(".yaml") else paths.study(study)
