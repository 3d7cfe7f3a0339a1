"""PTX for tests: small modules around a body, and modules written as PTX again."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from racetrap.sim.gpu.ptx.module import (
    Address,
    CallTarget,
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Special,
    Symbol,
    Target,
    Variable,
    Vector,
)

HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n"


def kernel_text(body: str, declarations: str = "", name: str = "k", parameters: str = "") -> str:
    """A module with one kernel; the body's first line is line 8 of the text (no declarations)."""
    return (
        f"{HEADER}{declarations}\n.visible .entry {name}({parameters})\n{{\n"
        f".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
        f"{body}\n}}\n"
    )


def _operand(operand: Operand) -> str:
    match operand:
        case Register() | Symbol() | Special() | CallTarget():
            return operand.name.replace("#", "_scope")
        case Negated():
            return f"!{operand.register.name}"
        case Immediate(value=float()):
            return "0d" + struct.pack(">d", operand.value).hex()
        case Immediate():
            return str(operand.value)
        case Address(base=None):
            return f"[{operand.offset}]"
        case Address():
            assert operand.base is not None
            return f"[{_operand(operand.base)}+{operand.offset}]"
        case Target():
            return f"L{operand.index}"
        case Vector():
            return "{" + ", ".join(map(_operand, operand.elements)) + "}"


def _operands(instruction: Instruction) -> str:
    if instruction.opcode == "call":
        returned, function, arguments = instruction.operands
        lists = [f"({', '.join(map(_operand, v.elements))})" for v in (returned, arguments)]
        lead = f"{lists[0]}, " if returned.elements else ""
        return f"{lead}{_operand(function)}, {lists[1]}"
    if instruction.opcode == "mov" and isinstance(instruction.operands[1], Address):
        target, value = instruction.operands
        return f"{_operand(target)}, {_operand(value.base)}+{value.offset}"
    pair = isinstance(instruction.operands[0], Vector) if instruction.operands else False
    if pair and instruction.opcode in ("shfl", "match", "setp"):
        first, *rest = instruction.operands
        return ", ".join(["|".join(map(_operand, first.elements)), *map(_operand, rest)])
    return ", ".join(map(_operand, instruction.operands))


def _statement(instruction: Instruction) -> str:
    guard = ""
    if instruction.guard:
        guard = f"@{'!' * instruction.guard_negated}{_operand(instruction.guard)} "
    return f"{guard}{instruction.name} {_operands(instruction)};"


def _variable(variable: Variable) -> str:
    name = variable.name.replace("#", "_scope")
    text = f".{variable.space} .align {variable.align} .b8 {name}"
    text += "[]" if variable.extern and not variable.size else f"[{variable.size}]"
    if variable.initial is not None:
        values: list[object] = list(variable.initial)
        for offset, symbol, addend in variable.addresses:
            masked = [f"{0xFF << 8 * n:#x}({symbol}+{addend})" for n in range(8)]
            values[offset : offset + 8] = masked
        text += " = {" + ", ".join(map(str, values)) + "}"
    return (".extern " if variable.extern else "") + text


def _body(function: Function) -> Iterator[str]:
    for register in function.registers.values():
        yield f".reg .{register.type} {_operand(register)};"
    yield from (f"{_variable(variable)};" for variable in function.variables)
    for index, instruction in enumerate(function.instructions):
        yield f"L{index}:"
        if instruction.opcode == "brx":
            number, table = instruction.operands
            yield f"T{index}: .branchtargets {', '.join(map(_operand, table.elements))};"
            yield f"{instruction.name} {_operand(number)}, T{index};"
        else:
            yield _statement(instruction)
    yield f"L{len(function.instructions)}:"


def _function(function: Function) -> str:
    parameters = ", ".join(map(_variable, function.parameters))
    returned = f"({', '.join(map(_variable, function.returns))})" if function.returns else ""
    kind = ".visible .entry" if function.is_kernel else f".func {returned}"
    limit = f".maxntid {function.max_threads}\n" if function.max_threads else ""
    head = f"{kind} {function.name}({parameters})\n{limit}"
    return head + ("{\n" + "\n".join(_body(function)) + "\n}" if function.defined else ";")


def unparse(module: Module) -> str:
    """PTX of a module; types of variables become bytes, names of nested scopes plain ones."""
    variables = [f"{_variable(variable)};" for variable in module.variables.values()]
    functions = [_function(function) for function in module.functions.values()]
    return HEADER + "\n".join(variables + functions) + "\n"
