"""Micro-benchmarks as CUDA sources: one kernel, with a branch for each actor."""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.events import AtomicOp, EventKind, Scope
from racetrap.sim.gpu.suites.micro.program import VARIABLES, MicroProgram, Statement

_ATOMICS = {AtomicOp.EXCH: "atomicExch", AtomicOp.CAS: "atomicCAS", AtomicOp.OTHER: "atomicAdd"}
#: Numbers that flags and locks may hold.
_NUMBERS = range(4)


def micro_source(program: MicroProgram) -> str:
    """Source with the kernel ``k``."""
    parameters = ", ".join(f"int *{name}" for name in VARIABLES)
    return "\n".join([f'extern "C" __global__ void k({parameters}) {{', *_lines(program), "}", ""])


def _lines(program: MicroProgram) -> Iterator[str]:
    for actor in program.actors:
        yield f"  if (blockIdx.x == {actor.block} && threadIdx.x == {32 * actor.warp}) {{"
        yield from (f"    {_text(statement)};" for statement in actor.statements)
        yield "  }"


def _text(statement: Statement) -> str:
    suffix = "_block" * (statement.scope == Scope.BLOCK)
    if statement.kind == EventKind.FENCE:
        return f"__threadfence{suffix}()"
    if statement.kind != EventKind.ATOMIC:
        place = f"*(volatile int *){statement.variable}" if statement.strong else None
        place = place or f"*{statement.variable}"
        return place if statement.kind == EventKind.LOAD else f"{place} = {statement.value}"
    compare = f"{statement.compare}, " * (statement.op == AtomicOp.CAS)
    call = f"{_ATOMICS[statement.op]}{suffix}({statement.variable}, {compare}{statement.value})"
    if statement.until is None:
        return call
    accepted = [number for number in _NUMBERS if statement.until(number)]
    ends = f"!= {accepted[0]}" if len(accepted) == 1 else "== 0"
    return f"while ({call} {ends})"
