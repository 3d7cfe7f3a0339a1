"""A client of the executor's server, in place of a program's runtime library."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from struct import pack
from typing import Any

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.messages import MESSAGES
from racetrap.sim.gpu.cuda.protocol import MAGIC, REPLY_HEADER, VERSION
from racetrap.sim.gpu.cuda.server import Server

_BY_NAME = {message.name: message for message in MESSAGES.values()}
#: Nothing takes longer here unless it hangs.
_SECONDS = 20


def fat_binary(ptx: str, architecture: int = 75) -> bytes:
    """A fat binary with one PTX, as nvcc puts it into a program."""
    data = ptx.encode() + b"\0"
    entry = pack("<HHIQII4xI", 1, 1, 0x40, len(data), 0, 0, architecture).ljust(0x40, b"\0") + data
    return pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry


class Client:
    """A server in a thread, and one connection to it; a context manager.

    Attributes
    ----------
    error : Exception or None
        What ended the server.
    """

    def __init__(self, folder: Path, **settings: Any):
        self._path = folder / "executor"
        self.server = Server(self._path, RunSettings(**settings))
        self.error: Exception | None = None
        self._end = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        try:
            self.server.serve_until(self._end[0])
        except Exception as error:
            self.error = error

    def __enter__(self) -> Client:
        self._thread.start()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SECONDS)
        self._socket.connect(str(self._path))
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        os.write(self._end[1], b"x")
        self._thread.join(_SECONDS)
        assert not self._thread.is_alive(), "server hangs"
        for descriptor in self._end:
            os.close(descriptor)

    def send(self, data: bytes) -> None:
        """Send bytes as they are; those that the server no longer takes are lost."""
        try:
            self._socket.sendall(data)
        except OSError:
            assert self.error is not None or not self._thread.is_alive()

    def finish(self) -> None:
        """Send nothing more, and wait until the server has closed the connection."""
        self._socket.shutdown(socket.SHUT_WR)
        while self.receive(1):
            pass

    def receive(self, size: int) -> bytes:
        """So many bytes; fewer if the server has closed the connection."""
        data = b""
        while len(data) < size:
            try:
                part = self._socket.recv(size - len(data))
            except ConnectionError:
                part = b""
            if not part:
                break
            data += part
        return data

    def ask(self, name: str, *numbers: int, tail: bytes = b"") -> tuple[int, tuple[int, ...]]:
        """Status and numbers of the reply to a request."""
        message = _BY_NAME[name]
        self.send(message.encode(*numbers, tail=tail))
        code, size, status = REPLY_HEADER.unpack(self.receive(REPLY_HEADER.size))
        assert code == message.code
        body = self.receive(size)
        assert size == (0 if status else message.reply_bytes)
        return status, () if status else message._reply.unpack(body)

    def hello(self) -> tuple[int, ...]:
        """Say who speaks."""
        status, numbers = self.ask("hello", MAGIC, VERSION, 1)
        assert status == 0
        return numbers
