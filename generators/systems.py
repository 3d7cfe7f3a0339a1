"""The detectors that can be generated: one line each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racetrap.generators.causality import CAUSALITY
from racetrap.generators.hirace import HIRACE
from racetrap.generators.noncoherent import NONCOHERENT
from racetrap.generators.scord import SCORD
from racetrap.generators.sigrace import SIGRACE
from racetrap.generators.system import Params, System
from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.trace import AnyTrace

if TYPE_CHECKING:
    from racetrap.rtl.common.hardware_block import HardwareBlock


#: Every detector.
SYSTEMS: tuple[System[Any], ...] = (
    SCORD,
    SIGRACE,
    NONCOHERENT,
    HIRACE,
    CAUSALITY,
)
#: Their names.
SYSTEM_NAMES = tuple(system.name for system in SYSTEMS)


def system_of(params: Params) -> System[Any]:
    """The detector that parameters belong to."""
    return next(system for system in SYSTEMS if isinstance(params, system.params))


def system_named(name: str) -> System[Any]:
    """The detector called ``name``.

    Raises
    ------
    ValueError
        If there is none.
    """
    for system in SYSTEMS:
        if system.name == name:
            return system
    raise ValueError(unknown_name("system", name, SYSTEM_NAMES))


def check_reads(params: Params, kind: type[AnyTrace]) -> None:
    """Raise ``ValueError`` if parameters are of a detector that does not read such traces."""
    system = system_of(params)
    if not system.reads(kind):
        readers = " or ".join(each.name for each in SYSTEMS if each.reads(kind))
        raise ValueError(
            f"A preset of {system.name} does not read {kind.kind}: take one of {readers}"
        )


def check_system(params: Params, system: str, stimulus: str) -> None:
    """Raise ``ValueError`` if parameters are not of the detector that a stimulus is for."""
    if (own := system_of(params).name) != system:
        raise ValueError(f"A preset of {own} is not for {stimulus}: take one of {system}")


def blocks_of(params: Any) -> list[HardwareBlock]:
    """Blocks of a system, and last the system itself.

    Blocks overlap: a part stands in a row of its own and in that of the block it is part of, so
    rows do not add up.  Trace ports are left out, since a chip has none.
    """
    made: list[HardwareBlock] = (
        system_of(params).own("rtl", "blocks").blocks(replace(params, trace_port=False))
    )
    return made
