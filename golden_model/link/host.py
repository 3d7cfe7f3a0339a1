"""Golden model of the host's end of the link: one request after the other, each answered once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from racetrap.golden_model.link.frames import (
    CHANNELS,
    FLAG,
    MAX_BODY_BYTES,
    REPLY,
    SEQUENCES,
    Decoder,
    Frame,
    encode,
)

#: Bytes after which a line that is never silent counts as one that gives no reply.
_NOISE_BYTES = 4 * MAX_BODY_BYTES


class LinkHost:
    """Has requests executed over a line that may damage, lose, double or invent bytes.

    A request whose reply does not come is sent again with the same sequence; the device executes
    it once, however often it comes.  The first sequence is a random one, so that no reply to a
    host before this one is taken for one to this.

    Parameters
    ----------
    send : callable
        Sends bytes.
    receive : callable
        Gives the bytes that have come, or the next ones that come; none after a silence that is
        longer than a reply may take.
    tries : int
        Times that a request is sent before the device counts as lost.

    Attributes
    ----------
    requests, resends : int
        Requests made, and frames sent again since no reply came.
    """

    def __init__(
        self, send: Callable[[bytes], object], receive: Callable[[], bytes], tries: int
    ) -> None:
        self._send, self._receive, self._tries = send, receive, tries
        self._decoder = Decoder()
        self._sequence = random.randrange(SEQUENCES)
        self.requests = self.resends = 0

    def exchange(self, kind: int, channel: int = 0, payload: bytes = b"") -> Frame:
        """Have one request executed, exactly once; gives the reply.

        Raises
        ------
        TimeoutError
            If no reply comes: the request was executed once or not at all.
        OSError
            From the line.
        """
        self._sequence = (self._sequence + 1) % SEQUENCES
        data = encode(Frame(self._sequence, kind * CHANNELS + channel, payload))
        self.requests += 1
        for attempt in range(self._tries):
            self.resends += attempt > 0
            # Noise may have left something that would take the frame for its end.
            self._send(bytes([FLAG] * (attempt > 0)) + data)
            for reply in self._frames():
                if reply.sequence == self._sequence and reply.code & REPLY:
                    return reply
        raise TimeoutError(f"no answer in {self._tries} tries")

    def _frames(self) -> Iterator[Frame]:
        """Frames that come until the line is silent, or noise for too long."""
        received = 0
        while received < _NOISE_BYTES and (data := self._receive()):
            received += len(data)
            yield from self._decoder.feed(data)
