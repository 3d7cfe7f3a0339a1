"""Step recorder: the trace port of a core unit, one step an event.

It takes no part in detection; its signals are those that a golden model is compared with.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.layouts import item_layout

__all__ = ["StepRecorder", "core_trace_signature"]


def core_trace_signature(params: SigraceParams) -> wiring.Signature:
    """The trace port: a step in every cycle in which ``valid`` is high; no back-pressure."""
    return wiring.Signature(
        {"valid": Out(1), "payload": Out(struct_layout(params.core_step_layout))}
    )


class StepRecorder(wiring.Component):
    """Sums up what the items of an event did.

    A step comes one cycle after its event's last item; ``o_step`` lacks the state after it,
    which its user has at hand then.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_item, i_step : ``In(item_layout(params))``, ``In(1)``
        A granule or an event, and whether it takes effect in this cycle.
    i_sent : ``In(1)``
        It makes a message.
    i_cause : ``In(3)``
        Why it ends a block; NONE if it ends none.
    i_traps : ``In(1)``
        It makes a trap record.
    o_valid, o_step : ``Out(1)``, ``Out(core_step_layout)``
        The event is complete; ``event``, ``sent``, ``cause`` and ``traps`` of its step.
    """

    def __init__(self, params: SigraceParams):
        super().__init__({
            "i_item": In(item_layout(params)),
            "i_step": In(1),
            "i_sent": In(1),
            "i_cause": In(3),
            "i_traps": In(1),
            "o_valid": Out(1),
            "o_step": Out(struct_layout(params.core_step_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        step = self.o_step
        is_first = self.i_item.is_first
        m.d.sync += self.o_valid.eq(self.i_step & self.i_item.is_last)
        with m.If(self.i_step):
            m.d.sync += [
                step.event.eq(self.i_item.event),
                step.sent.eq(Mux(is_first, 0, step.sent) + self.i_sent),
                step.traps.eq(Mux(is_first, 0, step.traps) + self.i_traps),
            ]
            with m.If(is_first | (self.i_cause != Cause.NONE)):
                m.d.sync += step.cause.eq(self.i_cause)
        return m
