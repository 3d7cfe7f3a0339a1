"""Streams of bits in flits, least significant bit first, with codes for numbers.

Ref: SigRace (ISCA'09) Section 4.2 (compressed signatures).
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.sigrace.params import FLIT_BITS

_FLIT_MASK = (1 << FLIT_BITS) - 1


class StreamError(ValueError):
    """The bits cannot be decoded as expected."""


class BitWriter:
    """Collects bits."""

    def __init__(self) -> None:
        self._bits = 0
        self._length = 0

    def put(self, value: int, bits: int) -> None:
        """Append ``value``, which takes ``bits`` bits."""
        self._bits |= value << self._length
        self._length += bits

    def put_gamma(self, value: int) -> None:
        """Append a positive number in Elias gamma code.

        N zeros, a one, and the N lower bits of the number, N = floor(log2 value).
        """
        extra = value.bit_length() - 1
        self.put(1 << extra, extra + 1)
        self.put(value - (1 << extra), extra)

    def flits(self) -> tuple[int, ...]:
        """All bits; the last flit is filled with zeros."""
        return tuple(
            self._bits >> offset & _FLIT_MASK for offset in range(0, self._length, FLIT_BITS)
        )


class BitReader:
    """Takes bits from the flits of a message.

    Parameters
    ----------
    flits : sequence of int
        The message.

    Raises
    ------
    StreamError
        From every method, if the message has no more bits.
    """

    def __init__(self, flits: Sequence[int]) -> None:
        self._bits = 0
        for number, flit in enumerate(flits):
            self._bits |= flit << FLIT_BITS * number
        self._flits = len(flits)
        self._position = 0

    def get(self, bits: int) -> int:
        """Take a number of ``bits`` bits."""
        value = self._bits >> self._position & (1 << bits) - 1
        self._position += bits
        if self._position > self._flits * FLIT_BITS:
            raise StreamError("Message ends early")
        return value

    def get_gamma(self, limit: int) -> int:
        """Take a positive number in Elias gamma code with at most ``limit`` extra bits."""
        extra = 0
        while not self.get(1):
            extra += 1
            if extra > limit:
                raise StreamError(f"Number has more than {limit} extra bits")
        return 1 << extra | self.get(extra)

    def finish(self) -> None:
        """Raise if a flit is left over; padding within the last one is ignored."""
        used = -(-self._position // FLIT_BITS)
        if used != self._flits:
            raise StreamError(f"Message must have {used} flits, not {self._flits}")
