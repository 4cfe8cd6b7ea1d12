"""The trial record: one folder per trial, whole or absent.

A folder under its final name is a whole trial: it is written under a temporary name, synced, and
renamed. Trials that break a rule are kept apart under `invalid/`, with the reason.
"""

from fsgreen.durable import sha256_of, write_json
from fsgreen.trial.attached import AttachedMeter, attached_meters
from fsgreen.trial.energy import computed_energies, efficiency_meters, energies_of
from fsgreen.trial.files import (
    DiskFull,
    full_disk_explained,
    read_of_campaign,
)
from fsgreen.trial.folder import (
    Trial,
    first_trial,
    list_discarded,
    list_invalid,
    list_superseded,
    list_trials,
    place_to_discard,
    read_trial,
    sweep,
)
from fsgreen.trial.moments import Beside, Check, Clock, Event, Flush, HarnessCost, MemoryUse, Phase
from fsgreen.trial.record import TrialRecord
from fsgreen.trial.work import Cost, ThreadWork, WorkSummary
from fsgreen.trial.writer import TrialWriter

__all__ = [
    "AttachedMeter",
    "Beside",
    "Check",
    "Clock",
    "Cost",
    "DiskFull",
    "Event",
    "Flush",
    "HarnessCost",
    "MemoryUse",
    "Phase",
    "ThreadWork",
    "Trial",
    "TrialRecord",
    "TrialWriter",
    "WorkSummary",
    "attached_meters",
    "computed_energies",
    "efficiency_meters",
    "energies_of",
    "first_trial",
    "full_disk_explained",
    "list_discarded",
    "list_invalid",
    "list_superseded",
    "list_trials",
    "place_to_discard",
    "read_of_campaign",
    "read_trial",
    "sha256_of",
    "sweep",
    "write_json",
]
