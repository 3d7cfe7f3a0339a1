"""Operands of an instruction from their syntax.

Ref: PTX ISA 9.0, Sections 6 (operands), 9.7.12 (branches) and 9.7.13 (calls).
"""

from __future__ import annotations

from lark import Token

from racetrap.sim.gpu.ptx.module import (
    Address,
    CallTarget,
    Immediate,
    Negated,
    Operand,
    Register,
    Symbol,
    Target,
    Vector,
)
from racetrap.sim.gpu.ptx.nodes import (
    AddressNode,
    InstructionNode,
    ListNode,
    NegatedNode,
    OperandNode,
    SymbolNode,
    VectorNode,
)
from racetrap.sim.gpu.ptx.scopes import Scope


def _value(token: Token, scope: Scope) -> Operand:
    found = scope.operand(token)
    return Symbol(found.name) if isinstance(found, CallTarget) else found


def _base(token: Token, scope: Scope) -> Register | Symbol:
    base = _value(token, scope)
    if not isinstance(base, Register | Symbol):
        raise scope.fail(token, f"Address must be of a register or a variable, not {token}")
    return base


def _operand(node: OperandNode, scope: Scope) -> Operand:
    match node:
        case Immediate():
            return node
        case NegatedNode():
            return Negated(scope.predicate(node.name))
        case AddressNode(base=None):
            return Address(None, node.offset)
        case AddressNode():
            assert node.base is not None
            return Address(_base(node.base, scope), node.offset)
        case SymbolNode():
            symbol = _base(node.name, scope)
            return Address(symbol, node.offset) if node.offset else symbol
        case VectorNode() | ListNode():
            return Vector(tuple(_operand(element, scope) for element in node.elements))
        case _:
            return _value(node, scope)


def _target(token: Token, scope: Scope) -> Target:
    return Target(str(token), scope.label(token))


def _branch(node: InstructionNode, scope: Scope) -> tuple[Operand, ...]:
    if len(node.operands) != 1 or not isinstance(node.operands[0], Token):
        raise scope.fail(node.opcode, f"Operand of {node.opcode} must be one label")
    return (_target(node.operands[0], scope),)


def _indexed_branch(node: InstructionNode, scope: Scope) -> tuple[Operand, ...]:
    if len(node.operands) != 2 or not isinstance(node.operands[1], Token):
        raise scope.fail(node.opcode, f"Operands of {node.opcode} must be an index and a label")
    targets = scope.table(node.operands[1])
    return (
        _operand(node.operands[0], scope),
        Vector(tuple(_target(target, scope) for target in targets)),
    )


def _call(node: InstructionNode, scope: Scope) -> tuple[Operand, ...]:
    """Returned values, function and arguments; a prototype at the end adds nothing."""
    rest = list(node.operands)
    empty = ListNode(())
    returned = rest.pop(0) if rest and isinstance(rest[0], ListNode) else empty
    name = rest.pop(0) if rest else None
    arguments = rest.pop(0) if rest and isinstance(rest[0], ListNode) else empty
    if not isinstance(name, Token) or len(rest) > 1:
        raise scope.fail(
            node.opcode, f"Operands of {node.opcode} must be (results), function, (arguments)"
        )
    function = scope.operand(name)
    if not isinstance(function, CallTarget | Register):
        raise scope.fail(name, f"Called function must be a function or a register, not {name}")
    return (_operand(returned, scope), function, _operand(arguments, scope))


def resolve_operands(node: InstructionNode, scope: Scope) -> tuple[Operand, ...]:
    """Operands of ``node`` in the executor's form.

    Raises
    ------
    PtxError
        If a name is not declared, or a branch or call is malformed.
    """
    opcode = node.opcode.partition(".")[0]
    if opcode == "bra":
        return _branch(node, scope)
    if opcode == "brx":
        return _indexed_branch(node, scope)
    if opcode == "call":
        return _call(node, scope)
    for operand in node.operands:
        if isinstance(operand, ListNode):
            raise scope.fail(
                node.opcode, f"Operand in parentheses belongs to call, not to {node.opcode}"
            )
    return tuple(_operand(operand, scope) for operand in node.operands)
