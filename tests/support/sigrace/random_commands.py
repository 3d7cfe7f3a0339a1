"""Random commands, and a stand-in for the hardware that is the golden model itself."""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command, Remap
from racetrap.golden_model.sigrace.packets import CoreStep, RdmStep, Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm


class Seen:
    """What a monitor of the hardware sees, by port.

    Attributes
    ----------
    core_steps, traps : list of tuple
        Core, context and what was seen.
    rdm_steps : list of RdmStep
        Steps of the RDM.
    rdm : Rdm
        The RDM at the end.
    """

    def __init__(self, params: SigraceParams) -> None:
        self.core_steps: list[tuple[int, int, CoreStep]] = []
        self.traps: list[tuple[int, int, Trap]] = []
        self.rdm_steps: list[RdmStep] = []
        self.rdm = Rdm(params)


def play(params: SigraceParams, commands: Iterable[Command]) -> Seen:
    """What a system without any delay shows for commands."""
    seen = Seen(params)
    units = {
        (core, context): CoreUnit(params, core, context)
        for core in range(params.cores)
        for context in range(params.contexts)
    }
    for command in commands:
        place = command.core, command.context
        if isinstance(command, Remap):
            seen.rdm.map(*command)
            continue
        unit = units[place]
        seen.core_steps.append((*place, unit.step(command.event)))
        seen.traps += [(*place, trap) for trap in unit.traps]
        for block in unit.blocks:
            seen.rdm_steps += seen.rdm.summary(block.summary(params))
        unit.blocks.clear()
        unit.traps.clear()
    return seen
