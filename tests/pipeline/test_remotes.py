"""Traces in stores elsewhere: what one clone pushes another pulls, by the commands of the page.

By night, as the programs come out of a package registry into an environment of their own: neither
the store in S3 nor that by SSH is in `requirements.lock`.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from fsgreen import paths
from tests import clones, documented
from tests.meters.asked import free_port
from tests.patience import wait_for

EXTRAS = tomllib.loads((paths.root() / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
CAMPAIGN = "fast10-disk"
"""The smallest pack of fast10."""

SSHD = paths.program("sshd")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="installs DVC's remotes, and a server, from a package registry: FSGREEN_NIGHTLY=1 "
        "./run test tests/pipeline/test_remotes.py",
    ),
]

BUCKET = """
import boto3, sys
boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1").create_bucket(Bucket="traces")
"""
KEYS = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret"}

SSHD_CONFIG = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
PasswordAuthentication no
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DVC with the remotes that `pyproject.toml` offers, and a server that speaks S3."""
    folder = tmp_path_factory.mktemp("remotes")
    uv = str(Path(sys.executable).with_name("uv"))
    wanted = [f"dvc=={version('dvc')}", *EXTRAS["s3"], *EXTRAS["ssh"], "moto[server]>=5"]
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    python = str(folder / "bin" / "python")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *wanted], check=True)
    return folder / "bin"


@contextlib.contextmanager
def running(port: int, *command: str, **variables: str) -> Iterator[None]:
    """Run a server as long as the block lasts, which begins when it listens."""
    process = subprocess.Popen(command, env={**os.environ, **variables})
    try:
        wait_for(lambda: process.poll() is not None or listens(port), f"{command[0]} does not run")
        assert process.poll() is None, f"{command[0]} ended"
        yield
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with the shipped store."""
    folder = tmp_path / "one"
    folder.mkdir()
    clones.copy(folder)
    clones.commit(folder)
    return folder


def another(clone: Path, name: str = "another") -> Path:
    """A clone of a clone, without the shipped store and without what is in no commit."""
    folder = clone.with_name(name)
    subprocess.run(["git", "clone", "--quiet", str(clone), str(folder)], check=True)
    shutil.rmtree(folder / "data" / "store")
    return folder


def typed(
    clone: Path, programs: Path, text: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """What comes of commands of the page that are typed into a shell in a clone."""
    own = {"PATH": os.pathsep.join([str(programs), os.environ["PATH"]]), "HOME": str(clone.parent)}
    env = clones.environment(clone) | own | variables
    for name in ("PYTHONPATH", "SSH_AUTH_SOCK"):
        env.pop(name, None)
    command = ["sh", "-euc", text]
    return subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True)


def type_in(clone: Path, programs: Path, text: str, **variables: str) -> None:
    """Type commands of the page into a shell in a clone, where they do what they are to do."""
    done = typed(clone, programs, text, **variables)
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def commands(remote: str, **given: str) -> tuple[str, str]:
    """What the page shows for a remote: to push, and to pull in another clone."""
    push, pull = (text for text in documented.tested("docs/remotes.md") if remote in text)
    for shown, value in given.items():
        push, pull = (text.replace(shown, value) for text in (push, pull))
    return push, pull


def goes_round(clone: Path, programs: Path, push: str, pull: str, **variables: str) -> None:
    """See that what is pushed comes out in another clone, with no store but the remote."""
    type_in(clone, programs, push, **variables)
    git = ["git", "-C", str(clone), "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "commit", "--quiet", "-a", "-m", "remote"], check=True)
    there = another(clone)
    assert "config.local" not in os.listdir(there / ".dvc"), "a secret went with the clone"
    type_in(there, programs, pull, **variables)
    pack = Path("data") / "packed" / f"{CAMPAIGN}.tar.xz"
    assert (there / pack).read_bytes() == (clone / pack).read_bytes()


def test_traces_go_through_a_store_that_speaks_s3(programs: Path, clone: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running(port, str(programs / "moto_server"), "--port", str(port)):
        python = str(programs / "python")
        subprocess.run([python, "-c", BUCKET, url], env={**os.environ, **KEYS}, check=True)
        push, pull = commands("s3://", **{"https://s3.example.org": url})
        goes_round(clone, programs, push, pull, **KEYS)


@pytest.mark.skipif(SSHD is None, reason="there is no sshd: apt-get install openssh-server")
def test_traces_go_through_ssh(programs: Path, clone: Path, tmp_path: Path) -> None:
    port, folder = free_port(), tmp_path / "ssh"
    folder.mkdir()
    for name in ("host", "user"):
        key = str(folder / name)
        keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
        subprocess.run(keygen, check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd of Debian wants it
    config = folder / "config"
    config.write_text(SSHD_CONFIG.format(port=port, folder=folder))
    with running(port, str(SSHD), "-D", "-e", "-f", str(config)):
        address = f"ssh://127.0.0.1:{port}{folder}/traces"
        given = {"ssh://lab.example.org/srv/traces": address, "~/.ssh/id_ed25519": f"{folder}/user"}
        push, pull = commands("ssh://", **given)
        goes_round(clone, programs, push, pull)
        (pack,) = (file for file in (folder / "traces").rglob("*") if file.is_file())
        pack.chmod(0o644)
        pack.write_bytes(b"of somebody else")
        there = another(clone, "third")
        assert typed(there, programs, pull).returncode, "what is there is analysed, whatever it is"
        assert not (there / "data" / "packed" / f"{CAMPAIGN}.tar.xz").exists()
