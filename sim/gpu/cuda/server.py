"""Server of the executor: programs connect to its socket and are served in turn."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
from pathlib import Path

from racetrap.sim.gpu.cuda.connection import Connection
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.session import Session
from racetrap.sim.gpu.executor.machine.memory import HEAP_END


class Server:
    """Executor with a socket.

    Parameters
    ----------
    path : Path
        Where the socket is made.
    settings : RunSettings
        How programs are run.

    Attributes
    ----------
    sessions : list of Session
        One of each program that has connected, in that order, and one of each that has announced
        that it is linked with the runtime library.
    """

    def __init__(self, path: Path, settings: RunSettings):
        self.sessions: list[Session] = []
        self._settings = settings
        self._clients: dict[socket.socket, tuple[Connection, Session]] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def serve_until(self, end: int) -> None:
        """Serve programs until a descriptor is readable; those that are left then are ended.

        Parameters
        ----------
        end : int
            The descriptor.

        Raises
        ------
        ProtocolError
            If a program breaks a rule of the protocol.
        """
        self._selector.register(end, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.fd == end:
                        self._accept_all()
                        return
                    if key.fileobj is self._listener:
                        self._accept()
                    else:
                        self._serve(key.fileobj)  # type: ignore[arg-type]
        finally:
            self._close()

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        memory_file = os.memfd_create("device-memory")
        os.ftruncate(memory_file, HEAP_END)
        session = Session(memory_file, self._settings)
        self.sessions.append(session)
        self._clients[client] = Connection(client, memory_file), session
        self._selector.register(client, selectors.EVENT_READ)

    def _accept_all(self) -> None:
        """Accept those that have connected and ended since."""
        self._listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._accept()

    def _serve(self, client: socket.socket) -> None:
        connection, session = self._clients[client]
        received = connection.receive()
        if received is None:
            self._forget(client)
            return
        message, request = received
        status, numbers = session.serve(message.name, request)
        connection.reply(message, status, numbers)

    def _forget(self, client: socket.socket) -> None:
        self._selector.unregister(client)
        connection, _ = self._clients.pop(client)
        connection.close()

    def _close(self) -> None:
        for client in list(self._clients):
            self._forget(client)
        self._selector.close()
        self._listener.close()
