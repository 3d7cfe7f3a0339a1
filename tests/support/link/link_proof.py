"""Harness for proofs on the link: a host that repeats each request until it has the reply.

The line loses, spoils and repeats frames as it likes, but gives them in order; the CRC finds every
spoilt one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

from amaranth.hdl import Assume, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import CRC_BYTES, HEADER_BYTES, Kind
from racetrap.golden_model.link.hello import Hello
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILES = ("common/stream.py", "link/input_queue.py", "link/link.py")
#: The device.
HELLO = Hello.of(7, input_bits=16, inputs=2, output_bits=16, outputs=2, credits=2)
#: States of the link, in the order in which its FSM names them.
RECEIVE, CHECK, SEND, APPEND, PUSH, PULL, ACCESS = range(7)
_AROUND = HEADER_BYTES + CRC_BYTES


class AnyCrc(wiring.Component):
    """Stands for a CRC: the harness says whether it matches, and what it is."""

    def __init__(self) -> None:
        super().__init__({
            "start": In(1), "valid": In(1), "data": In(8), "crc": Out(32),
            "match_detected": Out(1),
        })  # fmt: skip

    def create(self) -> AnyCrc:
        """The processor itself."""
        return self

    def elaborate(self, platform):
        return Module()


class OneByteMemory(wiring.Component):
    """Stands for a memory of which one word, any, is kept; all others are what the harness says."""

    def __init__(self, address: Value, other: Value):
        self._address, self._other = address, other
        self.kept = Signal(8, name="kept")
        super().__init__({})
        width = len(address)
        self._write = wiring.Signature({"en": Out(1), "addr": Out(width), "data": Out(8)}).create()
        self._read = wiring.Signature({"addr": Out(width), "data": In(8)}).create()

    def __call__(self, **arguments: Any) -> OneByteMemory:
        """The memory, whatever its arguments."""
        return self

    def write_port(self) -> Any:
        """The port that writes."""
        return self._write

    def read_port(self) -> Any:
        """The port that reads."""
        return self._read

    def elaborate(self, platform):
        m = Module()
        with m.If(self._write.en & (self._write.addr == self._address)):
            m.d.sync += self.kept.eq(self._write.data)
        is_known = self._read.addr == self._address
        m.d.sync += self._read.data.eq(Mux(is_known, self.kept, self._other))
        return m


class LinkHarness(Harness):
    """A link between such a host, a free memory, free registers and free streams.

    A proof's own class writes ``_elaborate_rules``.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        modules = modules_with(_FILES, case.bug)
        self._module = modules[_FILES[-1]]
        self.link = self._module.Link(HELLO)
        # A search begins after a HELLO, which would be 40 cycles; the proof begins with the reset.
        self._begins = int(case != Case())
        self.link.o_link_up._init = self._begins
        super().__init__(case, {
            "i_valid": In(1), "i_payload": In(8), "i_match": In(1), "i_crc": In(32),
            "i_watch": In(9), "i_other": In(8), "i_ready": In(1), "i_take": In(2),
            "i_offers": In(2), "i_records": In(16).array(2), "i_reply_arrives": In(1),
            "i_awready": In(1), "i_wready": In(1), "i_arready": In(1), "i_bvalid": In(1),
            "i_rvalid": In(1), "i_resp": In(2), "i_rdata": In(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        link, axi = self.link, self.link.m_axil
        self.watch = Signal(9)
        started = Signal()
        m.d.sync += [self.watch.eq(self.i_watch), started.eq(1)]
        m.d.comb += Assume(~started | (self.i_watch == self.watch))
        self.crc, self.memory = AnyCrc(), OneByteMemory(self.i_watch, self.i_other)
        with (
            mock.patch.object(self._module, "CRC32_ISO_HDLC", return_value=self.crc),
            mock.patch.object(self._module, "memory", SimpleNamespace(Memory=self.memory)),
        ):
            self.inner = OpenComponent(link)
        m.submodules.link = self.inner.fragment
        m.d.comb += [
            link.i.valid.eq(self.i_valid), link.i.payload.eq(self.i_payload),
            self.crc.crc.eq(self.i_crc), self.crc.match_detected.eq(self.i_match),
            link.o.ready.eq(self.i_ready),
            axi.awready.eq(self.i_awready), axi.wready.eq(self.i_wready),
            axi.arready.eq(self.i_arready), axi.bvalid.eq(self.i_bvalid),
            axi.rvalid.eq(self.i_rvalid), axi.bresp.eq(self.i_resp), axi.rresp.eq(self.i_resp),
            axi.rdata.eq(self.i_rdata),
            *(port.ready.eq(self.i_take[k]) for k, port in enumerate(link.o_record)),
            *(port.valid.eq(self.i_offers[k]) for k, port in enumerate(link.i_record)),
            *(port.payload.eq(self.i_records[k]) for k, port in enumerate(link.i_record)),
        ]  # fmt: skip
        self.state_of_link = self.inner["fsm_state"]
        # A name that is given to several signals at once is not theirs.
        self.request, self.last, self.index = link._request, link._last, link._index
        self._elaborate_host(m)
        self._elaborate_rules(m)
        return m

    def is_in(self, state: int) -> Value:
        """Whether the link is in a state."""
        return self.state_of_link == state

    def _elaborate_host(self, m: Module) -> None:
        """Number of the host's request, whether it has come, what it was, whether it is answered.

        A frame is the host's request, or the one before if this one has not come yet.
        """
        request, link = self.request, self.link
        self.number = Signal(16, init=self._begins)
        self.seen, self.replied = Signal(), Signal()
        self.kind, self.channel, self.length = Signal(2), Signal(5), Signal(9)
        is_checked = self.is_in(CHECK) & ~request.is_reply
        is_new = request.sequence == self.number
        ends = self.is_in(SEND) & self.i_ready & (link.o.payload == 0x7E)
        #: The host has the reply, and begins its next request.
        self.goes_on = self.i_reply_arrives & self.replied & self.is_in(RECEIVE)
        same = Value.cast(request.kind) == self.kind
        m.d.comb += [
            Assume(
                ~is_checked | is_new | (~self.seen & ((request.sequence + 1)[:16] == self.number))
            ),
            Assume(
                ~(is_checked & is_new & self.seen)
                | (same & (request.channel == self.channel) & (self.index == self.length))
            ),
        ]
        with m.If(is_checked & is_new):
            m.d.sync += [
                self.seen.eq(1), self.kind.eq(request.kind), self.channel.eq(request.channel),
                self.length.eq(self.index),
            ]  # fmt: skip
        with m.If(ends & (self.last == self.number) & link.o_link_up & self.seen):
            m.d.sync += self.replied.eq(1)
        with m.Elif(self.goes_on):
            m.d.sync += [self.number.eq(self.number + 1), self.seen.eq(0), self.replied.eq(0)]
        busy = self.state_of_link >= SEND
        self.host_helps = [
            self.state_of_link <= ACCESS,
            # A request that has come is the last that was executed, unless no HELLO has come.
            ~link.o_link_up | (self.last == (self.number - ~self.seen)[:16]),
            ~busy | link.o_link_up,
            ~(busy & self.seen)
            | ((Value.cast(request.kind) == self.kind) & (request.channel == self.channel)),
            *(
                ~self.is_in(state) | (Value.cast(request.kind) == kind)
                for state, kind in ((PUSH, Kind.PUSH), (PULL, Kind.PULL), (ACCESS, Kind.ACCESS))
            ),
            ~(self.is_in(CHECK)) | ((self.index >= _AROUND) & (self.index <= 256)),
            ~self.replied | (self.seen & link.o_link_up),
        ]

    def _elaborate_rules(self, m: Module) -> None:
        raise NotImplementedError

    def of_host(self, kind: Kind) -> Value:
        """The host's request has come, and is of this kind."""
        return self.seen & (self.kind == kind)
