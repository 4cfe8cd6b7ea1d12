"""What a Watts Up says, and a port that says it."""

import os
import select
import threading
import tty
from contextlib import contextmanager

from tests.patience import until_calm

VERSION = "#v,-,8,1,0,5,0,7,8,20090101,0;\r\n"
COLUMNS = "W,V,A,WH,Cost,WH/Mo,Cost/Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA"
HEADER = f"#h,-,18,{COLUMNS};\r\n"
VALUES = {
    "W": "2345",
    "V": "1201",
    "A": "2013",
    "WH": "678",
    "Cost": "0",
    "WH/Mo": "2",
    "Cost/Mo": "0",
    "Wmax": "2400",
    "Vmax": "1202",
    "Amax": "2100",
    "Wmin": "2300",
    "Vmin": "1200",
    "Amin": "2000",
    "PF": "97",
    "DC": "100",
    "PC": "3",
    "Hz": "600",
    "VA": "2418",
}


def record(columns=COLUMNS, **changed):
    values = VALUES | changed
    return "#d,-,18," + ",".join(values[name] for name in columns.split(",")) + ";\r\n"


@contextmanager
def dialogue(*pairs):
    """A port that hears exactly these texts and answers them; fails on anything left over."""
    master, slave = os.openpty()
    tty.setraw(slave)
    wake = os.eventfd(0)
    problems = []

    def talk():
        heard = b""
        left = [(sent.encode(), answer.encode("latin-1")) for sent, answer in pairs]
        while True:
            ready, _, _ = select.select([master, wake], [], [])
            if master in ready:
                heard += os.read(master, 1024)
                while left and heard.startswith(left[0][0]):
                    sent, answer = left.pop(0)
                    heard = heard[len(sent) :]
                    os.write(master, answer)
            elif wake in ready:
                break
        if heard:
            problems.append(f"sent beyond the script: {heard!r}")
        if left:
            problems.append(f"never sent: {[sent for sent, _ in left]}")

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    try:
        yield os.ttyname(slave)
    finally:
        os.eventfd_write(wake, 1)
        thread.join()
        for descriptor in (master, slave, wake):
            os.close(descriptor)
    assert not problems, problems


def told(failing, expected, *script):
    """What `failing` says of a port; where the machine stood still, of another one."""

    def attempt():
        try:
            with dialogue(*script) as port:
                return failing(port)
        except AssertionError as error:  # it gave up before the script's end
            return str(error)

    return until_calm(attempt, lambda said: expected in said)
