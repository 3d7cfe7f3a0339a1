"""Operational memory models: a run is a sequence of choices.

``views`` is PTX's model; ``write_buffers`` the Bugaroo paper's; both implement ``memory.Memory``.
The axioms (``axioms``, ``candidates``) define what is allowed.  ``machine`` and ``exploration`` run
litmus tests on the models; their users import them directly.
"""

from racetrap.golden_model.ptx_memory_model.operational.choices import (
    Asked,
    Choices,
    Deviation,
    InOrder,
    Kind,
    RandomChoices,
    ReplayedChoices,
    Story,
    Turn,
)
from racetrap.golden_model.ptx_memory_model.operational.execution import Execution, Operation
from racetrap.golden_model.ptx_memory_model.operational.memory import (
    WEAK,
    ByteMemory,
    Memory,
    Pending,
    Sequential,
    Strength,
)
from racetrap.golden_model.ptx_memory_model.operational.views import Views
from racetrap.golden_model.ptx_memory_model.operational.write_buffers import (
    BUFFER_ENTRIES,
    WriteBuffers,
)

__all__ = [
    "BUFFER_ENTRIES", "WEAK", "Asked", "ByteMemory", "Choices", "Deviation", "Execution", "InOrder",
    "Kind", "Memory", "Operation", "Pending", "RandomChoices", "ReplayedChoices", "Sequential",
    "Story", "Strength", "Turn", "Views", "WriteBuffers",
]  # fmt: skip
