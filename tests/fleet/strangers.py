"""What others try on a fleet that measures; ends with the list of what went through.

`python strangers.py FLEET CERTIFICATES MARKER`: those of another fleet, and a file that must not be
made.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from distributed.comm import connect
from distributed.core import rpc
from distributed.protocol.serialize import Serialize, ToPickle

from fsgreen import fleet
from fsgreen.fleet import membership
from fsgreen.fleet.certificates import security

LIMIT_S = 5


class Program:
    """What makes the marker when it is unpickled."""

    def __init__(self, marker: str) -> None:
        self._marker = marker

    def __reduce__(self):
        return Path.touch, (Path(self._marker),)


async def main(file: str, others: str, marker: str) -> list[str]:
    """Try everything, and return what went through."""
    own = fleet.read(Path(file))
    foreign = replace(own, certificates=Path(others))
    through = []
    for name, shown in (
        ("a certificate of another fleet", security(foreign).get_connection_args("worker")),
        ("no certificate", {"require_encryption": False}),
    ):
        address = membership.address(own) if "ssl_context" in shown else f"tcp://{own.home}"
        for place in (address, await worker_of(own, address.partition(":")[0])):
            try:
                comm = await connect(place, timeout=LIMIT_S, **shown)
                await comm.write({"op": "identity"})
                through.append(f"{name} at {place}: {await comm.read()}")
            except (TimeoutError, OSError, TypeError):
                pass
    shown = security(own).get_connection_args("worker")
    for place in (membership.address(own), await worker_of(own, "tls")):
        async with rpc(place, connection_args=shown) as peer:
            through += await tried(peer, place, marker)
    if Path(marker).exists():
        through.append("a pickle")
    return through


async def tried(peer, place, marker) -> list[str]:
    """What a member of the fleet has done beyond what its task is."""
    assert await peer.identity(), "nobody is asked at all"
    program = Program(marker)
    asked = {
        "a function": lambda: peer.run(function=program, args=(), kwargs={}),
        "a function on the scheduler": lambda: peer.run_function(function=program),
        "a graph": lambda: peer.update_graph(graph=ToPickle(program)),
        "a plugin": lambda: peer.register_worker_plugin(plugin=program, name="p"),
        "a file": lambda: peer.upload_file(filename="evil.py", data=b"open(1)", load=True),
        "a pickle on the way": lambda: peer.identity(data=ToPickle(program)),
        "a serialised one": lambda: peer.identity(data=Serialize(program)),
        "a task that is not ours": lambda: peer.fsgreen(task="run", arguments={"code": "1"}),
        "a path elsewhere": lambda: peer.fsgreen(
            task="piece", arguments={"campaign": "c", "file": "../../fleet.toml", "offset_b": 0}
        ),
    }
    through = []
    for name, ask in asked.items():
        try:
            answer = await asyncio.wait_for(ask(), LIMIT_S)
        except Exception:
            continue
        if answer is not None and not (isinstance(answer, dict) and "refused" in answer):
            through.append(f"{name} at {place}: {answer}")
    return through


async def worker_of(own, scheme: str, name: str = "two") -> str:
    """Where a worker listens, as home knows it."""
    shown = security(own).get_connection_args("worker")
    async with rpc(membership.address(own), connection_args=shown) as home:
        workers = (await home.identity())["workers"]
    (address,) = (place for place, told in workers.items() if told["name"] == name)
    return f"{scheme}://{address.partition('://')[2]}"


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:])))
