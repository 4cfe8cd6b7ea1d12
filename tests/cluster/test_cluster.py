"""A campaign reduced on lent cores, over sockets: the same bytes, whoever is lost meanwhile."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import synthetic
from distributed.comm import connect
from distributed.core import rpc

from fsgreen import confounds, executors, paths, reduce
from fsgreen.analysis import standard
from fsgreen.cluster import Borrowed, at, borrowed, lending
from fsgreen.errors import FsgreenError
from fsgreen.executors import Executor, Processes, entered
from fsgreen.fleet import certificates, membership
from fsgreen.fleet.certificates import security
from tests.fleet.strangers import tried
from tests.meters.asked import free_port
from tests.patience import wait_for

pytestmark = pytest.mark.slow

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
TABLES = ("trials", "series", "latency", "finishes", "power_over_time")
ANALYSED = ("confounds", "cells", "effects", "trust")

LEND = """
import os, sys
from fsgreen import cli
from fsgreen.cluster import lending, sources
{changed}
sys.exit(cli.main(["lend", *sys.argv[1:]]))
"""
DYING = """
async def die(self, given):
    os.kill(os.getpid(), 9)
lending.Tasks._made = die
"""
OTHER = 'sources.digest = lambda: "0" * 64'


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What those who work together show each other."""
    folder = tmp_path_factory.mktemp("cluster") / "certificates"
    certificates.make(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(shown: Path) -> Iterator[Borrowed]:
    """A place on this machine at which somebody listens, and where nobody lends yet."""
    place = Borrowed(at(f"localhost:{free_port()}", shown))
    with place.gathering():
        yield place


@pytest.fixture(scope="module")
def lent(shown: Path) -> Iterator[Borrowed]:
    """Another place, at which one core is lent as long as these tests run."""
    place = Borrowed(at(f"localhost:{free_port()}", shown))
    with place.gathering(), lender(place):
        yield place


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sequence[bytes]]:
    """The traces of a small campaign, and the tables that this process makes of them."""
    data = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(data))
        synthetic.write_raw("small", synthetic.make_plan(blocks=4))
        return data / "raw", tables(Processes(1))


