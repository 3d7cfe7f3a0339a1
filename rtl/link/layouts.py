"""Payloads of the streams between the blocks of the host link."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

#: First value of a 9-bit index of body bytes: the header is -3 to -1, the payload from 0 on, so
#: that bit 8 tells the header from what lies in the 256 bytes of a memory.
START = 512 - 3


class LineByte(data.Struct):
    """A byte from the line; ``bad``: a byte before it was damaged or lost."""

    data: 8
    bad: 1


class Header(data.Struct):
    """Header of a frame, in the order of its bytes."""

    kind: 8
    sequence: 8
    length: 8


class PayloadRead(wiring.Signature):
    """Reader's side of a payload memory: ``data`` is the byte of the cycle before's address."""

    def __init__(self):
        super().__init__({"address": Out(8), "data": In(8)})


class PayloadWrite(wiring.Signature):
    """Writer's side of a payload memory."""

    def __init__(self):
        super().__init__({"enable": Out(1), "address": Out(8), "data": Out(8)})
