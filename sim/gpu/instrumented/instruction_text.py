"""Text of an instruction: where it stands, its operands as words, and code made from them.

Ref: PTX ISA 9.0, Sections 4 (syntax) and 6 (operands).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lark import Token

from racetrap.sim.gpu.instrumented import statements
from racetrap.sim.gpu.instrumented.sites import LogSite, SiteKind
from racetrap.sim.gpu.instrumented.statements import Word
from racetrap.sim.gpu.ptx.module import Address, Immediate, Instruction, Operand, Symbol, Vector
from racetrap.sim.gpu.ptx.nodes import (
    AddressNode,
    InstructionNode,
    NegatedNode,
    SymbolNode,
    VectorNode,
)

_NAME_AND_OFFSET = re.compile(r"[\w$]+(\s*\+\s*\w+)?")


def symbols(operands: tuple[Operand, ...]) -> Iterator[str]:
    """Names of variables and functions in operands."""
    for operand in operands:
        match operand:
            case Symbol(name) | Address(base=Symbol(name)):
                yield name
            case Vector(elements=elements):
                yield from symbols(elements)


def place_of(token: Token) -> int:
    """Where a token begins in its text."""
    assert token.start_pos is not None
    return token.start_pos


class Edit(NamedTuple):
    """A part of a text, and what replaces it."""

    start: int
    end: int
    text: str


def with_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """A part of a text, with edits of it that do not overlap."""
    parts, at = [], start
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:end]])


class InstructionText:
    """An instruction in a text.

    Parameters
    ----------
    text : str
        The whole text.
    node : InstructionNode
        Its syntax.
    instruction : Instruction
        The instruction, resolved.
    places : mapping of str to int
        Addresses of the module's variables that are to be numbers in the text.

    Attributes
    ----------
    start, end : int
        Its first character, that of the guard if it has one, and the one behind its semicolon.
    """

    def __init__(
        self, text: str, node: InstructionNode, instruction: Instruction, places: Mapping[str, int]
    ):
        self._text, self._node, self._instruction = text, node, instruction
        self._places = places
        guard = node.guard.name if isinstance(node.guard, NegatedNode) else node.guard
        first = place_of(node.opcode if guard is None else guard)
        self.start = first if guard is None else text.rindex("@", 0, first)
        self.end = text.index(";", place_of(node.opcode)) + 1
        self._guard = guard

    def skip(self, label: str) -> list[str]:
        """Code that goes to a label if the guard does not hold, and knows in
        ``%racetrap_g`` which lanes came there."""
        if self._guard is None:
            return []
        negation = "" if self._instruction.guard_negated else "!"
        active = "activemask.b32 %racetrap_g;"
        return [active, f"@{negation}{self._guard} bra {label};"]

    def words(self) -> list[Word]:
        """Operands with their texts."""
        pairs = zip(self._instruction.operands, self._node.operands, strict=True)
        return [Word(operand, self._word(node)) for operand, node in pairs]

    def _word(self, node: Any) -> str:
        """Text of an operand; none of an address or a vector."""
        match node:
            case Token():
                return str(self._places.get(node, node))
            case SymbolNode(name, offset):
                if name in self._places:
                    return str(self._places[name] + offset)
                return f"{name}+{offset}" if offset else str(name)
            case Immediate(value):
                return str(value)
        return ""

    # Code before the record

    def numbers(self, site: LogSite) -> list[str]:
        """Code for the number of a barrier and of its threads, or for the members of one of a
        warp."""
        if site.kind not in (SiteKind.BARRIER, SiteKind.WARP_BARRIER):
            return []
        words = self.words()
        if "red" in self._instruction.modifiers:
            words = words[1:-1]
        lines = ["mov.u64 %racetrap_v, 0;", "mov.u64 %racetrap_c, 0;"]
        for target, word in zip(("%racetrap_a", "%racetrap_v"), words, strict=False):
            lines += [
                f"mov.b32 %racetrap_h, {word.text};", f"cvt.u64.u32 {target}, %racetrap_h;",
            ]  # fmt: skip
        return lines

    def values(self, site: LogSite) -> list[str]:
        """Code for the address of an access, and for what it stores."""
        mode, words, opcode = site.mode, self.words(), self._instruction.opcode
        assert mode is not None
        number = int(opcode in ("ld", "ldu", "atom"))
        lines = self._address(number)
        if mode.operation == "cas":
            expected, new = words[number + 1 :]
            values = statements.values([new], mode.type)
            return [*lines, *values, *statements.compared(expected, mode.type)]
        stored = words[number + 1 :] if opcode == "st" or mode.operation == "exch" else []
        own = self._node.operands[1] if opcode == "st" else None
        if isinstance(own, VectorNode) and isinstance(stored[0].operand, Vector):
            pairs = zip(stored[0].operand.elements, own.elements, strict=True)
            stored = [Word(each, self._word(node)) for each, node in pairs]
        return [*lines, *statements.values(stored, mode.type)]

    def _address(self, number: int) -> list[str]:
        operand, node = self._instruction.operands[number], self._node.operands[number]
        assert isinstance(operand, Address)
        assert isinstance(node, AddressNode)
        if operand.base is None or node.base is None:
            return statements.address(None, operand.offset)
        return statements.address(Word(operand.base, self._word(node.base)), operand.offset)

    # Variables of the module

    def with_places(self) -> tuple[list[str], str]:
        """The statement with addresses instead of variables, and code that must come before it."""
        before, edits = list[str](), list[Edit]()
        own = {name for name in symbols(self._instruction.operands) if name in self._places}
        for each in _flat(self._node.operands) if own else ():
            match each:
                case AddressNode(base=Token() as name, offset=offset) if name in own:
                    before = [f"mov.u64 %racetrap_a, {self._places[name] + offset};"]
                    at = place_of(name)
                    first, last = self._text.rindex("[", 0, at), self._text.index("]", at) + 1
                    edits.append(Edit(first, last, "[%racetrap_a]"))
                case SymbolNode(name=name, offset=offset) if name in own:
                    whole = _NAME_AND_OFFSET.match(self._text, place_of(name))
                    assert whole is not None
                    edits.append(Edit(*whole.span(), str(self._places[name] + offset)))
                case Token() as name if name in own:
                    at = place_of(name)
                    edits.append(Edit(at, at + len(name), str(self._places[name])))
        return before, with_edits(self._text, edits, self.start, self.end)


def _flat(operands: tuple[Any, ...]) -> Iterator[Any]:
    for operand in operands:
        if isinstance(operand, VectorNode):
            yield from _flat(operand.elements)
        else:
            yield operand
