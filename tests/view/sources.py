"""A source whose every reading a test decides on."""

from dataclasses import replace

import numpy as np

from fsgreen.meters import Readings
from fsgreen.trial import Phase
from fsgreen.view import Work
from tests.traces import INFO


class Told:
    """Shows what it was told."""

    def __init__(self, *names, boundary="wall", rate_hz=1.0):
        info = replace(INFO, boundary=boundary, rate_hz=rate_hz)
        self.meters = {name: info for name in names or ("system",)}
        self.rows = {name: [] for name in self.meters}
        self.rates = []
        self.phases_told = []
        self.time_s = 1000.0
        self.goes_on = True

    def tell(self, time_s, power_w, quality="ok", name="system"):
        self.rows[name].append((time_s, power_w, quality))

    def running(self):
        return self.goes_on

    def now_s(self):
        return self.time_s

    def since(self, meter, time_s):
        rows = [row for row in self.rows[meter] if row[0] > time_s]
        return Readings(
            np.array([row[0] for row in rows], dtype=float),
            np.array([row[1] for row in rows], dtype=float),
            flags={nth: row[2] for nth, row in enumerate(rows) if row[2] != "ok"},
        )

    def work(self, time_s):
        rates = [rate for rate in self.rates if rate[0] > time_s]
        table = np.array(rates, dtype=float).reshape(-1, 2)
        return Work(table[:, 0], table[:, 1])

    def phases(self):
        return [Phase(*phase) for phase in self.phases_told]
