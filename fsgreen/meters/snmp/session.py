"""Ask an SNMP agent through pysnmp; its answers become text, one line for each object."""

from __future__ import annotations

import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeVar

from fsgreen.errors import FsgreenError

TIMEOUT_S = 1.0
RETRIES = 1
GIVE_UP_S = 10.0
MIN_PASSPHRASE = 8  # RFC 3414, 11.2

AUTH = {
    "md5": "USM_AUTH_HMAC96_MD5",
    "sha": "USM_AUTH_HMAC96_SHA",
    "sha256": "USM_AUTH_HMAC192_SHA256",
    "sha512": "USM_AUTH_HMAC384_SHA512",
}
PRIV = {
    "des": "USM_PRIV_CBC56_DES",
    "aes": "USM_PRIV_CFB128_AES",
    "aes256": "USM_PRIV_CFB256_AES",
}
VERSIONS = {"1": 0, "2c": 1, "3": 3}
"""The message processing models, by version (RFC 3411, snmpMessageProcessingModels)."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Access:
    """The credentials for an agent; their text form leaves out secrets."""

    version: str = "2c"
    auth: str = "sha"
    priv: str = "aes"
    user: str = ""
    community: str = field(default="public", repr=False)
    auth_key: str = field(default="", repr=False)
    priv_key: str = field(default="", repr=False)

    def fault(self) -> str | None:
        """Return why no agent can accept these credentials, or None."""
        if self.version != "3":
            return None
        if not self.user:
            return "SNMP 3 needs a user"
        if self.priv_key and not self.auth_key:
            return "SNMP 3 knows no privacy key without an authentication key"
        if any(0 < len(key) < MIN_PASSPHRASE for key in (self.auth_key, self.priv_key)):
            return f"an SNMP 3 passphrase has {MIN_PASSPHRASE} characters or more"
        if self.priv_key and find_spec("cryptography") is None:
            return "SNMP 3 with privacy needs another package: pip install cryptography"
        return None


class LoopThread:
    """An event loop in its own thread: the caller may already run one, as Jupyter does."""

    def __init__(self, name: str) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work`: return its result, or raise its error."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the loop and the thread."""
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Session:
    """A session with the agent at `host`; nothing is sent before the first question."""

    def __init__(self, host: str, port: int, access: Access) -> None:
        self._address = (host, port)
        self._access = access
        self._engine: Any = None
        self._target: Any = None
        self._thread = LoopThread(f"snmp {host}")

    def get(self, oids: Sequence[str]) -> bytes:
        """Return a line `OID = Type: value` for each object; raises FsgreenError without answer."""
        from pyasn1.error import PyAsn1Error
        from pysnmp.error import PySnmpError

        try:
            return self._thread.run(self._get(oids))
        except (PySnmpError, PyAsn1Error, OSError, TimeoutError) as error:
            raise self._error(str(error) or "no answer") from error

    def close(self) -> None:
        """Close the socket, and end the loop and its thread."""
        self._thread.run(shut(self._engine))
        self._thread.close()

    async def _get(self, oids: Sequence[str]) -> bytes:
        import asyncio

        from pysnmp.hlapi.v3arch import asyncio as snmp

        if self._engine is None:
            self._target = await snmp.UdpTransportTarget.create(
                self._address, timeout=TIMEOUT_S, retries=RETRIES
            )
            self._engine = snmp.SnmpEngine()
        names = (snmp.ObjectType(snmp.ObjectIdentity(oid)) for oid in oids)
        question = snmp.get_cmd(
            self._engine,
            self._credentials(),
            self._target,
            snmp.ContextData(),
            *names,
            lookupMib=False,
        )
        failure, status, place, answers = await asyncio.wait_for(question, GIVE_UP_S)
        if failure:
            raise self._error(str(failure))
        if status:
            raise self._error(f"{status.prettyPrint()} for {oids[max(int(place), 1) - 1]}")
        return "".join(
            f"{oid} = {type(value).__name__}: {_text(value)}\n" for oid, value in answers
        ).encode("ascii")

    def _credentials(self) -> Any:
        from pysnmp.hlapi.v3arch import asyncio as snmp

        access = self._access
        if access.version != "3":
            return snmp.CommunityData(access.community, mpModel=VERSIONS[access.version])
        return snmp.UsmUserData(
            access.user,
            authKey=access.auth_key or None,
            privKey=access.priv_key or None,
            authProtocol=getattr(snmp, AUTH[access.auth]),
            privProtocol=getattr(snmp, PRIV[access.priv]),
        )

    def _error(self, what: str) -> FsgreenError:
        host, port = self._address
        return FsgreenError(
            f"the SNMP agent does not answer: {what}",
            where=f"{host}:{port}, SNMP {self._access.version}",
            next_step="check address, version and credentials with Net-SNMP: "
            f"snmpget -v{self._access.version} ... {host}:{port} 1.3.6.1.2.1.1.1.0",
        )


async def shut(engine: Any) -> None:
    """Close an engine's sockets, and let its tasks notice."""
    import asyncio

    if engine is not None:
        engine.close_dispatcher()
        for _ in range(3):
            await asyncio.sleep(0)


def _text(value: Any) -> str:
    """Return a value as one line of ASCII, from which its bytes can be restored."""
    octets = hasattr(value, "asOctets")
    text: str = value.asOctets().decode("latin-1") if octets else value.prettyPrint()
    return text.encode("unicode_escape").decode("ascii")
