"""Random operations on the input of a bus monitor, some of size 0."""

from __future__ import annotations

from random import Random

from racetrap.golden_model.noncoherent.packets import BusOperation, bus_operation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.accelerator.random_operations import random_operations

#: How often an operation on a range has a size of 0.
_EMPTY = 0.05


def random_bus_operations(
    generator: Random, params: NoncoherentParams, count: int, size: int, base: int = 0
) -> list[BusOperation]:
    """Operations on ``size`` bytes from ``base`` on; their numbers are their tags.

    Parameters
    ----------
    generator : Random
        Source of all choices.
    params : NoncoherentParams
        Configuration of the monitor.
    count : int
        Number of operations.
    size : int
        Bytes of memory.
    base : int
        Address of the first of them.
    """
    operations = random_operations(generator, params.memory, count, size)
    played = []
    for number, operation in enumerate(operations):
        if operation.size:
            operation = operation._replace(address=operation.address + base)
        own = bus_operation(params, number, operation)
        played.append(own._replace(size=0) if generator.random() < _EMPTY else own)
    return played
