"""Barriers and mbarrier objects, from their suffixes and operands.

Ref: PTX ISA 9.0, Sections 9.7.13.1 (bar, barrier), 9.7.13.2 (bar.warp.sync), 9.7.13.3
(barrier.cluster) and 9.7.13.15 (mbarrier).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.golden_model.ptx_memory_model.events import Order, check_barrier
from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    ClusterBarrier,
    CtaBarrier,
    MbarrierArrive,
    MbarrierWait,
    WarpBarrier,
)
from racetrap.golden_model.ptx_memory_model.litmus.modifiers import Modifiers
from racetrap.golden_model.ptx_memory_model.litmus.operands import Form, OperandList
from racetrap.golden_model.ptx_memory_model.scopes import Scope


def _cta_barrier(_: str, modifiers: Modifiers, operands: OperandList) -> CtaBarrier:
    modifiers.take("cta")
    modifiers.take("aligned")
    action = modifiers.take("sync", "arrive", "red")
    if not action:
        raise ValueError("barrier lacks its operation: add .sync, .arrive or .red")
    destination, predicate = "", None
    if action == "red":
        operation = modifiers.take("popc", "and", "or")
        if not operation:
            raise ValueError("barrier.red lacks its operation: add .popc, .and or .or")
        modifiers.take("u32" if operation == "popc" else "pred")
        action, destination = f"red.{operation}", operands.register()
    barrier, count = operands.value(), None
    if operands.count_left() > bool(destination):
        count = operands.value()
    check_barrier(barrier, count)
    if action == "arrive" and count is None:
        raise ValueError("barrier.arrive lacks its number of threads")
    if destination:
        predicate = operands.predicate()
    return CtaBarrier(action, barrier, count, destination, predicate)


def _warp_barrier(_: str, modifiers: Modifiers, operands: OperandList) -> WarpBarrier:
    return WarpBarrier(operands.number())


def _cluster_barrier(_: str, modifiers: Modifiers, operands: OperandList) -> ClusterBarrier:
    modifiers.take("aligned")
    action = modifiers.take("arrive", "wait")
    if not action:
        raise ValueError("barrier.cluster lacks its operation: add .arrive or .wait")
    if action == "wait":
        return ClusterBarrier(action, modifiers.order([Order.ACQUIRE], Order.ACQUIRE))
    return ClusterBarrier(action, modifiers.order([Order.RELEASE, Order.RELAXED], Order.RELEASE))


def _mbarrier_modifiers(modifiers: Modifiers, default: Order) -> tuple[Order, Scope]:
    modifiers.take("shared", "shared::cta", "shared::cluster")
    order = modifiers.order((default, Order.RELAXED), default)
    scope = Scope.CTA if (given := modifiers.scope()) is None else given
    if scope > Scope.CLUSTER:
        raise ValueError(f"Scope of mbarrier must be cta or cluster, not {scope.name.lower()}")
    modifiers.take("b64")
    return order, scope


def _mbarrier_arrive(_: str, modifiers: Modifiers, operands: OperandList) -> MbarrierArrive:
    order, scope = _mbarrier_modifiers(modifiers, Order.RELEASE)
    return MbarrierArrive(order, scope, operands.register(), operands.address())


def _mbarrier_wait(name: str, modifiers: Modifiers, operands: OperandList) -> MbarrierWait:
    by_parity = bool(modifiers.take("parity"))
    order, scope = _mbarrier_modifiers(modifiers, Order.ACQUIRE)
    destination, address, phase = operands.register(), operands.address(), operands.value()
    action = name.removeprefix("mbarrier.")
    return MbarrierWait(action, order, scope, destination, address, phase, by_parity)


#: Constructor of each barrier; of two names with a common prefix the longer comes first.
BARRIER_FORMS: Mapping[str, Form] = MappingProxyType({
    "bar.warp.sync": _warp_barrier, "barrier.cluster": _cluster_barrier,
    "barrier": _cta_barrier, "bar": _cta_barrier, "mbarrier.arrive": _mbarrier_arrive,
    "mbarrier.test_wait": _mbarrier_wait, "mbarrier.try_wait": _mbarrier_wait,
})  # fmt: skip
