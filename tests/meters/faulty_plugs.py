"""Emulated plugs that note what they are asked, may be locked, and may misbehave."""

import json

from fsgreen.meters.common.emulators import send
from fsgreen.meters.plugs import emulator


class Faulty:
    """`fault`: silent, error (HTTP 500), half (of a body), wrong-type, negative, kilowatts."""

    def __init__(self, power_w):
        super().__init__(power_w)
        self.locked = False
        self.fault = None
        self.received = []

    def answer(self, request):
        self.received.append(request.path)
        if self.fault == "silent":
            self.closing.wait()
            request.close_connection = True
        elif self.fault == "error":
            send(request, 500, b"")
        elif self.fault == "half":
            body = json.dumps(self.document(request.path)).encode()
            send(request, 200, body[: len(body) // 2], Content_Length=f"{len(body)}")
        else:
            super().answer(request)

    def power(self):
        power_w = super().power()
        match self.fault:
            case "wrong-type":
                return f"{power_w:.1f} W"
            case "negative":
                return -power_w
            case "kilowatts":
                return round(power_w / 1000, 4)
        return power_w


class Shelly1(Faulty, emulator.EmulatedPlug):
    """A Shelly of the first generation."""

    kind = "shelly1"

    def document(self, path):
        match path:
            case "/shelly":
                about = {"type": "SHPLG-S", "mac": self.mac, "fw": "20230913/v1.14"}
                return {**about, "auth": self.locked}
            case "/status":
                meter = {"power": self.power(), "overpower": 0.0, "is_valid": True, "timestamp": 0}
                return {
                    "relays": [{"ison": self.on, "has_timer": False, "overpower": False}],
                    "meters": [{**meter, "total": round(self.energy_wh * 60)}],
                    "mac": self.mac,
                }
        return None


class Shelly2(Faulty, emulator.Shelly):
    kind = "shelly2"

    def document(self, path):
        document = super().document(path)
        return {**document, "auth_en": self.locked} if path == "/shelly" else document


class Tasmota(Faulty, emulator.Tasmota):
    kind = "tasmota"

    def document(self, path):
        if self.locked:
            return {"WARNING": "Need user=<username>&password=<password>"}
        return super().document(path)


PLUGS = {"shelly1": Shelly1, "shelly2": Shelly2, "tasmota": Tasmota}
