"""Block of a system that is synthesised on its own: a row of a cost table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amaranth.lib import wiring


@dataclass(frozen=True)
class HardwareBlock:
    """A part of a system that is synthesised on its own.

    Parameters
    ----------
    name : str
        Name of the row; a part of another block follows that block.
    component : callable
        Makes a new instance of the block.
    count : int
        Instances in the whole system.
    is_large : bool
        Whether it is a system, or most of one: its placement can take hours, so it is placed only
        if it is named.
    """

    name: str
    component: Callable[[], wiring.Component]
    count: int
    is_large: bool = False
