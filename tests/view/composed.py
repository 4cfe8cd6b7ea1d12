"""A project to compose studies in, a study of a moment, and a process that only seems to go on."""

import html
import os
import re

from fsgreen import paths

TINY = """\
study: {name}
title: A moment of waiting
question: Does it take as long as it says?
seed: 3
baseline: {{workload: wait, file_system: ext4}}
bounds: {{budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}}
workloads:
  wait:
    command: [sh, -c, "sleep {measure_s}"]
    prepare: [sleep, "0.1"]
    size_mib: 1
matrices:
  all: {{workload: [wait], file_system: [ext4]}}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {{idle_s: 1.2, warmup_s: 0, measure_s: {measure_s}, settle_limit_s: 10}}
    image_mib: 64
"""


def project(folder, patch):
    """Make a project, and have it be the one that is worked in."""
    (folder / "studies").mkdir(parents=True)
    (folder / "params.yaml").write_text("campaigns: {}\nstudies: []\n")
    patch.setattr(paths, "root", lambda: folder)
    patch.delenv("FSGREEN_DATA", raising=False)
    # A process that is started in it finds it by itself, and the package where this one does.
    patch.setenv("PYTHONPATH", os.fspath(paths.code()))


def tiny(folder, name, measure_s):
    """Write a study of one trial, of so many seconds, that any machine is calm enough for."""
    text = TINY.format(name=name, measure_s=measure_s)
    (folder / "studies" / f"{name}.yaml").write_text(text)


def text(widget):
    """What a person reads."""
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", widget.value))


class Begun:
    """A process that goes on until it is asked to stop."""

    pid = 1

    def __init__(self):
        self.asked = []

    def poll(self):
        return 0 if self.asked else None

    def terminate(self):
        self.asked.append(1)
