"""Syntax nodes of PTX: the text as it is, names unresolved.

Names are tokens of the grammar, which are strings that know their line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from racetrap.sim.gpu.ptx.module import Immediate


class NegatedNode(NamedTuple):
    """``!%p``."""

    name: Token


class AddressNode(NamedTuple):
    """``[base+offset]``; without base an absolute address."""

    base: Token | None
    offset: int


class SymbolNode(NamedTuple):
    """``symbol+offset`` or ``generic(symbol)`` as a value, of which ``mask`` selects a byte."""

    name: Token
    offset: int
    mask: int | None = None


class VectorNode(NamedTuple):
    """``{a, b}`` or ``p|q``."""

    elements: tuple[Any, ...]


class ListNode(NamedTuple):
    """``(a, b)`` of a call."""

    elements: tuple[Any, ...]


OperandNode = Token | Immediate | NegatedNode | AddressNode | SymbolNode | VectorNode | ListNode


class InstructionNode(NamedTuple):
    """An instruction; ``opcode`` is its whole name."""

    opcode: Token
    operands: tuple[OperandNode, ...]
    guard: Token | NegatedNode | None


class LabelNode(NamedTuple):
    """``name:``."""

    name: Token


class BranchTargetsNode(NamedTuple):
    """``.branchtargets``; the label before it is its name."""

    names: tuple[Token, ...]


class PrototypeNode(NamedTuple):
    """``.callprototype``; the label before it is its name."""


class LocationNode(NamedTuple):
    """``.loc``: file, line and column, the same of where it was inlined, and the name of the
    function that was: a label of a debug section, and bytes from there."""

    place: tuple[int, int, int]
    inlined_at: tuple[int, int, int] | None
    function: tuple[str, int]


class FileNode(NamedTuple):
    """``.file``."""

    number: int
    path: str


class HeaderNode(NamedTuple):
    """``.version``, ``.target`` or ``.address_size``."""

    directive: str
    value: Token


class DeclaratorNode(NamedTuple):
    """Name, length of each dimension (``None``: not given) and initial value."""

    name: Token
    dimensions: tuple[int | None, ...]
    initial: Any


class DeclarationNode(NamedTuple):
    """Variables of one state space and one type."""

    space: str
    qualifiers: tuple[tuple[str, Any], ...]
    declarators: tuple[DeclaratorNode, ...]
    linkage: tuple[str, ...] = ()


class RegistersNode(NamedTuple):
    """Registers of one type: names, and how many of each (``None``: one, without number)."""

    type: str
    ranges: tuple[tuple[Token, int | None], ...]


class BodyNode(NamedTuple):
    """Statements between braces."""

    statements: tuple[Any, ...]


class FunctionNode(NamedTuple):
    """A kernel or a device function; ``body`` is missing if it is only declared."""

    is_kernel: bool
    name: Token
    returns: tuple[DeclarationNode, ...]
    parameters: tuple[DeclarationNode, ...]
    limits: tuple[tuple[str, tuple[int, ...]], ...]
    body: BodyNode | None
