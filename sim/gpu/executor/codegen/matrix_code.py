"""Code of matrix products of warps.

Ref: PTX ISA 9.0, Section 9.7.15.5 (mma, ldmatrix).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from racetrap.golden_model.events import ALL_LANES
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.executor.codegen.async_code import WEAK_MODE, AccessMaker
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.access import Load
from racetrap.sim.gpu.executor.machine.matrices import MatrixProduct, distribute, mma_fragments
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import Instruction, Operand, Vector

_SHAPE = re.compile(r"m(\d+)n8k(\d+)$")
#: Inner sizes that each element type has.
_INNER = {
    "f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8), "s8": (16, 32), "u8": (16, 32), "f64": (4,),
}  # fmt: skip
_WORDS = 4


def elements_of(operand: Operand) -> tuple[Operand, ...]:
    """Registers of a fragment."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


def together(instruction: Instruction) -> Lines:
    """Code that waits until all lanes are there."""
    if instruction.guard is not None:
        raise UnknownInstruction(f"Instruction {instruction.name} cannot have a guard")
    pc = event_pc(instruction.index)
    return [
        f"t = w.warp_sync((({ALL_LANES}, w.mask),), {pc}, True)",
        "if t is not None: return t",
    ]


def assign_registers(e: Emitter, targets: Iterable[Operand], word: np.dtype) -> Lines:
    """Code that puts the rows of the list ``v`` into registers."""
    return [
        line for number, operand in enumerate(targets)
        for line in e.assign(e.target(operand, word), f"v[{number}]", e.active_lanes)
    ]  # fmt: skip


def _product(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``mma.sync``."""
    names = [name for name in instruction.modifiers if name not in ("sync", "aligned")]
    shape, *rest = names
    clamps = "satfinite" in rest
    types = [name for name in rest if name not in ("row", "col", "satfinite")]
    size = _SHAPE.match(shape)
    if (
        size is None
        or len(types) != 4
        or [n for n in rest if n in ("row", "col")] != ["row", "col"]
    ):
        raise UnknownInstruction.named(instruction)
    inner, left = int(size[2]), types[1]
    if inner not in _INNER.get(left, ()) or int(size[1]) != (8 if left == "f64" else 16):
        raise UnknownInstruction.named(instruction)
    product = MatrixProduct(mma_fragments(inner, left), *types, clamps=clamps)
    operands = [elements_of(operand) for operand in instruction.operands]
    counts = product.registers
    if [len(each) for each in operands] != [counts[3], *counts[:3]]:
        raise UnknownInstruction.named(instruction)
    word = np.dtype("u8" if left == "f64" else "u4")
    rows = ", ".join(e.source(each, word) for group in operands[1:] for each in group)
    name = e.bind(product, ("product", instruction.index))
    lines = [*together(instruction), f"v = {name}({rows})"]
    return [*lines, *assign_registers(e, operands[0], word)]


def _load_matrices(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``ldmatrix``: some lanes read 16 bytes each, which all lanes share."""
    names = {name.removesuffix("::cta") for name in instruction.modifiers}
    counts = [int(name[1:]) for name in names if name in ("x1", "x2", "x4")]
    if not {"m8n8", "b16", "shared"} <= names or len(counts) != 1:
        raise UnknownInstruction.named(instruction)
    (count,) = counts
    targets = elements_of(instruction.operands[0])
    if len(targets) != count:
        raise UnknownInstruction.named(instruction)
    base, offset = e.base(instruction.operands[1], "shared")
    mode = WEAK_MODE._replace(space="shared", elements=_WORDS, type=SCALARS["b32"])
    plain = replace(instruction, operands=(instruction.operands[1],) * 2)
    load = e.bind(
        AccessMaker(e, flow, plain).make(Load, mode, offset), ("access", instruction.index)
    )
    word, lanes = np.dtype("u4"), (1 << 8 * count) - 1
    rows = [f"q{number}" for number in range(_WORDS)]
    zeros = e.bind(np.zeros(32, word), ("zeros", "u4"))
    lines = [
        *together(instruction),
        *(f"{row} = {zeros}.copy()" for row in rows),
        f"{load}(w, w.mask & {lanes}, {base}, {', '.join(rows)})",
        f"v = {e.bind(distribute)}(({', '.join(rows)}), {count}, {'trans' in names})",
    ]
    return [*lines, *assign_registers(e, targets, word)]


MATRIX_HANDLERS: dict[str, Handler] = {"mma": _product, "ldmatrix": _load_matrices}
