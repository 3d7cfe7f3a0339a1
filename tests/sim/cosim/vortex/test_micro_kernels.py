"""Micro-benchmarks as kernels in C: each statement is there, in the order of its actor."""

import re

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.cosim.vortex.micro_kernels import kernel_source
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

_CALL = re.compile(
    r"(?P<fence>fence_(?:block|device))\(\)|(?P<spin>do seen = atomic_load)|"
    r"(?P<exchange>atomic_exchange)\((?P<to>\w+), (?P<value>\d+), (?P<scope>SCOPE_\w+)\)|"
    r"(?P<lock>lock)\(lock, (?P<of>SCOPE_\w+)\)|"
    r"(?P<load>seen = VOLATILE\(\w+\))|(?P<store>(?:VOLATILE\(\w+\)|&\w+) = \d+)"
)
_KINDS = {
    EventKind.FENCE: {"fence"}, EventKind.LOAD: {"load"}, EventKind.STORE: {"store"},
    EventKind.ATOMIC: {"spin", "exchange", "lock"},
}  # fmt: skip


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_each_statement_is_in_the_source(name):
    program = MICRO_BENCHMARKS[name]
    parts = kernel_source(program).split("when (")[1:]
    assert len(parts) == len(program.actors)
    for actor, part in zip(program.actors, parts, strict=True):
        assert part.startswith(f"BLOCK() == {actor.block} && WARP() == {actor.warp} && !LANE())")
        calls = [next(k for k, v in m.groupdict().items() if v) for m in _CALL.finditer(part)]
        due = iter(calls)
        for statement in actor.statements:
            call = next(due)
            assert call in _KINDS[statement.kind]
            is_exchange = statement.until is not None and statement.value == 0
            if call == "spin" and is_exchange and statement.op.name == "EXCH":
                assert next(due) == "exchange"
        assert next(due, None) is None
    scopes = [each.scope.name for one in program.actors for each in one.statements
              if each.kind in (EventKind.ATOMIC, EventKind.FENCE)]  # fmt: skip
    for scope in ("BLOCK", "DEVICE"):
        text = kernel_source(program)
        has = f"SCOPE_{scope}" in text or f"fence_{scope.lower()}" in text
        assert has == (scope in scopes)
