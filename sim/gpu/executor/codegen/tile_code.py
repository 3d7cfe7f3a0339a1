"""Code of ``wmma``: loads, products and stores of tiles by whole warps.

Ref: PTX ISA 9.0, Section 9.7.15.4 (wmma).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.executor.codegen.async_code import WEAK_MODE, AccessMaker
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.codegen.matrix_code import assign_registers, elements_of, together
from racetrap.sim.gpu.executor.machine.access import Access, Generic, Load, Store
from racetrap.sim.gpu.executor.machine.matrices import MatrixProduct
from racetrap.sim.gpu.executor.machine.tiles import Tile, TileLoad, TileStore
from racetrap.sim.gpu.ptx.module import Instruction

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_LARGE = ("m16n16k16", "m32n8k16", "m8n32k16")
#: By type of the factors: the shapes, and the types of the sums.
_FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "f16": (_LARGE, ("f16", "f32")), "bf16": (_LARGE, ("f32",)), "s8": (_LARGE, ("s32",)),
    "u8": (_LARGE, ("s32",)), "tf32": (("m16n16k8",), ("f32",)), "f64": (("m8n8k4",), ("f64",)),
}  # fmt: skip
_BYTES = {"f16": 2, "bf16": 2, "s8": 1, "u8": 1, "tf32": 4, "f32": 4, "s32": 4, "f64": 8}
_SPACES = ("global", "shared")
_LAYOUTS = ("row", "col")


class _Form(NamedTuple):
    """Modifiers of an instruction by what they say."""

    shape: str
    layouts: list[str]
    types: list[str]
    space: str
    others: set[str]

    def tile(self, role: str, element: str, layout: str) -> Tile:
        """Tile of a role, of a type and layout."""
        match = _SHAPE.match(self.shape)
        assert match is not None
        rows, columns, inner = map(int, match.groups())
        dtype = np.dtype(f"u{_BYTES[element]}")
        return Tile(role, (rows, columns, inner), element, dtype, layout)


def _form(instruction: Instruction) -> _Form:
    names = [name.removesuffix("::cta") for name in instruction.modifiers[1:]]
    shapes = [name for name in names if _SHAPE.match(name)]
    layouts = [name for name in names if name in _LAYOUTS]
    types = [name for name in names if name in _BYTES]
    spaces = [name for name in names if name in _SPACES]
    others = set(names) - {*shapes, *layouts, *types, *spaces, "sync", "aligned"}
    if len(shapes) != 1 or len(spaces) > 1:
        raise UnknownInstruction.named(instruction)
    return _Form(shapes[0], layouts, types, (spaces or ["generic"])[0], others)


def _takes(form: _Form, role: str, element: str) -> bool:
    """Whether a tile of a role may have a type and shape."""
    return any(
        form.shape in shapes and (element == factor if role in ("a", "b") else element in sums)
        for factor, (shapes, sums) in _FORMS.items()
    )


def _access(e: Emitter, flow: Flow, instruction: Instruction, is_load: bool) -> Lines:
    """``wmma.load`` and ``wmma.store``."""
    form, (role,) = _form(instruction), [n for n in instruction.modifiers if n in "abcd"] or ("",)
    address, registers, *leading = instruction.operands
    if is_load:
        address, registers = registers, address
    roles = ("a", "b", "c") if is_load else ("d",)
    known = role in roles and len(form.layouts) == len(form.types) == 1 and form.others == {role}
    if not known or not _takes(form, role, form.types[0]):
        raise UnknownInstruction.named(instruction)
    tile = form.tile(role, form.types[0], form.layouts[0])
    rows = elements_of(registers)
    if len(rows) != tile.registers:
        raise UnknownInstruction.named(instruction)
    base, offset = e.base(address, form.space)
    mode = WEAK_MODE._replace(elements=tile.units, type=SCALARS[f"b{8 * tile.unit.itemsize}"])
    # Neither waits for values of a weak memory.
    plain = replace(instruction, operands=(address,) * 2)
    accesses, kind = AccessMaker(e, flow, plain), Load if is_load else Store

    def make(space: str) -> Access:
        return accesses.make(kind, mode._replace(space=space), offset)

    access = Generic(make) if form.space == "generic" else make(form.space)
    word = np.dtype(f"u{max(4, _BYTES[form.types[0]])}")
    step_type = np.dtype("u4")
    step = e.source(leading[0], step_type) if leading else e.constant(tile.leading, step_type)
    key = ("access", instruction.index)
    if is_load:
        name = e.bind(TileLoad(tile, access), key)
        call = f"v = {name}(w, {base}, {step})"
        return [*together(instruction), call, *assign_registers(e, rows, word)]
    name = e.bind(TileStore(tile, access), key)
    sources = ", ".join(e.source(row, word) for row in rows)
    return [*together(instruction), f"{name}(w, {base}, {step}, {sources})"]


def _product(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``wmma.mma``."""
    form = _form(instruction)
    # Of f16 only the types of the sums are named.
    types = form.types
    if len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    known = len(types) == 4 and len(form.layouts) == 2 and form.others <= {"satfinite", "rn"}
    roles = ("d", "a", "b", "c")
    if not known or not all(_takes(form, *each) for each in zip(roles, types, strict=True)):
        raise UnknownInstruction.named(instruction)
    layouts = ["row", *form.layouts, "row"]
    tiles = [form.tile(*each) for each in zip(roles, types, layouts, strict=True)]
    operands = [elements_of(operand) for operand in instruction.operands]
    if [len(rows) for rows in operands] != [tile.registers for tile in tiles]:
        raise UnknownInstruction.named(instruction)
    _, left, right, added = (tile.fragment for tile in tiles)
    clamps = "satfinite" in form.others and types[0] == "s32"
    product = MatrixProduct((left, right, added), *types, clamps=clamps)
    word = np.dtype("u8" if types[0] == "f64" else "u4")
    sources = ", ".join(e.source(row, word) for rows in operands[1:] for row in rows)
    name = e.bind(product, ("product", instruction.index))
    call = f"v = {name}({sources})"
    return [*together(instruction), call, *assign_registers(e, operands[0], word)]


def _tile(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``wmma``."""
    what = instruction.modifiers[0]
    if what == "mma":
        return _product(e, flow, instruction)
    if what in ("load", "store"):
        return _access(e, flow, instruction, what == "load")
    raise UnknownInstruction.named(instruction)


TILE_HANDLERS: dict[str, Handler] = {"wmma": _tile}
