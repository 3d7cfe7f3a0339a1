"""Memories that are meant for block RAM."""

from __future__ import annotations

from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory

#: Depth from which block RAM is requested; a LUT holds 16 to 64 words of LUT RAM.
_WORDS = 32


def block_memory(shape: ShapeLike, depth: int) -> Memory:
    """A memory for wide words, in block RAM unless it is so shallow that tools choose better.

    A word read at the clock edge of a write to it must not be used: its value is undefined, since
    the logic that would define it is as large as the memory.

    Parameters
    ----------
    shape : ShapeLike
        Shape of a word.
    depth : int
        Words; all are 0 at first.
    """
    attributes = {"ram_style": "block", "no_rw_check": 1} if depth >= _WORDS else {}
    return Memory(shape=shape, depth=depth, init=[], attrs=attributes)
