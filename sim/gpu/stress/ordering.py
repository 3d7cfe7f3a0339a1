"""Pairs of accesses that a change of synchronisation leaves unordered: a run's trace with other
fences, judged by the exact oracle.

A search by runs does not refute all wrong advice, since a memory model does not show all that PTX
allows; a race that appears does.

Ref: PTX ISA 9.0, Section 8.7.1 (Data races).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import EventKind, EventScope, MemoryOrder
from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.weak_memory import ORDERS, SCOPES
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from racetrap.sim.gpu.stress.subject import Changes

_EVENT_ORDERS = {order: event for event, order in ORDERS.items()}
_EVENT_SCOPES = {Scope.SYS: EventScope.DEVICE} | {scope: event for event, scope in SCOPES.items()}


def executed_pcs(traces: Iterable[Trace]) -> frozenset[int]:
    """Program counters of what runs have executed: accesses and fences."""
    found = [np.unique(trace.events["pc"]) for trace in traces]
    return frozenset(np.concatenate(found).tolist())


class Unordered(NamedTuple):
    """Unordered pairs of accesses.

    Parameters
    ----------
    races : bool
        Whether any race.
    strong : frozenset of (int, int)
        Program counters of those that do not, since both may conflict.
    """

    races: bool
    strong: frozenset[tuple[int, int]]


def unordered_with(trace: Trace, changes: Changes) -> Unordered:
    """Pairs that would be unordered in a run with other fences and accesses in the program.

    Parameters
    ----------
    trace : Trace
        The run, with sequentially consistent memory.
    changes : Changes
        Changes that take away or make narrower; what would be inserted is left out.
    """
    events = trace.events.copy()
    is_fence, dropped = events["kind"] == EventKind.FENCE, np.zeros(len(events), bool)
    for pc, fence in changes.fences.items():
        own = is_fence & (events["pc"] == pc)
        if fence is None:
            dropped |= own
        else:
            events["scope"][own] = _EVENT_SCOPES[fence[1]]
            # An order that is implied is that of fence.sc.
            events["order"][own] = _EVENT_ORDERS.get(fence[0], MemoryOrder.IMPLIED)
    for pc, strength in changes.accesses.items():
        own = events["pc"] == pc
        if strength.order is Order.RELAXED:
            dropped |= own & is_fence
        if strength.scope is not None:
            events["scope"][own] = _EVENT_SCOPES[strength.scope]
        events["order"][own] = _EVENT_ORDERS.get(strength.order, MemoryOrder.IMPLIED)
    changed = Trace(trace.header, events[~dropped], trace.lanes)
    found = CompiledOracle(OracleRule.CAUSALITY).run(changed)
    strong = frozenset((pair.first.pc, pair.second.pc) for pair in found.unordered_strong)
    return Unordered(bool(found.races), strong)
