"""A Redfish service over HTTPS: one kept connection, and only GET requests.

Proxies and redirections are not followed, because they would give the password to another host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import json_object

if TYPE_CHECKING:
    from http.client import HTTPConnection

ROOT = "/redfish/v1"
MAX_BODY_B = 1 << 20
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Service:
    """The service at `url`, https://HOST[:PORT]; plain http only on this machine.

    `ca_file` holds the service's certificate or its issuer's, and replaces the system's;
    certificates are always checked. Raises FsgreenError if the address or the file is wrong.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], ca_file: str, timeout_s: float
    ) -> None:
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError as error:
            raise _error(f"this is no address: {error}", url) from error
        if "@" in parts.netloc or parts.path not in ("", "/") or parts.query:
            raise _error("the address holds more than a host and a port", self._host)
        if parts.scheme != "https" and not (parts.scheme == "http" and self._host in LOOPBACK):
            raise _error("only https is spoken with another machine", url)
        self.url = url
        self._headers = {"Accept": "application/json", "OData-Version": "4.0", **headers}
        self._timeout_s = timeout_s
        self._context = _tls(ca_file) if parts.scheme == "https" else None
        self._line: HTTPConnection | None = None

    def get(self, path: str) -> bytes:
        """Return the body at a path; raises FsgreenError if the status is not 200."""
        from http.client import HTTPException

        kept = self._line is not None
        try:
            status, body = self._exchange(path)
        except (ConnectionError, HTTPException) as error:
            self.close()
            if kept:  # a service may end an idle connection
                return self.get(path)
            raise self._failed(path, repr(error)) from error
        except (OSError, ValueError) as error:
            self.close()
            raise self._failed(path, str(error)) from error
        if status != 200 or len(body) > MAX_BODY_B:
            self.close()
            raise self._failed(path, f"status {status}, {len(body)} bytes")
        return body

    def document(self, path: Any) -> dict[str, Any]:
        """Return the JSON object at a path; raises FsgreenError if there is none."""
        if not isinstance(path, str) or not path.startswith("/"):
            raise self._failed(str(path), "this is no path of a Redfish service")
        document = json_object(self.get(path))
        if document is None:
            raise self._failed(path, "no JSON object")
        return document

    def close(self) -> None:
        """End the connection; the next question opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _exchange(self, path: str) -> tuple[int, bytes]:
        from http.client import HTTPConnection, HTTPSConnection

        if self._line is None:
            self._line = (
                HTTPConnection(self._host, self._port, timeout=self._timeout_s)
                if self._context is None
                else HTTPSConnection(
                    self._host, self._port, timeout=self._timeout_s, context=self._context
                )
            )
        self._line.request("GET", path, headers=self._headers)
        answer = self._line.getresponse()
        return answer.status, answer.read(MAX_BODY_B + 1)

    def _failed(self, path: str, why: str) -> FsgreenError:
        return _error(f"the Redfish service gives no {path}: {why}", self.url)


def _tls(ca_file: str) -> Any:
    from ssl import create_default_context

    try:
        return create_default_context(cafile=ca_file or None)
    except OSError as error:
        raise _error(f"this is no file of certificates: {error}", ca_file) from error


def _error(what: str, where: str) -> FsgreenError:
    step = "check host, password and ca_file (docs/meters/redfish.md): curl -v HOST/redfish/v1"
    return FsgreenError(what, where=where, next_step=step)
