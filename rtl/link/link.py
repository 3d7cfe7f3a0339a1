"""The device's end of the host link: bytes on one side, streams and registers on the other.

The golden model is ``golden_model.link.device.LinkDevice``.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link import frames
from racetrap.golden_model.link.frames import ESCAPE, FLAG, HEADER_BYTES, MAX_BODY_BYTES, Kind
from racetrap.golden_model.link.hello import Hello
from racetrap.rtl.common.axi import AxiLiteSignature, is_error
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.link.input_queue import InputQueue

#: First bytes of a request in their order; the operand is an access's.
_REQUEST = data.StructLayout(
    {"sequence": 16, "channel": 5, "kind": 2, "is_reply": 1, "address": 16, "data": 32}
)
_AROUND_BYTES = HEADER_BYTES + frames.CRC_BYTES
_ROOM_BYTES = 2


class Link(wiring.Component):
    """Takes frames, executes each request exactly once, and keeps the last reply.

    The link sends bytes only in replies to the host's requests.  A request is executed once its CRC
    is found correct, and not again if it is repeated.

    One request or reply is in flight at a time: bytes that arrive while a request is executed or
    answered are ignored.  A request takes about as many cycles as it and its reply have bytes, an
    access to a register as many as the register takes.  Request and kept reply are the halves of
    one memory; the header and the operand of an access are in flip-flops, too.

    Parameters
    ----------
    hello : Hello
        Identity and sizes of the device.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes from the host.
    o : ``Out(stream.Signature(8))``
        Bytes to the host.
    o_record : ``Out(stream.Signature(8 * input_bytes)).array(inputs)``
        Records from the host.
    i_record : ``In(stream.Signature(8 * output_bytes)).array(outputs)``
        Records for the host; taken only on request.
    m_axil : ``Out(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS))``
        Registers; an access without a response blocks the link permanently.
    o_link_up : ``Out(1)``
        A HELLO was executed since the last reset.
    o_error : ``Out(1)``
        Pulse: something from the line was dropped.
    """

    def __init__(self, hello: Hello):
        self._hello = hello
        super().__init__({
            "i": In(stream.Signature(8, always_ready=True)),
            "o": Out(stream.Signature(8)),
            "o_record": Out(stream.Signature(8 * hello.input_bytes)).array(hello.inputs),
            "i_record": In(stream.Signature(8 * hello.output_bytes)).array(hello.outputs),
            "m_axil": Out(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "o_link_up": Out(1),
            "o_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = self._crc = CRC32_ISO_HDLC().create()
        m.submodules.memory = halves = memory.Memory(shape=8, depth=2 * MAX_BODY_BYTES, init=[])
        self._write, self._read = halves.write_port(), halves.read_port()
        self._request = Signal(_REQUEST)
        self._last, self._is_refused = Signal(16), Signal()  # of the kept reply
        self._end = Signal(9)  # bytes of the kept reply before its CRC
        # Position in the body that is received, executed or sent, now and in the next cycle.
        self._index, self._next_index = Signal(9), Signal(9)
        self._is_escaped = Signal()  # the byte before was an escape
        self._is_sending, self._is_pushing, self._is_pulling = Signal(), Signal(), Signal()
        # The memory shows the byte at the index in every cycle.
        m.d.comb += self._read.addr.eq(Cat(self._next_index[:8], self._is_sending))
        m.d.comb += self._next_index.eq(self._index)
        m.d.sync += self._index.eq(self._next_index)
        self._elaborate_channels(m)
        with m.FSM():
            self._receive_state(m)
            self._check_state(m)
            self._push_state(m)
            self._access_state(m)
            self._append_state(m)
            self._send_state(m)
        return m

    def _elaborate_channels(self, m: Module) -> None:
        channel = self._request.channel
        size, room = self._hello.input_bytes, self._hello.room
        queues = [InputQueue(size, room) for _ in self.o_record]
        for number, queue in enumerate(queues):
            m.submodules[f"queue_{number}"] = queue
            wiring.connect(m, queue.o, wiring.flipped(self.o_record[number]))
            m.d.comb += queue.i.payload.eq(self._read.data)
            m.d.comb += queue.i.valid.eq(self._is_pushing & (channel == number))
        self._room = Array(queue.o_room for queue in queues)[channel]
        self._can_push = Array(queue.i.ready for queue in queues)[channel]
        for number, record in enumerate(self.i_record):
            m.d.comb += record.ready.eq(self._is_pulling & (channel == number))
        self._record = Value.cast(Array(record.payload for record in self.i_record)[channel])
        self._can_pull = Array(record.valid for record in self.i_record)[channel]

    def _receive_state(self, m: Module) -> None:
        """Receive a frame; a flag after a correct one ends it."""
        index, crc, write, request = self._index, self._crc, self._write, self._request
        byte = self.i.payload ^ Mux(self._is_escaped, frames.ESCAPE_MASK, 0)
        is_good = crc.match_detected & (index >= _AROUND_BYTES) & (index <= MAX_BODY_BYTES)
        with m.State("RECEIVE"), m.If(self.i.valid):
            m.d.sync += self._is_escaped.eq(0)
            with m.If(self.i.payload == FLAG):
                m.d.comb += crc.start.eq(1)
                with m.If(is_good & ~self._is_escaped):
                    m.next = "CHECK"
                with m.Else():
                    m.d.comb += self.o_error.eq((index != 0) | self._is_escaped)
                    m.d.comb += self._next_index.eq(0)
            with m.Elif((self.i.payload == ESCAPE) & ~self._is_escaped):
                m.d.sync += self._is_escaped.eq(1)
            with m.Else():
                m.d.comb += [crc.valid.eq(1), crc.data.eq(byte)]
                m.d.comb += [write.en.eq(~index[8]), write.addr.eq(index[:8]), write.data.eq(byte)]
                # The length of an overlong frame saturates one byte above the maximum.
                m.d.comb += self._next_index.eq(index + (index <= MAX_BODY_BYTES))
                with m.If(index < _REQUEST.size // 8):
                    m.d.sync += Value.cast(request).word_select(index[:4], 8).eq(byte)

    def _check_state(self, m: Module) -> None:
        """Decide whether the frame is the next request, a repeat of the last one, or neither."""
        request, axi, hello = self._request, self.m_axil, self._hello
        length, self._left = (self._index - _AROUND_BYTES)[:8], Signal(8)
        steps = (request.sequence - self._last)[:16]
        is_known = (request.kind == Kind.HELLO) | (self.o_link_up & (steps <= 1))
        is_access = (request.kind == Kind.ACCESS) & (request.address < 1 << REGISTER_ADDRESS_BITS)
        is_read = is_access & (length == frames.ADDRESS_BYTES)
        is_write = is_access & (length == frames.ADDRESS_BYTES + frames.DATA_BYTES)
        # For each kind, in order: state that executes it, first position, and requirements.
        states, starts = ("APPEND", "PUSH", "PULL", "ACCESS"), (0, HEADER_BYTES, 0, 0)
        needs = (
            1, (request.channel < hello.inputs) & (length <= self._room),
            request.channel < hello.outputs, is_read | is_write,
        )  # fmt: skip
        with m.State("CHECK"):
            m.d.comb += self._next_index.eq(0)
            m.next = "SEND"
            with m.If(request.is_reply | ~is_known):
                m.d.comb += self.o_error.eq(1)
                m.next = "RECEIVE"
            with m.Elif((request.kind == Kind.HELLO) | (steps == 1)):
                m.d.sync += [
                    self.o_link_up.eq(1), self._last.eq(request.sequence),
                    self._end.eq(HEADER_BYTES), self._left.eq(length), self._is_refused.eq(1),
                    axi.awvalid.eq(is_write), axi.wvalid.eq(is_write), axi.arvalid.eq(is_read),
                ]  # fmt: skip
                with m.Switch(request.kind):
                    for kind, state, start, need in zip(Kind, states, starts, needs, strict=True):
                        with m.Case(kind), m.If(need):
                            m.d.comb += self._next_index.eq(start)
                            m.d.sync += self._is_refused.eq(0)
                            m.next = state

    def _push_state(self, m: Module) -> None:
        """Copy the payload into a queue; the reply is the space left afterwards."""
        with m.State("PUSH"):
            with m.If(self._left == 0):
                m.d.comb += self._next_index.eq(0)
                # Both bytes are sampled at once: the free space grows while they are appended.
                m.d.sync += self._request.data.eq(self._room)
                m.next = "APPEND"
            with m.Else():
                m.d.comb += self._is_pushing.eq(1)
                with m.If(self._can_push):
                    m.d.comb += self._next_index.eq(self._index + 1)
                    m.d.sync += self._left.eq(self._left - 1)

    def _access_state(self, m: Module) -> None:
        axi, request = self.m_axil, self._request
        m.d.comb += [axi.awaddr.eq(request.address), axi.araddr.eq(request.address)]
        m.d.comb += [axi.wdata.eq(request.data), axi.wstrb.eq(~0)]
        m.d.comb += [axi.bready.eq(1), axi.rready.eq(1)]
        with m.State("ACCESS"):
            for channel in ("aw", "w", "ar"):
                with m.If(getattr(axi, f"{channel}ready")):
                    m.d.sync += getattr(axi, f"{channel}valid").eq(0)
            with m.If(axi.bvalid | axi.rvalid):
                has_failed = is_error(Mux(axi.bvalid, axi.bresp, axi.rresp))
                m.d.sync += [self._is_refused.eq(has_failed), request.data.eq(axi.rdata)]
                m.next = "SEND"
                with m.If(axi.rvalid & ~has_failed):
                    m.next = "APPEND"

    def _append_state(self, m: Module) -> None:
        """Append a word to the reply, byte by byte; for PULL as many as there are and fit."""
        request, size, hello = self._request, self._hello.output_bytes, self._hello.to_payload()
        identity = Const(int.from_bytes(hello, "little"), 8 * len(hello))
        # Reply to each kind, in the order of the kinds.
        words = (identity, request.data, self._record, request.data)
        sizes = (len(hello), _ROOM_BYTES, size, frames.DATA_BYTES)
        position = Signal(range(max(sizes)))
        with m.State("PULL"):
            has_space = self._end <= HEADER_BYTES + frames.MAX_PAYLOAD_BYTES - size
            m.next = "SEND"
            with m.If(has_space & self._can_pull):
                m.next = "APPEND"
        with m.State("APPEND"):
            m.d.comb += [
                self._write.en.eq(1),
                self._write.addr.eq(Cat(self._end[:8], Const(1, 1))),
                self._write.data.eq(Array(words)[request.kind].word_select(position, 8)),
            ]
            m.d.sync += [self._end.eq(self._end + 1), position.eq(position + 1)]
            with m.If(position == Array(size - 1 for size in sizes)[request.kind]):
                m.d.sync += position.eq(0)
                m.d.comb += self._is_pulling.eq(request.kind == Kind.PULL)
                m.next = "SEND"
                with m.If(self._is_pulling):
                    m.next = "PULL"

    def _send_state(self, m: Module) -> None:
        """Send the kept reply; header and CRC come from their registers."""
        index, crc = self._index, self._crc
        header = Cat(self._last, self._is_refused, Const(frames.REPLY >> 1, 7))
        place = (index - self._end)[:9]
        is_crc, is_end = index >= self._end, place == frames.CRC_BYTES
        byte = Mux(
            index < HEADER_BYTES, header.word_select(index[:2], 8),
            Mux(is_crc, crc.crc.word_select(place[:2], 8), self._read.data),
        )  # fmt: skip
        needs_escape = ((byte == FLAG) | (byte == ESCAPE)) & ~self._is_escaped
        plain = byte ^ Mux(self._is_escaped, frames.ESCAPE_MASK, 0)
        with m.State("SEND"):
            m.d.comb += [self._is_sending.eq(1), self.o.valid.eq(1), crc.data.eq(byte)]
            m.d.comb += self.o.payload.eq(Mux(is_end, FLAG, Mux(needs_escape, ESCAPE, plain)))
            with m.If(self.o.ready & is_end):
                m.d.comb += [self._next_index.eq(0), crc.start.eq(1)]
                m.next = "RECEIVE"
            with m.Elif(self.o.ready):
                m.d.sync += self._is_escaped.eq(needs_escape)
                with m.If(~needs_escape):
                    m.d.comb += [self._next_index.eq(index + 1), crc.valid.eq(~is_crc)]
