"""Payloads of the streams between the blocks of the host link."""

from __future__ import annotations

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["LINE_LAYOUT", "START", "PayloadRead", "PayloadWrite", "header_layout"]

#: A byte from the line; ``bad``: a byte before it was damaged or lost.
LINE_LAYOUT = data.StructLayout({"data": 8, "bad": 1})

#: First value of a 9-bit index of body bytes: the header is -3 to -1, the payload from 0 on, so
#: that bit 8 tells the header from what lies in the 256 bytes of a memory.
START = 512 - 3


def header_layout() -> data.StructLayout:
    """The header of a frame, as its bytes come."""
    return data.StructLayout({"kind": 8, "sequence": 8, "length": 8})


class PayloadRead(wiring.Signature):
    """Reader's side of a payload memory: ``data`` is the byte of the cycle before's address."""

    def __init__(self):
        super().__init__({"address": Out(8), "data": In(8)})


class PayloadWrite(wiring.Signature):
    """Writer's side of a payload memory."""

    def __init__(self):
        super().__init__({"enable": Out(1), "address": Out(8), "data": Out(8)})
