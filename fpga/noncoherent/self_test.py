"""What a board with the bus monitor plays to test itself."""

from __future__ import annotations

from random import Random

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import NoncoherentTraceHeader
from racetrap.sim.accelerator.random_operations import random_operations

#: Random operations of a trace, and the lines of memory that they are on.
_OPERATIONS, _LINES = 80, 8


def random_trace(params: NoncoherentParams, seed: int) -> NoncoherentTrace:
    """A trace of random operations, at the start of memory, for a monitor's memory system."""
    size = _LINES * params.line_bytes
    operations = random_operations(Random(seed), params.memory, _OPERATIONS, size)
    return NoncoherentTrace.from_events(NoncoherentTraceHeader(memory=params.memory), operations)
