"""Emulated Watts Ups whose power a test says, which note what they hear and may misbehave."""

from functools import partial

from fsgreen.meters.core.emulation import EmulatedMeter
from fsgreen.meters.wattsup.driver import DRIVER
from fsgreen.meters.wattsup.emulator import Emulator as SoundEmulator

MEMORY_COUNT = 1023


class Emulator(SoundEmulator):
    """`memory_w` is what its memory holds, one record every `memory_interval_s`.

    `misbehaviour`: nul, cut, silent, garbage or None.
    """

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.misbehaviour = None
        self.received = []
        self.memory_w = []
        self.memory_interval_s = 1

    def obey(self, packet):
        self.received.append(",".join((packet.command, *packet.args)))
        match packet.command, packet.args:
            case "L", ("I", _, interval):
                self.memory_w.clear()
                self.memory_interval_s = int(interval)
                self.say(f"#s,-,3,0,{interval},1;")
            case "S", ():
                self.say(f"#s,-,3,0,{self.memory_interval_s},1;")
            case "N", ():
                self.say(f"#n,-,1,{MEMORY_COUNT};")
            case "O", (*mode,):
                if mode:
                    self.memory_w.clear()
                self.say("#o,-,1,0;")
            case "D", ():
                self.say(f"#n,-,3,0,{self.memory_interval_s},{len(self.memory_w)};")
                for power_w in self.memory_w:
                    self.record(power_w, self.memory_interval_s)
                self.say(f"#l,-,2,0,{self.memory_interval_s};")
            case _:
                super().obey(packet)

    def say(self, text):
        if self.misbehaviour == "silent":
            return
        if text.startswith("#d"):
            match self.misbehaviour:
                case "nul":
                    text = text.replace(",", ",\0", 5)
                case "cut":
                    text = text[len(text) // 2 :]
                case "garbage":
                    text = "\xff\xfe~#d,-,18,\x81" * 3
        if self.misbehaviour == "garbage":
            text = text.replace("#", "\x83#?")
        super().say(text)


def wattsup(power_w, name="system", *, covers=None, source="test", pace_s=1.0):
    """A meter that shows the watts of `power_w`, a record every `pace_s`."""
    return EmulatedMeter(
        DRIVER,
        {"name": name, "driver": "wattsup"},
        partial(Emulator, pace_s=pace_s),
        power_w,
        covers=covers or (name,),
        source=source,
    )
