"""Core events that tests are made of."""

from __future__ import annotations

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams


def load(address: int, size: int = 4, instructions: int = 1, pc: int = 0x40) -> CoreEvent:
    """A load."""
    return CoreEvent(CoreOp.LOAD, address, size, 0, instructions, pc)


def store(address: int, size: int = 4, instructions: int = 1, pc: int = 0x44) -> CoreEvent:
    """A store."""
    return CoreEvent(CoreOp.STORE, address, size, 0, instructions, pc)


def instructions(count: int) -> CoreEvent:
    """Instructions without an access."""
    return CoreEvent(CoreOp.INSTRUCTIONS, instructions=count)


def core_unit(params: SigraceParams, collecting: bool = True) -> CoreUnit:
    """A golden unit of core 1, context 2, which collects."""
    unit = CoreUnit(params, core=1, context=2)
    if collecting:
        unit.step(CoreEvent(CoreOp.COLLECT_ON))
    return unit
