"""Harnesses for proofs on what surrounds the collector: the gate that markers wait at, and the
outlet of rows and resumes."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import HELD, PacketKind, TransactionKind
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

    It is told to hold, and of an epoch while nothing is in flight, at any time.

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
            "i_ready": In(2), "i_hold": In(1), "i_epoch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        gate = self._gate
        self._inner = OpenComponent(gate)
        m.submodules.gate = self._inner.fragment
        m.d.comb += [
            gate.o_notice.ready.eq(self.i_ready[0]),
            gate.o_marker.ready.eq(self.i_ready[1]),
            gate.i_hold.eq(self.i_hold),
            gate.i_epoch.eq(self.i_epoch),
            Assume(~self.i_epoch | gate.o_drained),
        ]
        #: Whether an epoch has begun while a marker of an SM has waited.
        self._old = [Signal(name=f"old_{sm}") for sm in range(self._params.sm_count)]
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
            ("marker", gate.i_marker, gate.o_marker,
             lambda port: port.payload.kind != HELD, Signal(name="marker_held")),
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
            "epoch-with-both": self.i_epoch & (gate.i_marker[0].payload.kind == HELD)
            & (gate.i_marker[1].payload.kind == TransactionKind.BLOCK_START),
            "a-branch-passes-while-others-hold": self.i_hold & gate.o_marker.valid & gate.o_asks,
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
            holds = marker.payload.kind == HELD
            rules += [
                ~leaves | Cat(told).all(), ~leaves | ~older,
                ~leaves | Mux(holds, self.i_epoch, ~self.i_hold),
                ~(self.i_epoch & holds) | leaves,
                ~gate.o_drained | (marker.valid & waits & Cat(told).all()),
                ~(marker.valid & waits) | gate.o_asks,
            ]  # fmt: skip
            m.d.sync += self._old[sm].eq((self._old[sm] | self.i_epoch) & ~leaves)
            helps.append(self._inner[f"is_old_{sm}"] == self._old[sm])
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
                if name == "marker":
                    # Clocks of before an epoch are 1 then, and a block starts behind them.
                    with m.If(self._old[number]):
                        m.d.sync += payload.marker.clock.eq(2)
        return [
            sum(taken) <= 1,
            out.valid == held,
            ~held | (Value.cast(out.payload) == Value.cast(payload)),
            ~(Cat(taken).any() & held) | (out.valid & out.ready),
        ]


class OutletHarness(Harness):
    """An outlet that is given rows and resumes while it is free; banks and SMs take them any time.

    A row is in force at a bank at any time from when it was taken.

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
            "i_is_for_all": In(1), "i_arrives": In(params.banks),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        outlet, params = self._outlet, self._params
        self._inner = inner = OpenComponent(outlet)
        m.submodules.outlet = inner.fragment
        m.d.comb += [
            outlet.i_leaves.eq(self.i_leaves),
            *(getattr(outlet, name).eq(getattr(self, name))
              for name in ("i_has_row", "i_has_resume", "i_sm", "i_is_for_all", "i_arrives",
                           "i_row", "i_resume")),
            *(port.ready.eq(self.i_row_ready[bank]) for bank, port in enumerate(outlet.o_row)),
            *(port.ready.eq(self.i_resume_ready[sm]) for sm, port in enumerate(outlet.o_resume)),
            Assume(~self.i_leaves | outlet.o_is_free),
            Assume(self.i_sm < params.sm_count),
        ]  # fmt: skip
        row, resume = (
            Signal.like(self.i_row, name="kept_row"),
            Signal.like(self.i_resume, name="kept"),
        )
        # Banks that have not taken the row, or where it is not in force; SMs that go on behind it.
        due, late, sms = Signal(params.banks), Signal(params.banks), Signal(params.sm_count)
        given = Cat(port.valid & port.ready for port in outlet.o_row)
        goes = Cat(port.valid & port.ready for port in outlet.o_resume)
        told = Mux(self.i_is_for_all, (1 << params.sm_count) - 1, 1 << self.i_sm)
        m.d.comb += Assume((self.i_arrives & ~(late & ~(due & ~given))) == 0)
        with m.If(self.i_leaves):
            all_banks = self.i_has_row.replicate(params.banks)
            m.d.sync += [
                row.eq(self.i_row), resume.eq(self.i_resume), due.eq(all_banks), late.eq(all_banks),
                sms.eq(Mux(self.i_has_resume, told, 0)),
            ]  # fmt: skip
        with m.Else():
            m.d.sync += [
                due.eq(due & ~given), late.eq(late & ~self.i_arrives), sms.eq(sms & ~goes),
            ]  # fmt: skip
        rules = [
            # Each bank the newest row once; SMs when it is in force at every bank, once.
            *(~port.valid | (due[bank] & (port.payload == row))
              for bank, port in enumerate(outlet.o_row)),
            *(~port.valid | (sms[number] & ~late.any() & (port.payload == resume))
              for number, port in enumerate(outlet.o_resume)),
            outlet.o_is_free == ~(late.any() | sms.any()),
            # Nobody waits without an offer.
            *(~due[bank] | port.valid for bank, port in enumerate(outlet.o_row)),
            *(~sms[number] | late.any() | port.valid
              for number, port in enumerate(outlet.o_resume)),
        ]  # fmt: skip
        has_row = inner["has_row"]
        helps = [
            has_row == late.any(),
            (due & ~late) == 0,
            ~has_row | ((due == ~inner["taken"]) & (late == ~inner["arrived"])),
            inner["due"] == sms,
            ~has_row | (Value.cast(inner["row"]) == Value.cast(row)),
            ~sms.any() | (Value.cast(inner["resume"]) == Value.cast(resume)),
        ]  # fmt: skip
        events = {
            "one-bank-late": due[-1] & ~due[0] & sms.any(),
            "one-bank-on-its-way": late[-1] & ~due[-1] & ~late[0] & sms.any(),
            "resume-waits": sms.any() & ~late.any() & ~goes.any(),
            "one-sm-late": sms[-1] & ~sms[0] & ~late.any(),
            "row-alone": due.any() & ~sms.any(),
            "resume-alone": self.i_leaves & self.i_has_resume & ~self.i_has_row,
        }
        self.state(m, rules, events, helps)
        return m
