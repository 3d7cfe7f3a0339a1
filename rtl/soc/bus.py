"""Simple memory bus of the example system: that of PicoRV32."""

from __future__ import annotations

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class MemorySignature(wiring.Signature):
    """Words of memory, one access at a time.

    ``valid``, ``address`` (a multiple of 4), ``wdata`` and ``wstrb`` (a bit a byte; 0: a read) stay
    until the cycle in which ``ready`` is high; ``rdata`` counts in that cycle.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": Out(1), "address": Out(32), "wdata": Out(32), "wstrb": Out(4),
            "ready": In(1), "rdata": In(32),
        })  # fmt: skip
