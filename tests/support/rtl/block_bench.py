"""A bench of a block, which may play a stand-in for its component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Makes the component, or a stand-in, from the component's own arguments.
Make = Callable[..., Any]


@dataclass(frozen=True)
class BlockBench:
    """A bench of a block.

    Parameters
    ----------
    component : callable
        The block's component.
    play : callable
        Given what makes the component or its stand-in, parameters and a seed, plays it beside its
        golden model; raises an error at the first difference.
    seeds : int
        Seeds, from 0 on, that find what any does.
    """

    component: Make
    play: Callable[[Make, Any, int], None]
    seeds: int
