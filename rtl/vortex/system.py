"""A detector with an adapter and a front end for each of several Vortex cores.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import ports_like
from racetrap.rtl.vortex.adapter import Adapter

_IN, _OUT = ("i_issue", "i_start", "i_found"), ("o_passed", "o_full", "o_error", "o_error_pc")


class VortexSystem(wiring.Component):
    """Adapters, front ends and the whole detector behind them.

    Parameters
    ----------
    params : GpuParams
        Configuration: an SM for each core.
    detector : Component
        The whole detector, a ``GpuSystem``.
    front_end : callable
        The detector's front end, given the parameters.

    Members
    -------
    i_issue, i_start, i_found, o_passed, o_full, o_error, o_error_pc
        Those of an ``Adapter``, of each core.
    o_held : ``Out(warps_per_sm).array(sm_count)``
        As of each ``FrontEnd``.
    o_idle : ``Out(1)``
        No adapter and no front end has anything.
    o_instruction, o_outcome, o_transaction : ``Out({valid, ready, payload}).array(sm_count)``
        Streams between the parts, to be watched.
    others
        All ports of the detector but ``i_transaction``.
    """

    def __init__(
        self, params: GpuParams, detector: wiring.Component, front_end: Callable[[Any], Any]
    ):
        self._params, self._detector = params, detector
        self._adapters = [Adapter(params) for _ in range(params.sm_count)]
        self._front_ends = [front_end(params) for _ in range(params.sm_count)]
        self._forwarded = [name for name in detector.signature.members if name != "i_transaction"]
        ports = ports_like(self._adapters[0], *_IN, *_OUT)
        watched = {
            "o_instruction": params.instruction_layout, "o_outcome": params.outcome_layout,
            "o_transaction": params.transaction_layout,
        }  # fmt: skip
        super().__init__({
            **{name: member.array(params.sm_count) for name, member in ports.items()},
            "o_held": Out(params.warps_per_sm).array(params.sm_count),
            "o_idle": Out(1),
            **{
                name: Out(_watched(struct_layout(layout))).array(params.sm_count)
                for name, layout in watched.items()
            },
            **ports_like(detector, *self._forwarded),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.detector = detector = self._detector
        idle = []
        for sm, (adapter, front) in enumerate(zip(self._adapters, self._front_ends, strict=True)):
            m.submodules[f"adapter_{sm}"], m.submodules[f"front_end_{sm}"] = adapter, front
            for name in (*_IN, *_OUT):
                _forward(m, getattr(self, name)[sm], getattr(adapter, name), adapter, name)
            for inner, outer, name in (
                (adapter.o_instruction, front.i_instruction, "o_instruction"),
                (adapter.o_outcome, front.i_outcome, "o_outcome"),
                (front.o_transaction, detector.i_transaction[sm], "o_transaction"),
            ):
                wiring.connect(m, inner, outer)
                watched = getattr(self, name)[sm]
                m.d.comb += [
                    Value.cast(watched.payload).eq(Value.cast(inner.payload)),
                    watched.valid.eq(inner.valid), watched.ready.eq(inner.ready),
                ]  # fmt: skip
            m.d.comb += self.o_held[sm].eq(front.o_held)
            idle.append(adapter.o_idle & front.o_idle)
        for name in self._forwarded:
            _forward(m, getattr(self, name), getattr(detector, name), detector, name)
        all_idle = idle[0]
        for each in idle[1:]:
            all_idle &= each
        m.d.comb += self.o_idle.eq(all_idle)
        return m


def _watched(shape: data.StructLayout) -> wiring.Signature:
    return wiring.Signature({"valid": Out(1), "ready": Out(1), "payload": Out(shape)})


def _forward(m: Module, outer: Any, inner: Any, part: Any, name: str) -> None:
    """Connect a port of any shape with that of a part."""
    member = part.signature.members[name]
    if member.is_signature and not member.dimensions:
        wiring.connect(m, wiring.flipped(outer), inner)
    elif member.dimensions:
        for one, other in zip(outer, inner, strict=True):
            if member.is_signature:
                wiring.connect(m, wiring.flipped(one), other)
            else:
                m.d.comb += other.eq(one) if member.flow is In else one.eq(other)
    else:
        m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
