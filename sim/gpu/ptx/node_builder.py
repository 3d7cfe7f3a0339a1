"""Builder of syntax nodes: one method for each rule of the grammar.

Ref: PTX ISA 9.0, Sections 4.5 (constants), 5.4 (variables) and 11 (directives).
"""

from __future__ import annotations

import struct
from typing import Any

from lark import Token, Transformer, v_args

from racetrap.sim.gpu.ptx import nodes
from racetrap.sim.gpu.ptx.module import Immediate

#: Digits of the widest constant, in binary with its prefix.
_MOST_DIGITS = 66


class ConstantError(ValueError):
    """A constant at a token that has no meaning."""

    def __init__(self, token: Token, sentence: str):
        super().__init__(sentence)
        self.line = token.line or 0


def _integer(token: Token) -> int:
    text = token.rstrip("U")
    if len(text) > _MOST_DIGITS:
        raise ConstantError(token, f"Integer of {len(text)} digits does not fit in 64 bits")
    if text[:2].lower() in ("0x", "0b"):
        return int(text, 0)
    return int(text, 8 if text[0] == "0" else 10)


def _float(token: Token) -> float:
    kind = token[:2].lower()
    if kind == "0f":
        return struct.unpack(">f", bytes.fromhex(token[2:]))[0]
    if kind == "0d":
        return struct.unpack(">d", bytes.fromhex(token[2:]))[0]
    return float(token)