@pytest.fixture
def alone(
    made: tuple[Path, Sequence[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Sequence[bytes]:
    """Those tables; the traces are there anew, for a test to change."""
    raw, alone = made
    shutil.copytree(raw, tmp_path / "raw")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    return alone


def tables(executor: Executor) -> Sequence[bytes]:
    """The tables of the small campaign as an executor makes them."""
    files = [paths.results("small") / f"{name}.csv" for name in TABLES]
    for file in files:
        file.unlink(missing_ok=True)
    with entered(executor):
        reduce.write("small")
    return [file.read_bytes() for file in files]


def all_tables(executor: Executor) -> Sequence[bytes]:
    """Those and what the analysis makes of them."""
    made = tables(executor)
    with entered(executor):
        confounds.write("small")
        standard.write("small")
    return [*made, *((paths.results("small") / f"{name}.csv").read_bytes() for name in ANALYSED)]


@contextlib.contextmanager
def lender(cluster: Borrowed, jobs: int = 1, changed: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process that lends cores; its code may be changed before it does."""
    place = cluster.place
    command = [sys.executable, "-c", LEND.format(changed=changed), place.home]
    command += ["--jobs", str(jobs), "--certificates", str(place.certificates)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert " lent to " in process.stdout.readline()
        yield process
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture
def not_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Home does not reduce a trial itself, as it would one that is refused."""

    def fail(*_given: object) -> None:
        raise AssertionError("home reduced a trial itself")

    monkeypatch.setattr(borrowed, "reduced", fail)


@pytest.mark.usefixtures("not_at_home")
def test_processes_and_lent_cores_make_the_same_bytes_as_one_process(
    lent: Borrowed, alone: Sequence[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that depends on how many machines came to it is none."""
    whole = all_tables(Processes(1))
    assert whole[: len(alone)] == alone
    with lender(lent):
        assert all_tables(lent) == whole
    monkeypatch.setattr(executors, "WORTH_A_PROCESS", 1)
    again = all_tables if NIGHTLY else tables
    made = again(Processes(2))
    assert made == whole[: len(made)]


@pytest.mark.usefixtures("not_at_home")
def test_the_trial_of_a_core_that_is_lost_is_given_to_another(
    cluster: Borrowed, alone: Sequence[bytes]
) -> None:
    with lender(cluster, changed=DYING) as dying, lender(cluster):
        assert tables(cluster) == alone
        assert dying.wait() == -9


@pytest.mark.usefixtures("not_at_home")
def test_a_core_that_did_not_answer_once_is_asked_again(
    lent: Borrowed, alone: Sequence[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Home would wait for cores for ever, beside one that is lent."""
    ask, lost = borrowed.Remote.ask, []

    async def away_once(remote: Any, task: str, *given: Any) -> Any:
        if task == "reduce" and not lost:
            lost.append(task)
            raise borrowed.Lost("the network was away")
        return await ask(remote, task, *given)

    monkeypatch.setattr(borrowed.Remote, "ask", away_once)
    assert tables(lent) == alone
    assert lost


def test_home_says_that_it_waits_for_cores_and_goes_on_once_one_is_lent(
    cluster: Borrowed, alone: Sequence[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """It would stand still without a word."""
    made: list[Sequence[bytes]] = []
    reducing = threading.Thread(target=lambda: made.append(tables(cluster)), daemon=True)
    reducing.start()
    said = [""]

    def waits() -> bool:
        said[0] += capsys.readouterr().out
        return f"waiting for cores at {cluster.place.home}" in said[0]

    wait_for(waits)
    with lender(cluster):
        reducing.join()
    assert made == [alone]


def test_machines_that_are_called_alike_lend_side_by_side(cluster: Borrowed) -> None:
    """As containers are, in which processes have the same numbers, too."""
    place = cluster.place
    shown = security(place).get_connection_args("worker")

    async def lent() -> None:
        both = [asyncio.create_task(lending.lend(place, 1)) for _ in range(2)]
        async with rpc(membership.address(place), connection_args=shown) as home:
            while len((await home.identity())["workers"]) < 2:
                for one in both:
                    assert not one.done(), one.exception()
                await asyncio.sleep(0.05)
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)

    asyncio.run(lent())


def test_another_code_does_not_compute(cluster: Borrowed, alone: Sequence[bytes]) -> None:
    """Half of the trials would be reduced by other rules."""
    with (
        lender(cluster, changed=OTHER),
        pytest.raises(FsgreenError, match="another version of fsgreen"),
    ):
        tables(cluster)


@pytest.mark.usefixtures("alone")
def test_what_is_wrong_with_a_trial_is_said_by_the_names_that_it_has_at_home(
    lent: Borrowed,
) -> None:
    """Its folder where it was reduced is gone when somebody reads that."""
    folder = next(iter((paths.raw("small") / "trials").iterdir()))
    ops = folder / "ops.parquet"
    table = synthetic.pd.read_parquet(ops)
    table["work_ops"] += 1
    table.to_parquet(ops)
    record = folder / "trial.json"
    rehash(record, ops)
    with pytest.raises(FsgreenError, match="its series holds") as told:
        tables(lent)
    assert told.value.where == str(folder)


def rehash(record: Path, file: Path) -> None:
    """Have a record say that a file is as it should be."""
    said = synthetic.json.loads(record.read_text())
    said["files"][file.name] = synthetic.trial.sha256_of(file)
    record.write_text(synthetic.json.dumps(said))


def test_nobody_has_a_lent_core_do_anything_else(lent: Borrowed, tmp_path: Path) -> None:
    """It runs in the account of whoever lends it, beside other things."""
    marker = tmp_path / "marker"
    place = lent.place
    shown = security(place).get_connection_args("worker")

    async def through() -> list[str]:
        async with rpc(membership.address(place), connection_args=shown) as home:
            workers = list((await home.identity())["workers"])
            found = await tried(home, membership.address(place), str(marker))
        assert workers
        for address in workers:
            async with rpc(address, connection_args=shown) as peer:
                found += await tried(peer, address, str(marker))
        certificates.make(tmp_path / "others")
        others = at(place.home, tmp_path / "others")
        foreign = security(others).get_connection_args("worker")
        for address in (membership.address(place), *workers):
            with contextlib.suppress(OSError, TimeoutError):
                comm = await connect(address, timeout=5, **foreign)
                await comm.write({"op": "identity"})
                found.append(f"other certificates at {address}: {await comm.read()}")
        return found

    assert asyncio.run(through()) == []
    assert not marker.exists()


def test_a_process_that_was_ended_is_replaced() -> None:
    """A trial that takes too much memory would end what is lent for the others, too."""
    sent = {"plan": "", "attached": "{}", "trial": "t", "files": {}}
    ending = ProcessPoolExecutor(1, get_context("spawn"), os._exit, (9,))
    started = iter([ending, executors.processes(1)])

    async def asked() -> list[dict[str, object]]:
        tasks = lending.Tasks(lambda: next(started))
        first = await tasks.perform("reduce", sent)
        second = await tasks.perform("reduce", sent)
        tasks.stop()
        return [first, second]

    first, second = (str(answer["refused"]) for answer in asyncio.run(asked()))
    assert "the process that reduced t was ended" in first
    assert "there is no trial.json" in second
