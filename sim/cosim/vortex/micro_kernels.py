"""The ScoR micro-benchmarks as C kernels for Vortex, made from the programs of the suite.

An actor is the first lane of its warp.  An exchange that is repeated until it finds something is a
repeated atomic load and then the exchange, since stores give nothing back here.

Ref: ScoRD (ISCA'20) Sections III and V.
"""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.events import AtomicOp, EventKind, Scope
from racetrap.sim.gpu.suites.micro.program import VARIABLES, MicroProgram, Statement

_HEAD = """\
/* Made from the micro-benchmark {name}. */

#include "vortex.h"

{variables}

void kernel(unsigned argument) {{
    (void)argument;
    unsigned seen;
{actors}
    (void)seen;
}}
"""
_SCOPES = {Scope.BLOCK: "SCOPE_BLOCK", Scope.DEVICE: "SCOPE_DEVICE"}
_FENCES = {Scope.BLOCK: "fence_block();", Scope.DEVICE: "fence_device();"}
#: Values that a spinning atomic may wait for.
_AWAITED = range(4)


def kernel_source(program: MicroProgram) -> str:
    """C source of a program.

    Parameters
    ----------
    program : MicroProgram
        A micro-benchmark; its variables have lines of their own.
    """
    variables = "\n".join(f"unsigned {name} __attribute__((aligned(128)));" for name in VARIABLES)
    actors: list[str] = []
    for actor in program.actors:
        actors += [f"    when (BLOCK() == {actor.block} && WARP() == {actor.warp} && !LANE()) {{"]
        actors += [f"        {line}" for each in actor.statements for line in _lines(each)]
        actors += ["    }"]
    return _HEAD.format(name=program.name, variables=variables, actors="\n".join(actors))


def _lines(statement: Statement) -> Iterator[str]:
    name, scope = statement.variable, _SCOPES[Scope(statement.scope)]
    if statement.kind == EventKind.FENCE:
        yield _FENCES[Scope(statement.scope)]
    elif statement.kind == EventKind.LOAD:
        yield f"seen = VOLATILE({name});"
    elif statement.kind == EventKind.STORE:
        way = f"VOLATILE({name})" if statement.strong else f"*(volatile unsigned*)&{name}"
        yield f"{way} = {statement.value};"
    elif statement.op == AtomicOp.CAS:
        yield f"lock({name}, {scope});"
    else:
        if statement.until is not None:
            awaited = [value for value in _AWAITED if statement.until(value)]
            condition = f"seen != {awaited[0]}" if len(awaited) == 1 else "!seen"
            yield f"do seen = atomic_load({name}, {scope}); while ({condition});"
        if statement.op == AtomicOp.EXCH:
            yield f"atomic_exchange({name}, {statement.value}, {scope});"
