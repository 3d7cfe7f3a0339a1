"""Memories that are meant for block RAM."""

from __future__ import annotations

from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory

#: Words from which on block RAM is asked for; LUT RAM has 16 to 64 for each table.
_WORDS = 32


def block_memory(shape: ShapeLike, depth: int) -> Memory:
    """A memory for wide words, in block RAM unless it is so shallow that tools choose better.

    What is read at the edge of a write of the same word must not be used: a tool may make it
    anything, since the logic that would settle it is as large as the memory.

    Parameters
    ----------
    shape : ShapeLike
        Shape of a word.
    depth : int
        Words; all are 0 at first.
    """
    attributes = {"ram_style": "block", "no_rw_check": 1} if depth >= _WORDS else {}
    return Memory(shape=shape, depth=depth, init=[], attrs=attributes)