def _tokens(children: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    return tuple(c for c in children if isinstance(c, Token) and c.type == kind)


@v_args(inline=True)
class NodeBuilder(Transformer):
    """Callbacks of the grammar; a rule that is not here has no meaning for us."""

    # Constants and operands
    def integer(self, *tokens: Token) -> Immediate:
        value = _integer(tokens[-1])
        return Immediate(-value if len(tokens) > 1 else value)

    def float(self, *tokens: Token) -> Immediate:
        value = _float(tokens[-1])
        return Immediate(-value if len(tokens) > 1 else value)

    def name(self, token: Token) -> Token:
        return token

    def negated(self, name: Token) -> nodes.NegatedNode:
        return nodes.NegatedNode(name)

    def pair(self, first: Token, second: Token) -> nodes.VectorNode:
        return nodes.VectorNode((first, second))

    def vector(self, *elements: Any) -> nodes.VectorNode:
        return nodes.VectorNode(elements)

    def call_list(self, *elements: Any) -> nodes.ListNode:
        return nodes.ListNode(elements)

    def address(self, base: Token, *offset: Any) -> nodes.AddressNode:
        if not offset:
            return nodes.AddressNode(base, 0)
        if isinstance(offset[0], Immediate):
            return nodes.AddressNode(base, int(offset[0].value))
        return nodes.AddressNode(base, -_integer(offset[1]))

    def absolute_address(self, offset: Token) -> nodes.AddressNode:
        return nodes.AddressNode(None, _integer(offset))

    def address_of(self, name: Token, offset: Immediate | None = None) -> nodes.SymbolNode:
        return nodes.SymbolNode(name, int(offset.value) if offset else 0)

    def masked(self, mask: Token, value: Any) -> nodes.SymbolNode:
        if not isinstance(value, nodes.SymbolNode):
            raise ConstantError(mask, f"Mask {mask} is applied to a number, not to an address")
        return value._replace(mask=_integer(mask))

    # Statements
    def guard(self, *tokens: Token) -> Token | nodes.NegatedNode:
        return nodes.NegatedNode(tokens[1]) if len(tokens) > 1 else tokens[0]

    def instruction(self, *parts: Any) -> nodes.InstructionNode:
        first = parts[0]
        guarded = not (isinstance(first, Token) and first.type == "OPCODE")
        opcode, *operands = parts[guarded:]
        return nodes.InstructionNode(opcode, tuple(operands), first if guarded else None)

    def label(self, name: Token) -> nodes.LabelNode:
        return nodes.LabelNode(name)

    def branch_targets(self, *names: Token) -> nodes.BranchTargetsNode:
        return nodes.BranchTargetsNode(names)

    def call_prototype(self, *_: Any) -> nodes.PrototypeNode:
        return nodes.PrototypeNode()

    def inlined(self, *numbers: Token) -> tuple[int, ...]:
        return tuple(map(_integer, numbers))

    def location(self, file: Token, line: Token, column: Token, *rest: Any) -> nodes.LocationNode:
        place = (_integer(file), _integer(line), _integer(column))
        if not rest:
            return nodes.LocationNode(place, None, ("", 0))
        label, *offset, inlined_at = rest
        return nodes.LocationNode(place, inlined_at, (str(label), sum(map(_integer, offset))))

    def registers(self, kind: Token, *ranges: Any) -> nodes.RegistersNode:
        return nodes.RegistersNode(kind[1:], ranges)

    def register_range(self, name: Token, count: Token | None = None) -> Any:
        return name, None if count is None else _integer(count)

    def body(self, *statements: Any) -> nodes.BodyNode:
        return nodes.BodyNode(statements)

    # Variables
    def alignment(self, value: Token) -> tuple[str, Any]:
        return "align", _integer(value)

    def element_type(self, kind: Token) -> tuple[str, Any]:
        return "type", kind[1:]

    def pointer(self, *_: Token) -> tuple[str, Any]:
        return "pointer", True

    def attribute(self, name: Token) -> tuple[str, Any]:
        return "attribute", name

    def dimension(self, length: Token | None = None) -> tuple[int | None]:
        # In a tuple, so that a length is not taken for an initial value.
        return (None if length is None else _integer(length),)

    def aggregate(self, *values: Any) -> list[Any]:
        return list(values)

    def declarator(self, name: Token, *rest: Any) -> nodes.DeclaratorNode:
        lengths = tuple(r[0] for r in rest if type(r) is tuple)
        initial = next((r for r in rest if type(r) is not tuple), None)
        return nodes.DeclaratorNode(name, lengths, initial)

    def declaration(self, space: Token, *rest: Any) -> nodes.DeclarationNode:
        qualifiers = tuple(r for r in rest if type(r) is tuple)
        declarators = tuple(r for r in rest if isinstance(r, nodes.DeclaratorNode))
        return nodes.DeclarationNode(space[1:], qualifiers, declarators)

    parameter = declaration

    def variable(self, *parts: Any) -> nodes.DeclarationNode:
        return parts[-1]._replace(linkage=tuple(word[1:] for word in parts[:-1]))

    # Functions
    def parameters(self, *declarations: Any) -> list[Any]:
        return list(declarations)

    def limit(self, name: Token, *values: Token) -> Any:
        return name[1:], tuple(map(_integer, values))

    def noreturn(self) -> Any:
        return "noreturn", ()

    def kernel(self, *parts: Any) -> nodes.FunctionNode:
        return self._function(parts, is_kernel=True)

    def device_function(self, *parts: Any) -> nodes.FunctionNode:
        return self._function(parts, is_kernel=False)

    kernel_declaration, function_declaration = kernel, device_function

    @staticmethod
    def _function(parts: tuple[Any, ...], is_kernel: bool) -> nodes.FunctionNode:
        (name,) = _tokens(parts, "NAME")
        at = parts.index(name)
        lists = {n < at: tuple(p) for n, p in enumerate(parts) if type(p) is list}
        limits = tuple(p for p in parts if type(p) is tuple)
        body = parts[-1] if isinstance(parts[-1], nodes.BodyNode) else None
        return nodes.FunctionNode(
            is_kernel, name, lists.get(True, ()), lists.get(False, ()), limits, body
        )

    # The module
    def version(self, value: Token) -> nodes.HeaderNode:
        return nodes.HeaderNode("version", value)

    def target(self, *values: Token) -> nodes.HeaderNode:
        return nodes.HeaderNode("target", values[0])

    def address_size(self, value: Token) -> nodes.HeaderNode:
        return nodes.HeaderNode("address_size", value)

    def file(self, number: Token, path: Token, *_: Token) -> nodes.FileNode:
        return nodes.FileNode(_integer(number), path[1:-1])

    def pragma(self, *_: Token) -> None:
        return None

    def alias(self, *_: Token) -> None:
        return None

    def module(self, *items: Any) -> list[Any]:
        return [item for item in items if item is not None]
