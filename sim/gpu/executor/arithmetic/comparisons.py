"""Comparisons and selections.

Ref: PTX ISA 9.0, Section 9.7.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.floats import flush
from racetrap.sim.gpu.executor.arithmetic.operations import InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar, unsigned
from racetrap.sim.gpu.ptx.module import Instruction, Vector

Comparison = Callable[[np.ndarray, np.ndarray], np.ndarray]

COMPARE_INSTRUCTIONS = InstructionTable()

_BOOL = np.dtype(bool)
_ORDERED: dict[str, Comparison] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
#: The spellings for unsigned integers.
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
#: What is true of a NaN is what its opposite denies.
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne"}


def _unordered(name: str) -> Comparison:
    opposite = _ORDERED[_OPPOSITE[name]]
    if name == "eq":
        return lambda a, b: ~((a < b) | (a > b))
    return lambda a, b: ~opposite(a, b)


#: Comparisons of floats and of integers by their PTX names; ``u`` at the end: true of a NaN.
COMPARISONS: dict[str, dict[str, Comparison]] = {
    "f": {
        **_ORDERED,
        "ne": lambda a, b: (a < b) | (a > b),
        "neu": np.not_equal,
        **{f"{name}u": _unordered(name) for name in _OPPOSITE},
        "num": lambda a, b: (a == a) & (b == b),
        "nan": lambda a, b: (a != a) | (b != b),
    },
    "i": {**_ORDERED, **{name: _ORDERED[plain] for name, plain in _UNSIGNED.items()}},
}
_COMBINATIONS: dict[str, Comparison] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _comparison(instruction: Instruction, last: Scalar) -> tuple[Comparison, Any]:
    """The comparison, and the combination with a further predicate if there is one."""
    names = COMPARISONS[last.kind]
    flags = only(instruction, *names, *_COMBINATIONS, "ftz")
    # ``.or`` may follow ``.lo``, but no name of a comparison is one of a combination.
    compare = next((names[flag] for flag in flags if flag in names), None)
    if compare is None:
        raise UnknownInstruction(f"Instruction {instruction.name} lacks its comparison")
    combine = next((_COMBINATIONS[flag] for flag in flags if flag in _COMBINATIONS), None)
    if "ftz" in flags:
        plain = compare
        return lambda a, b: plain(flush(a), flush(b)), combine
    return compare, combine


@COMPARE_INSTRUCTIONS.define("if", "setp")
def _setp(instruction: Instruction, last: Scalar) -> Operation:
    compare, combine = _comparison(instruction, last)
    sources = (last.dtype, last.dtype) + (_BOOL,) * (combine is not None)

    def compare_combine(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return combine(compare(a, b), c)

    def both(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result = compare(a, b)
        return (combine(result, *c), combine(~result, *c)) if combine else (result, ~result)

    if isinstance(instruction.operands[0], Vector):
        return Operation(both, (_BOOL, _BOOL), sources)
    return Operation(compare_combine if combine else compare, (_BOOL,), sources)


@COMPARE_INSTRUCTIONS.define("if", "set")
def _set(instruction: Instruction, last: Scalar) -> Operation:
    compare, combine = _comparison(instruction, last)
    types = [SCALARS[name] for name in instruction.modifiers if name in SCALARS]
    result = types[0].dtype
    # True is 1.0 in a float type, all ones in an integer type.
    true = np.array(1.0 if result.kind == "f" else -1).astype(result)

    def compare_to(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> np.ndarray:
        holds = combine(compare(a, b), *c) if combine else compare(a, b)
        return np.where(holds, true, result.type(0))

    sources = (last.dtype, last.dtype) + (_BOOL,) * (combine is not None)
    return Operation(compare_to, (result,), sources)


@COMPARE_INSTRUCTIONS.define("if", "selp")
def _selp(instruction: Instruction, last: Scalar) -> Operation:
    only(instruction)
    bits = unsigned(last.dtype)
    return Operation(lambda a, b, c: np.where(c, a, b), (bits,), (bits, bits, _BOOL))


@COMPARE_INSTRUCTIONS.define("if", "slct")
def _slct(instruction: Instruction, last: Scalar) -> Operation:
    only(instruction, "ftz")
    types = [SCALARS[name] for name in instruction.modifiers if name in SCALARS]
    bits = unsigned(types[0].dtype)
    return Operation(lambda a, b, c: np.where(c >= 0, a, b), (bits,), (bits, bits, last.dtype))
