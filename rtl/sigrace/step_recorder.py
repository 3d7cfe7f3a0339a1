"""Step recorder: the trace port of a core unit, one step an event.

It takes no part in detection; its signals are compared with the golden model.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.layouts import item_layout


def core_trace_signature(params: SigraceParams) -> stream.Signature:
    """The trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.core_step_layout), always_ready=True)


class StepRecorder(wiring.Component):
    """Sums up what the items of an event did.

    A step follows one cycle after its event's last item; ``o_step`` lacks the state after it, which
    the user has available then.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_item : ``In(stream.Signature(item_layout(params), always_ready=True))``
        Granules and events that take effect.
    i_sent : ``In(1)``
        It makes a message.
    i_cause : ``In(3)``
        Cause if it ends a block; NONE if it ends none.
    i_traps : ``In(1)``
        It makes a trap record.
    o_step : ``Out(core_trace_signature(params))``
        Steps of events that are complete: their ``event``, ``sent``, ``cause`` and ``traps``.
    """

    def __init__(self, params: SigraceParams):
        super().__init__({
            "i_item": In(stream.Signature(item_layout(params), always_ready=True)),
            "i_sent": In(1),
            "i_cause": In(3),
            "i_traps": In(1),
            "o_step": Out(core_trace_signature(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        item, step = self.i_item.p, self.o_step.p
        is_first = item.is_first
        m.d.sync += self.o_step.valid.eq(self.i_item.valid & item.is_last)
        with m.If(self.i_item.valid):
            m.d.sync += [
                step.event.eq(item.event),
                step.sent.eq(Mux(is_first, 0, step.sent) + self.i_sent),
                step.traps.eq(Mux(is_first, 0, step.traps) + self.i_traps),
            ]
            with m.If(is_first | (self.i_cause != Cause.NONE)):
                m.d.sync += step.cause.eq(self.i_cause)
        return m
