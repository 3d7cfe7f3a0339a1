"""The detectors that can be generated."""

from __future__ import annotations

from racetrap.generators.noncoherent import NONCOHERENT
from racetrap.generators.scord import SCORD
from racetrap.generators.sigrace import SIGRACE
from racetrap.generators.system import Params, System

__all__ = ["SYSTEMS", "system_named", "system_of"]

#: Every detector.
SYSTEMS = (SCORD, SIGRACE, NONCOHERENT)


def system_of(params: Params) -> System:
    """The detector that parameters belong to."""
    return next(system for system in SYSTEMS if isinstance(params, system.params))


def system_named(name: str) -> System:
    """The detector called ``name``.

    Raises
    ------
    ValueError
        If there is none.
    """
    for system in SYSTEMS:
        if system.name == name:
            return system
    raise ValueError(
        f"System must be one of {', '.join(system.name for system in SYSTEMS)}, not {name}"
    )
