"""Variables from their declarations: size, alignment and contents at the start.

Ref: PTX ISA 9.0, Sections 5.4.2 to 5.4.6 (vectors, arrays, initializers, alignment).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Variable
from racetrap.sim.gpu.ptx.nodes import DeclarationNode, DeclaratorNode, SymbolNode

#: Formats of ``struct`` for floating-point elements.
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
#: Bytes that a variable may have in each space; for those of a thread and a block, as on a GPU.
_MOST_BYTES = {"global": 1 << 30, "const": 1 << 30, "local": 1 << 19, "shared": 1 << 20,
               "param": 1 << 16}  # fmt: skip
#: Bytes of an address in memory.
_ADDRESS_BYTES = 8


class _Contents:
    """Collects initial values of one variable."""

    def __init__(self, kind: str, size: int):
        self.data = bytearray(size)
        self.addresses: list[tuple[int, str, int]] = []
        self._kind = kind

    def put(self, index: int, value: Any) -> None:
        """Store the value of element ``index``."""
        bytes_each = TYPE_BYTES[self._kind]
        at = index * bytes_each
        if isinstance(value, SymbolNode):
            self._put_address(at, value)
        elif self._kind in _FLOATS:
            try:
                struct.pack_into(_FLOATS[self._kind], self.data, at, value.value)
            except OverflowError:
                raise ValueError(
                    f"Initial value of .{self._kind} must be in its range, not {value.value}"
                ) from None
        else:
            if not isinstance(value.value, int):
                raise ValueError(f"Initial value of .{self._kind} must be an integer, "
                                 f"not {value.value}")  # fmt: skip
            wrapped = value.value % (1 << 8 * bytes_each)
            self.data[at : at + bytes_each] = wrapped.to_bytes(bytes_each, "little")

    def _put_address(self, at: int, value: SymbolNode) -> None:
        # An array of bytes names each byte of an address by its mask; the lowest stands for all.
        whole = TYPE_BYTES[self._kind] == _ADDRESS_BYTES and value.mask is None
        if not whole and not (self._kind == "b8" and value.mask is not None):
            raise ValueError(f"Initial value of .{self._kind} must be a number, not an address")
        if (whole or value.mask == 0xFF) and at + _ADDRESS_BYTES <= len(self.data):
            self.addresses.append((at, str(value.name), value.offset))


def _elements(value: Any, lengths: Sequence[int], first: int = 0) -> Iterator[tuple[int, Any]]:
    """Each value given, with the index of its element."""
    if not isinstance(value, list):
        yield first, value
        return
    if not lengths:
        raise ValueError("Initial value is nested deeper than the array has dimensions")
    if len(value) > lengths[0]:
        raise ValueError(
            f"Initial values must be at most {lengths[0]} for the dimension, not {len(value)}"
        )
    stride = prod(lengths[1:])
    for index, inner in enumerate(value):
        yield from _elements(inner, lengths[1:], first + index * stride)


def _lengths(declarator: DeclaratorNode, extern: bool) -> tuple[int, ...]:
    first, *rest = declarator.dimensions or (1,)
    if any(length is None for length in rest):
        raise ValueError("Array dimensions after the first lack a length")
    if first is None:
        if isinstance(declarator.initial, list):
            first = len(declarator.initial)
        elif extern:
            first = 0
        else:
            raise ValueError("Array has neither a length nor initial values")
    return (first, *(length for length in rest if length is not None))


def _variable(node: DeclarationNode, declarator: DeclaratorNode) -> Variable:
    kinds = [value for name, value in node.qualifiers if name == "type"]
    if len(kinds) != 1:
        raise ValueError(f"Variable must have one type, not {len(kinds)}")
    (kind,) = kinds
    aligns = [value for name, value in node.qualifiers if name == "align"]
    # After .ptr an alignment speaks of what the pointer points to.
    if ("pointer", True) in node.qualifiers:
        aligns = []
    align = aligns[0] if aligns else TYPE_BYTES[kind]
    if align < 1 or align & (align - 1):
        raise ValueError(f"Alignment must be a power of two, not {align}")
    extern = "extern" in node.linkage
    lengths = _lengths(declarator, extern)
    size = prod(lengths) * TYPE_BYTES[kind]
    most = _MOST_BYTES[node.space]
    if size > most:
        raise ValueError(
            f"Variable {declarator.name} must have at most {most} bytes in .{node.space}, "
            f"not {size}"
        )
    contents = None
    if declarator.initial is not None:
        if node.space not in ("global", "const"):
            raise ValueError(
                f"Variable with an initial value must be .global or .const, not .{node.space}"
            )
        contents = _Contents(kind, size)
        depth = lengths if declarator.dimensions else ()
        for index, value in _elements(declarator.initial, depth):
            contents.put(index, value)
    return Variable(
        name=str(declarator.name),
        space=node.space,
        type=kind,
        size=size,
        align=align,
        initial=bytes(contents.data) if contents else None,
        addresses=tuple(contents.addresses) if contents else (),
        extern=extern,
    )


def declared_variables(node: DeclarationNode, module: str) -> list[Variable]:
    """Variables that a declaration declares.

    Parameters
    ----------
    node : DeclarationNode
        The declaration.
    module : str
        Name of the PTX file, for messages.

    Raises
    ------
    PtxError
        If the declaration breaks a rule; names the line of the variable.
    """
    variables = []
    for declarator in node.declarators:
        try:
            variables.append(_variable(node, declarator))
        except (ValueError, OverflowError) as error:
            raise PtxError(module, declarator.name.line or 0, str(error)) from None
    return variables
