"""One client of the executor: whole requests off a socket, replies onto it."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from racetrap.sim.gpu.cuda.messages import MESSAGES
from racetrap.sim.gpu.cuda.protocol import MOST_BYTES, REQUEST_HEADER, Message, ProtocolError

#: The rest of a message that has begun must come within so many seconds.
_REST_SECONDS = 10.0


class Connection:
    """Connection to a program's runtime library.

    Parameters
    ----------
    client : socket
        Connected socket.
    file : int
        Descriptor that the first reply carries; the connection closes it.
    """

    def __init__(self, client: socket.socket, file: int):
        self.socket = client
        self._file = file
        self._told = False
        client.settimeout(_REST_SECONDS)

    def _read(self, size: int, begun: bool) -> bytes:
        """So many bytes; none if the client has ended before the first."""
        parts = bytearray()
        while len(parts) < size:
            try:
                part = self.socket.recv(size - len(parts))
            except TimeoutError:
                raise ProtocolError(f"Message was not whole within {_REST_SECONDS:g} s") from None
            except ConnectionError:
                part = b""
            if not part:
                if begun or parts:
                    raise ProtocolError("Message is truncated")
                return b""
            parts += part
        return bytes(parts)

    def receive(self) -> tuple[Message, Any] | None:
        """Next request with its message, when there is something to read; ``None`` when the client
        has ended.

        Raises
        ------
        ProtocolError
            If it breaks a rule of the protocol.
        """
        header = self._read(REQUEST_HEADER.size, False)
        if not header:
            return None
        code, size = REQUEST_HEADER.unpack(header)
        message = MESSAGES.get(code)
        if message is None:
            raise ProtocolError(f"Code of a message must be from 1 to {max(MESSAGES)}, not {code}")
        if size > MOST_BYTES:
            raise ProtocolError(f"Message must have at most {MOST_BYTES} bytes, not {size}")
        return message, message.decode(self._read(size, True))

    def reply(self, message: Message, status: int, numbers: Sequence[int] = ()) -> None:
        """Send a reply; a client that is gone is ignored."""
        data = message.encode_reply(status, numbers)
        # A client that is gone shows when the next request is read.
        with suppress(OSError):
            if self._told:
                self.socket.sendall(data)
            else:
                socket.send_fds(self.socket, [data], [self._file])
        self._told = True

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()
        os.close(self._file)
