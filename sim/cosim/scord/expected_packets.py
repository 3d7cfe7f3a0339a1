"""Expected packets of a bank from one SM: accesses in order, and fences.

A fence takes another path than accesses and delays only its own warp, so that later accesses of
other warps may overtake it.  It must follow all accesses that the SM sent before it, and an access
must follow the fences of its warp, and those of its block before the block's last barrier.

Ref: ScoRD (ISCA'20) Section IV-A.
"""

from __future__ import annotations

from collections import deque
from typing import NoReturn

from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch, difference

_FENCE = int(PacketKind.FENCE)
_WORDS = ("packet", "fence")


class ExpectedPackets:
    """Accesses and fences of one SM at one bank; prediction and observation may each come first.

    Parameters
    ----------
    place : str
        Bank and SM, for messages.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        # One each for accesses and fences.  Expected packets have the number of the other kind that
        # must precede them, early ones the number that did.
        self._due: tuple[deque[tuple[Packet, int]], ...] = (deque(), deque())
        self._early: tuple[deque[tuple[Packet, int]], ...] = (deque(), deque())
        self._seen, self._agreed = [0, 0], [0, 0]
        self._accesses = 0

    def __len__(self) -> int:
        """Packets still to come."""
        return len(self._due[0]) + len(self._due[1])

    def predict(self, packet: Packet, fences: int) -> None:
        """Add the golden model's next packet; an access follows ``fences`` fences of the SM."""
        is_fence = packet[0] == _FENCE
        behind = self._accesses if is_fence else fences
        self._accesses += not is_fence
        if self._early[is_fence]:
            self._compare(*self._early[is_fence].popleft(), packet, behind)
        else:
            self._due[is_fence].append((packet, behind))

    def see(self, packet: Packet) -> None:
        """The hardware gives the next."""
        is_fence = packet[0] == _FENCE
        others = self._seen[not is_fence]
        if self._due[is_fence]:
            self._compare(packet, others, *self._due[is_fence].popleft())
        else:
            self._early[is_fence].append((packet, others))
        self._seen[is_fence] += 1

    def finish(self) -> None:
        """Demand that both have given as much."""
        for queues, word in ((self._due, "missing"), (self._early, "too many")):
            left = [packet for queue in queues for packet, _ in queue]
            if left:
                raise Mismatch(f"{self._place}: {len(left)} packets {word}, next {left[0]}")

    def _compare(self, seen: Packet, others: int, golden: Packet, behind: int) -> None:
        is_fence = golden[0] == _FENCE
        if seen != golden:
            self._fail(is_fence, difference(_WORDS[is_fence], seen, golden))
        if others < behind:
            self._fail(is_fence, f"must come behind {behind} {_WORDS[not is_fence]}s, not {others}")
        self._agreed[is_fence] += 1

    def _fail(self, is_fence: bool, what: str) -> NoReturn:
        word = _WORDS[is_fence]
        raise Mismatch(f"{self._place}, {word} {self._agreed[is_fence]}: {what}")
