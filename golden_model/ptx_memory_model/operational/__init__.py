"""Operational memory models: what a run shows, one choice after the other.

``views`` is PTX's model; ``write_buffers`` the paper's; both answer as ``memory.Memory`` asks.
The axioms beside them (``axioms``, ``candidates``) say what is allowed at all.  ``machine`` and
``exploration`` run litmus tests on them; they are imported by those who do.
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
