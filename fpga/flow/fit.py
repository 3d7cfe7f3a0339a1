"""Fit of a design to its device, from the report of place and route."""

from __future__ import annotations

from collections.abc import Mapping


def shortage(utilization: Mapping[str, Mapping[str, int]]) -> str:
    """Resources of which a design needs more than available, as ``9,094 of 7,680 ICESTORM_LC``.

    Parameters
    ----------
    utilization : mapping of str to mapping
        Cells ``used`` and ``available`` by kind, as nextpnr reports them.

    Returns
    -------
    str
        All such kinds; empty if everything fits.
    """
    return ", ".join(
        f"{cells['used']:,} of {cells['available']:,} {kind}"
        for kind, cells in utilization.items()
        if cells["used"] > cells["available"]
    )
