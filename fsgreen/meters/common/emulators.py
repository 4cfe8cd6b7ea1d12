"""Base classes of emulators: a pseudo-terminal or a server, which a thread serves."""

from __future__ import annotations

import json
import os
import select
import socket
import socketserver
import threading
import tty
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from fsgreen.errors import FsgreenError


class TerminalEmulator(ABC):
    """A meter on a pseudo-terminal. `port` is the path for the driver, from entry to exit."""

    def __init__(self) -> None:
        self._unplugging = threading.Lock()
        self._wake: int | None = None
        self.unsent = b""

    @abstractmethod
    def hear(self, data: bytes) -> None:
        """Handle bytes from the driver."""

    @abstractmethod
    def wait_s(self) -> float | None:
        """Return the seconds until there is something to send; None means only when asked."""

    @abstractmethod
    def speak(self) -> None:
        """Send what is due, if anything is."""

    def write(self, data: bytes) -> None:
        """Send bytes. If the line has no room, the rest waits until it has."""
        self.unsent += data
        with suppress(BlockingIOError):
            self.unsent = self.unsent[os.write(self._master, self.unsent) :]

    def __enter__(self) -> Self:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._wake = os.eventfd(0)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(
            target=self._serve, args=(self._wake,), name="emulated meter", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The settings with which the driver connects to it: the port."""
        return {"port": self.port}

    def unplug(self) -> None:
        """Remove the port, like a pulled cable. Any thread may call it, repeatedly."""
        with self._unplugging:
            if self._wake is not None:
                os.eventfd_write(self._wake, 1)
                self._thread.join()
                os.close(self._wake)
                self._wake = None

    def _serve(self, wake: int) -> None:
        try:
            with suppress(FsgreenError):  # an error of the power model removes the port
                while True:
                    full = [self._master] if self.unsent else []
                    ready, room, _ = select.select([self._master, wake], full, [], self.wait_s())
                    if wake in ready:
                        return
                    if self._master in ready:
                        self.hear(os.read(self._master, 4096))
                    if room:
                        self.write(b"")
                    self.speak()
        finally:
            os.close(self._master)
            os.close(self._slave)


class ServerEmulator:
    """A meter that a server on this machine emulates, from entry to exit. It listens on `port`.

    A handler adds its connection to `lines` while it is open.
    """

    def __init__(self, server: socketserver.TCPServer) -> None:
        self.closing = threading.Event()
        self.lines: set[socket.socket] = set()
        self._server = server
        self.port = int(server.server_address[1])

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="emulated meter", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self.hang_up()
        self._server.server_close()

    def hang_up(self) -> None:
        """End the open connections, as a server does with idle ones."""
        for line in list(self.lines):
            with suppress(OSError):  # the connection has just ended
                line.shutdown(socket.SHUT_RDWR)


class WebEmulator(ServerEmulator, ABC):
    """A meter that answers over HTTP on this machine, from entry to exit. `host` has its port."""

    def __init__(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = False
        super().__init__(server)
        self.host = f"127.0.0.1:{self.port}"

    @abstractmethod
    def document(self, path: str) -> Any:
        """Return the document at a path; None if there is none."""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request with the document at its path, as JSON."""
        document = self.document(request.path)
        send(request, 404 if document is None else 200, json.dumps(document).encode())


def send(request: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """Answer a request with a body. `headers` replace or add to the usual ones."""
    request.send_response(status)
    told = {"Content_Type": "application/json", "Content_Length": f"{len(body)}", **headers}
    for name, value in told.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    with suppress(BrokenPipeError, ConnectionResetError):  # the client is gone
        request.wfile.write(body)


def _handler(emulator: WebEmulator) -> type[BaseHTTPRequestHandler]:
    """Return the handler class of an emulator, as http.server needs one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            emulator.lines.add(self.connection)

        def finish(self) -> None:
            emulator.lines.discard(self.connection)
            super().finish()

        def do_GET(self) -> None:
            emulator.answer(self)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler
