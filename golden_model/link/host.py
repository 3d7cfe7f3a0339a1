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

#: Bytes without a reply after which a line that is never silent counts as dead.
_NOISE_BYTES = 4 * MAX_BODY_BYTES


class LinkHost:
    """Executes requests over a line that may corrupt, lose, duplicate or insert bytes.

    A request without a reply is sent again with the same sequence; the device executes it once,
    however often it arrives.  The first sequence is random, so that a late reply to an earlier host
    is not mistaken for one to this host.

    Parameters
    ----------
    send : callable
        Sends bytes.
    receive : callable
        Returns the bytes received, or waits for the next ones; none after a silence longer than a
        reply may take.
    tries : int
        How often a request is sent before the device counts as lost.

    Attributes
    ----------
    requests, resends : int
        Requests made, and frames sent again for lack of a reply.
    """

    def __init__(
        self, send: Callable[[bytes], object], receive: Callable[[], bytes], tries: int
    ) -> None:
        self._send, self._receive, self._tries = send, receive, tries
        self._decoder = Decoder()
        self._sequence = random.randrange(SEQUENCES)
        self.requests = self.resends = 0

    def exchange(self, kind: int, channel: int = 0, payload: bytes = b"") -> Frame:
        """Execute one request exactly once; return the reply.

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
            # After noise the device may hold part of a frame, which the new frame would end.
            self._send(bytes([FLAG] * (attempt > 0)) + data)
            for reply in self._frames():
                if reply.sequence == self._sequence and reply.code & REPLY:
                    return reply
        raise TimeoutError(f"no answer in {self._tries} tries")

    def _frames(self) -> Iterator[Frame]:
        """Frames received until the line is silent, or has been noisy for too long."""
        received = 0
        while received < _NOISE_BYTES and (data := self._receive()):
            received += len(data)
            yield from self._decoder.feed(data)
