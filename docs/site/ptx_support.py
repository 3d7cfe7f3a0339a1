"""Instructions of PTX that kernels may have, made from the tables of the executor.

Ref: PTX ISA 9.0, Section 9.7.
"""

from __future__ import annotations

from docs.site.markdown import table
from racetrap.sim.gpu.executor.arithmetic.instruction_set import ARITHMETIC_KINDS
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.executor.codegen.async_code import ASYNC_HANDLERS
from racetrap.sim.gpu.executor.codegen.cluster_code import CLUSTER_HANDLERS
from racetrap.sim.gpu.executor.codegen.collective_code import COLLECTIVE_HANDLERS
from racetrap.sim.gpu.executor.codegen.control_code import CONTROL_HANDLERS
from racetrap.sim.gpu.executor.codegen.matrix_code import MATRIX_HANDLERS
from racetrap.sim.gpu.executor.codegen.memory_code import MEMORY_HANDLERS
from racetrap.sim.gpu.executor.codegen.tile_code import TILE_HANDLERS

_KINDS = {"i": "integers and bits", "f": "floating point", "p": "predicates"}
_GROUPS = {
    "memory": MEMORY_HANDLERS,
    "control flow": CONTROL_HANDLERS,
    "warps, blocks and clusters": {**COLLECTIVE_HANDLERS, **CLUSTER_HANDLERS},
    "asynchronous copies": ASYNC_HANDLERS,
    "matrix products": {**MATRIX_HANDLERS, **TILE_HANDLERS},
}


def instructions_table() -> str:
    """Every opcode that runs, by what it does."""
    rows = [
        ("arithmetic on " + name, ", ".join(
            f"`{opcode}`" for opcode, kinds in sorted(ARITHMETIC_KINDS.items()) if kind in kinds
        ))
        for kind, name in _KINDS.items()
    ]  # fmt: skip
    rows += [(name, ", ".join(f"`{each}`" for each in sorted(of))) for name, of in _GROUPS.items()]
    return table(("kind", "instructions"), rows)


def types_table() -> str:
    """Every fundamental type that instructions may have."""
    rows = (
        (name, ", ".join(f"`.{each.name}`" for each in SCALARS.values() if each.kind == kind))
        for kind, name in _KINDS.items()
    )
    return table(("kind", "types"), rows)
