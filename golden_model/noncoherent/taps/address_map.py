"""Address map: what an access to an address is, and which memory it reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from racetrap.golden_model.noncoherent.taps.params import Attribute, TapParams


class Window(NamedTuple):
    """Uncached bytes from ``first`` up to the one before ``end``; none if these are equal."""

    first: int = 0
    end: int = 0


class Place(NamedTuple):
    """Attribute of an address, and its address in memory."""

    attribute: Attribute
    address: int


def place_of(params: TapParams, address: int, windows: Sequence[Window] = ()) -> Place:
    """Place of an address.

    Parameters
    ----------
    params : TapParams
        The map.
    address : int
        As the CPU gives it.
    windows : sequence of Window
        Memory that software has made uncached.
    """
    for region in params.regions:
        if address & -region.size == region.base:
            offset = address - region.base
            memory = address if region.target is None else region.target + offset
            attribute = region.attribute
            is_inside = any(window.first <= memory < window.end for window in windows)
            if attribute is Attribute.CACHED and is_inside:
                attribute = Attribute.UNCACHED
            return Place(attribute, memory)
    return Place(Attribute.IGNORED, address)
