"""The device's end of the host link: a line on one side, streams and registers on the other."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.link.frames import MAX_PAYLOAD_BYTES, PROTOCOL_VERSION, Hello, Status
from racetrap.rtl.common.axi import AxiLiteSignature
from racetrap.rtl.link.counters import LinkCounters
from racetrap.rtl.link.deframer import Deframer
from racetrap.rtl.link.executor import Executor
from racetrap.rtl.link.framer import Framer
from racetrap.rtl.link.input_queue import InputQueue
from racetrap.rtl.link.register_access import RegisterAccess
from racetrap.rtl.link.uart import UartReceiver, UartTransmitter

#: Channels of a direction: each is a byte of the reply to HELLO, and a queue.
_MAX_CHANNELS = 64


class Link(wiring.Component):
    """Everything that is asked over a UART and answered.

    The host asks, the link answers: no byte is sent but in a reply.  A request is executed after
    its CRC was found good, and exactly once.  Records of input channels wait in queues; output
    records are taken only while they are asked for.

    Parameters
    ----------
    system, configuration : int
        What HELLO answers: the system's code, and the 32-bit hash of the parameters.
    input_bits, inputs : int
        Bits of an input record, and input channels.
    output_bits, outputs : int
        Bits of an output record, and output channels.
    address_bits : int
        Bits of a register's address, up to 16.
    divisor : int
        Clock cycles of a bit of the line; at least 8.
    credits : int
        Records that each input queue holds.

    Members
    -------
    i_rx : ``In(1)``
        Line from the host, asynchronous.
    o_tx : ``Out(1)``
        Line to the host.
    o_record : ``Out(stream.Signature(input_bits)).array(inputs)``
        Records from the host.
    i_record : ``In(stream.Signature(output_bits)).array(outputs)``
        Records for the host.
    m_axil : ``Out(AxiLiteSignature(address_bits=address_bits))``
        Registers; an access without a response holds up the link for ever.
    o_link_up : ``Out(1)``
        A good HELLO was executed since the last reset.
    o_error : ``Out(1)``
        Pulse: something from the line was dropped, and counted.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or a record does not fit into a frame.
    """

    def __init__(
        self, *, system: int, configuration: int, input_bits: int, inputs: int, output_bits: int,
        outputs: int, address_bits: int, divisor: int, credits: int = 8,
    ):  # fmt: skip
        check_integer("Link system", system, 0, 255)
        check_integer("Link configuration", configuration, 0, (1 << 32) - 1)
        check_integer("Link input bits", input_bits, 1, 8 * (MAX_PAYLOAD_BYTES - 1))
        check_integer("Link output bits", output_bits, 1, 8 * (MAX_PAYLOAD_BYTES - 2))
        check_integer("Link inputs", inputs, 1, _MAX_CHANNELS)
        check_integer("Link outputs", outputs, 1, _MAX_CHANNELS)
        check_integer("Link address bits", address_bits, 1, 16)
        check_integer("Link credits", credits, 1, 255)
        self._hello = Hello(
            status=Status.OK,
            version=PROTOCOL_VERSION,
            system=system,
            configuration=configuration,
            inputs=inputs,
            input_bytes=-(-input_bits // 8),
            outputs=outputs,
            output_bytes=-(-output_bits // 8),
            credits=(credits,) * inputs,
        )
        self._input_bits, self._output_bits = input_bits, output_bits
        self._address_bits, self._credits = address_bits, credits
        self._receiver = UartReceiver(divisor)
        self._transmitter = UartTransmitter(divisor)
        super().__init__({
            "i_rx": In(1, init=1),
            "o_tx": Out(1, init=1),
            "o_record": Out(stream.Signature(input_bits)).array(inputs),
            "i_record": In(stream.Signature(output_bits)).array(outputs),
            "m_axil": Out(AxiLiteSignature(address_bits=address_bits)),
            "o_link_up": Out(1),
            "o_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.receiver = receiver = self._receiver
        m.submodules.deframer = deframer = Deframer()
        m.submodules.executor = executor = Executor(
            self._hello, output_bits=self._output_bits, address_bits=self._address_bits
        )
        m.submodules.framer = framer = Framer()
        m.submodules.transmitter = transmitter = self._transmitter
        wiring.connect(m, receiver.o, deframer.i)
        wiring.connect(m, deframer.o, executor.i)
        wiring.connect(m, executor.m_payload, deframer.s_payload)
        wiring.connect(m, executor.o, framer.i)
        wiring.connect(m, executor.m_reply, framer.s_payload)
        wiring.connect(m, framer.o, transmitter.i)
        m.d.comb += [
            receiver.i_rx.eq(self.i_rx),
            self.o_tx.eq(transmitter.o_tx),
            self.o_link_up.eq(executor.o_link_up),
        ]
        self._elaborate_channels(m, executor)
        self._elaborate_counters(m, receiver, deframer, executor)
        return m

    def _elaborate_channels(self, m: Module, executor: Executor) -> None:
        """Queues and registers behind the executor."""
        for number, record in enumerate(self.o_record):
            queue = InputQueue(self._input_bits, self._credits)
            m.submodules[f"queue_{number}"] = queue
            wiring.connect(m, executor.o_push[number], queue.i)
            wiring.connect(m, queue.o, wiring.flipped(record))
            m.d.comb += executor.i_credits[number].eq(queue.o_credits)
        for ours, theirs in zip(self.i_record, executor.i_record, strict=True):
            wiring.connect(m, wiring.flipped(ours), theirs)
        m.submodules.registers = registers = RegisterAccess(self._address_bits)
        wiring.connect(m, executor.o_access, registers.i)
        wiring.connect(m, registers.o, executor.i_response)
        wiring.connect(m, registers.m_axil, wiring.flipped(self.m_axil))

    def _elaborate_counters(
        self, m: Module, receiver: UartReceiver, deframer: Deframer, executor: Executor
    ) -> None:
        m.submodules.counters = counters = LinkCounters()
        m.d.comb += [
            counters.i_frames.eq(deframer.o_good),
            counters.i_bad_crc.eq(deframer.o_bad_crc),
            counters.i_bad_length.eq(deframer.o_bad_length),
            counters.i_too_long.eq(deframer.o_too_long),
            counters.i_duplicates.eq(executor.o_duplicate),
            counters.i_gaps.eq(executor.o_gap),
            counters.i_uart_framing.eq(receiver.o_framing),
            counters.i_uart_overrun.eq(receiver.o_overrun),
            counters.i_byte.eq(executor.o_counter),
            executor.i_counter.eq(counters.o_data),
            self.o_error.eq(
                deframer.o_bad_crc | deframer.o_bad_length | deframer.o_too_long
                | executor.o_gap | receiver.o_framing | receiver.o_overrun
            ),
        ]  # fmt: skip
