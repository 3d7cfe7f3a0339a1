"""Harness for proofs on the interleaver."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.settling_proof import keeps
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILES = ("common/stream.py", "common/arbiter.py", "gpu/interleaver.py")
INTERLEAVER = "causality/interleaver.py"


class InterleaverHarness(Harness):
    """Interleaver behind SMs that keep what they offer; banks take packets at any time.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        module = modules_with([*_FILES, INTERLEAVER], case.bug)[INTERLEAVER]
        self._interleaver = module.Interleaver(params)
        super().__init__(case, {
            "i_valid": In(params.sm_count), "i_ready": In(params.banks), "i_hold": In(1),
            "i_packet": In(struct_layout(params.segment_layout)).array(params.sm_count),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, dut = self._params, self._interleaver
        inner = OpenComponent(dut)
        m.submodules.interleaver = inner.fragment
        m.d.comb += dut.i_hold.eq(self.i_hold)
        for sm, port in enumerate(dut.i_packet):
            m.d.comb += [
                port.valid.eq(self.i_valid[sm]), port.payload.eq(self.i_packet[sm]),
                keeps(m, port, f"packet_{sm}"),
            ]  # fmt: skip
        rules: list[Value] = []
        loads: list[list[Value]] = [[] for _ in dut.i_packet]
        for bank, port in enumerate(dut.o_packet):
            m.d.comb += port.ready.eq(self.i_ready[bank])
            sink_ready = inner[f"arbiter_{bank}.register.i__ready"]
            last = Signal(port.payload.shape(), name=f"last_{bank}")
            held = Signal(name=f"held_{bank}")
            taken, told = [], []
            for sm, source in enumerate(dut.i_packet):
                loads[sm].append(inner[f"arbiter_{bank}.grant"][sm] & sink_ready)
                taken.append(loads[sm][-1])
                told.append(taken[-1] & (source.payload.kind != PacketKind.MARK))
                with m.If(taken[-1]):
                    m.d.sync += last.eq(source.payload)
            m.d.sync += held.eq(Cat(taken).any() | (held & ~port.ready))
            rules += [
                port.valid == held,
                ~held | (Value.cast(port.payload) == Value.cast(last)),
                sum(taken) <= 1,
                dut.o_taken[bank] == Cat(told).any(),
                ~(self.i_hold & Cat(taken).any()),
            ]
        helps, copies = [], []
        for sm, source in enumerate(dut.i_packet):
            has, goes = Signal(params.banks, name=f"has_{sm}"), Signal(params.banks)
            load, fires = Cat(loads[sm]), source.valid & source.ready
            is_for_all = source.payload.kind > PacketKind.ATOMIC
            bank = source.payload.word[: params.port_bits]
            m.d.comb += goes.eq(Mux(is_for_all, -1, 1 << bank))
            m.d.sync += has.eq((has | load) & ~fires.replicate(params.banks))
            rules += [
                # Each bank that it is for takes it once, before the SM offers the next one.
                ~source.valid | ((load & (has | ~goes)) == 0),
                ~load.any() | source.valid,
                ~fires | ((has | load) == goes),
                # It leaves when they have.
                ~(source.valid & ((has | load) == goes)) | source.ready,
            ]
            # The hardware's register also notes other banks that were ready.
            noted = inner.each("has")[sm]
            helps += [
                ~source.valid | ((noted & goes) == has),
                source.valid | ~noted.any(),
                ~has.any() | (source.valid & ((has & ~goes) == 0)),
            ]
            copies.append((has, is_for_all, source))
        rules.append(dut.o_idle == ~Cat(port.valid for port in dut.o_packet).any())
        has, is_for_all, source = copies[0]
        events = {
            "a-bank-is-late": has[0] & ~has[1] & source.valid,
            "other-sm-meanwhile": has[0] & ~has[1] & loads[1][0],
            "held-between-copies": has[0] & ~has[1] & self.i_hold,
            "both-for-all": is_for_all & copies[1][1] & has[0] & copies[1][0][1],
        }
        self.state(m, rules, events, helps)
        return m
