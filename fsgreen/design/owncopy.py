"""What somebody changes who wants a study otherwise: its file, or a copy of one that ships.

A shipped study says what the shipped campaigns measured. The copy keeps its line `study`, so that
its campaigns are judged on the same claims.
"""

from __future__ import annotations

from fsgreen import paths
from fsgreen.design.plan import Plan
from fsgreen.design.planning import make_plan
from fsgreen.design.reading import load_study
from fsgreen.errors import FsgreenError

SHIPPED = (
    *("fast10", "nfstricks03", "massie25", "sun14", "greenfs08"),
    *("linux-read-ahead", "linux-io-uring", "linux-nfs"),
)
"""The studies of the campaigns that ship. Results rest on this, and not on all of params.yaml."""


def to_change(study: str) -> str:
    """Return the name by which `fsgreen measure` takes the study once it is changed."""
    return f"{study}-own" if _ships(study) else study


def file_to_change(study: str) -> str:
    """Return the file to change, with the command that makes it where it is a copy."""
    file, own = (f"studies/{name}.yaml" for name in (study, to_change(study)))
    return file if own == file else f"{own} (first: cp -n {file} {own})"


def measured_as(plan: Plan) -> str:
    """Return the name by which `fsgreen measure` makes a plan: its study, or a changed copy."""
    own = to_change(plan.study)
    if own != plan.study and paths.new_study(own).exists():
        for name in (plan.study, own):
            if plan.hash in _hashes(name, plan):
                return name
    return plan.study


def file_of(plan: Plan) -> str:
    """Return the file of the study that makes a plan, or that of a changed copy."""
    return f"studies/{measured_as(plan)}.yaml"


def _hashes(study: str, plan: Plan) -> list[str]:
    """Return the hashes of what a study makes of a plan's profile, also with one file system."""
    try:
        declared, profile = load_study(study), plan.profile.name
        only = str(plan.baseline.get("file_system"))
        return [make_plan(declared, profile, only=one).hash for one in (None, only)]
    except FsgreenError:
        return []  # a copy that is being changed


def _ships(study: str) -> bool:
    """Return whether campaigns of a study belong to the package; those of a project are its own."""
    return paths.root() == paths.code() and study in SHIPPED
