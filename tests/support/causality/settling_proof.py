"""Harnesses for proofs on what surrounds the collector: the gate that markers wait at, and the
outlet of rows and resumes."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Assume, Cat, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import PacketKind, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

GATE, OUTLET = "causality/marker_gate.py", "causality/row_outlet.py"
_COMMON = ("common/stream.py", "common/arbiter.py")


def keeps(m: Module, port: Any, name: str) -> Assume:
    """The assumption that what a free input offers stays until it is taken."""
    offered = Value.cast(port.payload)
    waits, before = Signal(name=f"{name}_waits"), Signal(len(offered), name=f"{name}_before")
    m.d.sync += [waits.eq(port.valid & ~port.ready), before.eq(offered)]
    return Assume(~waits | (port.valid & (offered == before)))


class GateHarness(Harness):
    """A gate with free banks and SMs; each bank tells of a marker's place once.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        self._gate = modules_with([*_COMMON, GATE], case.bug)[GATE].MarkerGate(params)
        notice, marker = struct_layout(params.notice_layout), struct_layout(params.marker_layout)
        super().__init__(case, {
            "i_has_notice": In(params.banks), "i_notice": In(notice).array(params.banks),
            "i_has_marker": In(params.sm_count), "i_marker": In(marker).array(params.sm_count),
            "i_ready": In(2),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        gate = self._gate
        self._inner = OpenComponent(gate)
        m.submodules.gate = self._inner.fragment
        m.d.comb += [
            gate.o_notice.ready.eq(self.i_ready[0]),
            gate.o_marker.ready.eq(self.i_ready[1]),
        ]
        for name, ports, has, payloads in (
            ("notice", gate.i_notice, self.i_has_notice, self.i_notice),
            ("marker", gate.i_marker, self.i_has_marker, self.i_marker),
        ):
            for number, port in enumerate(ports):
                m.d.comb += [
                    port.valid.eq(has[number]), port.payload.eq(payloads[number]),
                    keeps(m, port, f"{name}_{number}"),
                ]  # fmt: skip
        held = Signal(name="notice_held")
        rules, helps = self._elaborate_places(m, held)
        for name, ports, out, wanted, is_held in (
            ("notice", gate.i_notice, gate.o_notice,
             lambda port: port.payload.packet.kind != PacketKind.MARK, held),
            ("marker", gate.i_marker, gate.o_marker, lambda port: 1, Signal(name="marker_held")),
        ):  # fmt: skip
            rules += self._elaborate_stream(m, name, ports, out, wanted, is_held)
        rules.append(
            gate.o_idle == (~gate.o_marker.valid & ~self._inner["notices.register.o__valid"])
        )
        events = {
            "a-bank-is-late": self._done[0][0] & ~self._done[1][0] & gate.i_marker[0].valid
            & gate.o_notice.valid,
            "both-sms-wait": Cat(port.valid & ~port.ready for port in gate.i_marker).all(),
            "a-second-marker": self._second,
            "a-branch-passes": gate.o_marker.valid
            & (gate.o_marker.payload.marker.kind == TransactionKind.IF) & self._done[0][0],
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _elaborate_places(self, m: Module, notice_held: Value) -> tuple[list[Value], list[Value]]:
        """Each SM's marker waits for the place of it from every bank."""
        params, gate = self._params, self._gate
        rules: list[Value] = []
        helps: list[Value] = []
        register = self._inner["notices.register.payload"]
        held = gate.o_notice.payload.shape()(register).notice.packet
        is_held = self._inner["notices.register.o__valid"] & (held.kind == PacketKind.MARK)
        self._done, self._second = [[] for _ in range(params.banks)], Signal()
        for sm, marker in enumerate(gate.i_marker):
            waits = (marker.payload.kind != TransactionKind.IF) & (
                marker.payload.kind != TransactionKind.WARP_BARRIER
            )
            leaves = Signal(name=f"leaves_{sm}")
            m.d.comb += leaves.eq(marker.valid & marker.ready & waits)
            told, older = [], Signal(name=f"older_{sm}")
            for bank, port in enumerate(gate.i_notice):
                packet = port.payload.packet
                is_place = (packet.kind == PacketKind.MARK) & (
                    (packet.block >> params.slot_bits) == sm
                )
                done, comes = Signal(name=f"done_{bank}_{sm}"), port.valid & port.ready & is_place
                m.d.sync += done.eq((done | comes) & ~leaves)
                with m.If(comes):
                    m.d.sync += older.eq(notice_held & ~(gate.o_notice.valid & gate.o_notice.ready))
                # A place comes with its marker, and the next one is not sent before that has left.
                m.d.comb += Assume(~(port.valid & is_place) | (~done & marker.valid & waits))
                self._done[bank].append(done)
                told.append(done)
            with m.If(gate.o_notice.valid & gate.o_notice.ready):
                m.d.sync += older.eq(0)
            rules += [~leaves | Cat(told).all(), ~leaves | ~older]
            helps.append(~older)
            is_mine = is_held & ((held.block >> params.slot_bits) == sm)
            helps += [
                self._inner[f"passed_{sm}"] + is_mine == sum(told),
                ~Cat(told).any() | (marker.valid & waits),
            ]
        again = Signal()
        first = gate.i_marker[0]
        m.d.sync += [
            again.eq(again | (first.valid & first.ready & self._done[0][0])),
            self._second.eq(again & first.valid & first.ready & self._done[0][0]),
        ]
        return rules, helps

    def _elaborate_stream(
        self, m: Module, name: str, ports, out, wanted, held: Value
    ) -> list[Value]:
        """What is taken comes out once, unchanged, before the next one does."""
        payload = Signal(out.payload.shape(), name=f"{name}_last")
        source = {"notice": "bank", "marker": "sm"}[name]
        taken = [port.valid & port.ready & wanted(port) for port in ports]
        m.d.sync += held.eq(Cat(taken).any() | (held & ~(out.valid & out.ready)))
        for number, (port, takes) in enumerate(zip(ports, taken, strict=True)):
            with m.If(takes):
                m.d.sync += [payload[name].eq(port.payload), payload[source].eq(number)]
        return [
            sum(taken) <= 1,
            out.valid == held,
            ~held | (Value.cast(out.payload) == Value.cast(payload)),
            ~(Cat(taken).any() & held) | (out.valid & out.ready),
        ]


class OutletHarness(Harness):
    """An outlet that is given rows and resumes while it is free; banks and SMs take them any time.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        self._outlet = modules_with([OUTLET], case.bug)[OUTLET].RowOutlet(params)
        super().__init__(case, {
            "i_leaves": In(1), "i_has_row": In(1), "i_has_resume": In(1),
            "i_sm": In(params.sm_bits),
            "i_row": In(struct_layout(params.row_write_layout)),
            "i_resume": In(struct_layout(params.resume_layout)),
            "i_row_ready": In(params.banks), "i_resume_ready": In(params.sm_count),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        outlet, params = self._outlet, self._params
        self._inner = inner = OpenComponent(outlet)
        m.submodules.outlet = inner.fragment
        m.d.comb += [
            outlet.i_leaves.eq(self.i_leaves),
            *(getattr(outlet, name).eq(getattr(self, name))
              for name in ("i_has_row", "i_has_resume", "i_sm", "i_row", "i_resume")),
            *(port.ready.eq(self.i_row_ready[bank]) for bank, port in enumerate(outlet.o_row)),
            *(port.ready.eq(self.i_resume_ready[sm]) for sm, port in enumerate(outlet.o_resume)),
            Assume(~self.i_leaves | outlet.o_is_free),
            Assume(self.i_sm < params.sm_count),
        ]  # fmt: skip
        row, resume = (
            Signal.like(self.i_row, name="kept_row"),
            Signal.like(self.i_resume, name="kept"),
        )
        sm, due = Signal(params.sm_bits), Signal(params.banks)
        is_due = Signal()
        given = Cat(port.valid & port.ready for port in outlet.o_row)
        goes = Cat(port.valid & port.ready for port in outlet.o_resume)
        with m.If(self.i_leaves):
            m.d.sync += [
                row.eq(self.i_row), resume.eq(self.i_resume), sm.eq(self.i_sm),
                due.eq(self.i_has_row.replicate(params.banks)), is_due.eq(self.i_has_resume),
            ]  # fmt: skip
        with m.Else():
            m.d.sync += [due.eq(due & ~given), is_due.eq(is_due & ~goes.any())]
        rules = [
            # Each bank the newest row once; the warp behind the row at every bank, once.
            *(~port.valid | (due[bank] & (port.payload == row))
              for bank, port in enumerate(outlet.o_row)),
            *(~port.valid | (is_due & ~due.any() & (sm == number) & (port.payload == resume))
              for number, port in enumerate(outlet.o_resume)),
            outlet.o_is_free == ~(due.any() | is_due),
            # Nobody waits without an offer.
            *(~due[bank] | port.valid for bank, port in enumerate(outlet.o_row)),
            ~is_due | due.any() | Cat(port.valid for port in outlet.o_resume).any(),
        ]  # fmt: skip
        has_row = inner["has_row"]
        helps = [
            has_row == due.any(),
            ~has_row | (due == ~inner["taken"]),
            inner["has_resume"] == is_due,
            ~has_row | (Value.cast(inner["row"]) == Value.cast(row)),
            ~is_due | (Value.cast(inner["resume"]) == Value.cast(resume)),
            ~is_due | (inner["sm"] == sm),
        ]  # fmt: skip
        events = {
            "one-bank-late": due[-1] & ~due[0] & is_due,
            "resume-waits": is_due & ~due.any() & ~goes.any(),
            "row-alone": due.any() & ~is_due,
            "resume-alone": self.i_leaves & self.i_has_resume & ~self.i_has_row,
        }
        self.state(m, rules, events, helps)
        return m
