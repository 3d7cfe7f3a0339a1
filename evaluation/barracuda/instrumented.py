"""Instructions that BARRACUDA instruments: all of a kernel's, and without those that log twice.

Ref: BARRACUDA (PLDI'17) Section 4.1 and Figure 9.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from racetrap.sim.gpu.ptx.control_flow import leaders_of, reconvergence
from racetrap.sim.gpu.ptx.module import Address, Function, Instruction, Register, Vector

_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})
_SYNCHRONISES = frozenset({"bar", "barrier", "fence", "membar"})
#: Memory that no other thread accesses.
_PRIVATE = frozenset({"local", "param", "const"})


def instrumented(functions: Iterable[Function]) -> tuple[int, int, int]:
    """Static instructions, those with a logging call, and those left by pruning.

    An access is pruned if an access of the same kind earlier in its basic block went to the same
    register's address, the register is unchanged, and nothing that synchronises lies between.

    Parameters
    ----------
    functions : iterable of Function
        Kernels and device functions.
    """
    total = logged = left = 0
    for function in functions:
        own = function.instructions
        points = {point for point in reconvergence(function) if point is not None}
        total += len(own)
        calls = sum(map(_is_logged, own)) + len(points - {len(own)})
        logged += calls
        ends = [*leaders_of(function), len(own)]
        left += calls - sum(_pruned(own[first:end]) for first, end in pairwise(ends))
    return total, logged, left


def _is_logged(instruction: Instruction) -> bool:
    if instruction.opcode in _ACCESSES:
        return not _PRIVATE & set(instruction.modifiers)
    return instruction.opcode in _SYNCHRONISES


def _pruned(block: Iterable[Instruction]) -> int:
    """Accesses of a basic block that an earlier one stands for."""
    seen: set[tuple[str, object, int]] = set()
    count = 0
    for each in block:
        if _is_logged(each):
            if each.opcode in _ACCESSES and each.opcode not in ("atom", "red"):
                for address in each.operands:
                    if isinstance(address, Address):
                        key = each.opcode, address.base, address.offset
                        count += key in seen
                        seen.add(key)
            else:
                seen.clear()
        written = _written(each)
        seen = {key for key in seen if key[1] not in written}
    return count


def _written(instruction: Instruction) -> set[object]:
    if instruction.opcode in ("st", "red") or not instruction.operands:
        return set()
    first = instruction.operands[0]
    parts = first.elements if isinstance(first, Vector) else (first,)
    return {each for each in parts if isinstance(each, Register)}
