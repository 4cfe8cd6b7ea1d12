"""The file of a new study, to begin with: three file systems under two workloads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fsgreen import paths
from fsgreen.errors import FsgreenError

TEXT = """\
# What you want to know. docs/studies.md explains every key; `fsgreen plan {name}` checks this file.
study: {name}
title: Three file systems under a web and a mail server
question: Which of them does most work per joule?
seed: {seed}             # order of trials and contents of files; keep it once you measure
baseline: {{workload: webserver, file_system: ext4}}   # measured in every block, to show drift

constants: {{cache: cold, device: initial, scheduler: none}}   # what all cells have alike

exclusions:                 # what you leave out, and why: written down before you measure
- what: file systems but these three
  why: three are enough for a first look
- {{factor: scale, profiles: [quick, full], why: a twentieth of the files fits a laptop}}
- {{factor: measure_s, profiles: [quick], why: a quick look}}

matrices:                   # every combination of the levels is a cell
  all:
    workload: [webserver, varmail]      # fsgreen list workloads
    file_system: [ext2, ext4, xfs]      # fsgreen list file-systems; add `option: [noatime]`

profiles:                   # how much is run, and how long
  quick:
    matrices: [all]
    blocks: 2               # each block measures every cell once; 5 are needed to conclude anything
    phases: {{idle_s: 1.2, warmup_s: 2, measure_s: 11, settle_limit_s: 60}}
    scale: 0.05             # share of the published number of files
    image_mib: 4096         # size of the file system under test
  full:
    matrices: [all]
    blocks: 5
    most_blocks: 10         # a cell ends early once its interval is narrow enough
    phases: {{idle_s: 1.5, warmup_s: 2, measure_s: 12, settle_limit_s: 120}}
    scale: 0.05
    image_mib: 4096
"""


def write(name: str) -> Path:
    """Write `studies/NAME.yaml` into the project and return its path.

    Raises FsgreenError if the name is not valid, or if there is such a study.
    """
    file = paths.new_study(name)
    if file.exists():
        raise FsgreenError(
            f"there is a study {name} already",
            where=file,
            next_step=f"fsgreen plan {name}, or another name: fsgreen new {name}-2",
        )
    file.parent.mkdir(exist_ok=True)
    file.write_text(text(name), encoding="utf-8")
    return file


def text(name: str) -> str:
    """Return the text of a new study's file; its seed follows from its name.

    Raises FsgreenError if the name is not valid.
    """
    seed = int.from_bytes(hashlib.sha256(paths.checked(name, "study").encode()).digest()[:3])
    return TEXT.format(name=name, seed=seed)
