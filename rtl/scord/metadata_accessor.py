"""Metadata accessor: brings each packet together with its entry, and takes the result back.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-B.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.scord.params import ENTRY_BITS, ENTRY_BYTES, ScordParams
from racetrap.rtl.common.axi import is_error
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.memory import block_memory
from racetrap.rtl.common.ports import forward_ports
from racetrap.rtl.scord.entry_writer import EntryWriter, entry_write
from racetrap.rtl.scord.fence_file import fence_slot, warp_index
from racetrap.rtl.scord.hazard_window import HazardWindow, slot_bits
from racetrap.rtl.scord.init_engine import InitEngine
from racetrap.rtl.scord.metadata_port import metadata_port
from racetrap.rtl.scord.region import entry_address, index_bits, region_layout
from racetrap.rtl.scord.write_back import WriteBack

__all__ = ["MetadataAccessor", "checked_packet", "located_packet", "packet_with_entry"]


def located_packet(params: ScordParams) -> data.StructLayout:
    """A packet and where its metadata is; ``monitored`` is 0 for fences."""
    return data.StructLayout({
        "packet": struct_layout(params.packet_layout),
        "monitored": 1,
        "index": index_bits(params),
        "tag": params.tag_bits,
    })  # fmt: skip


def packet_with_entry(params: ScordParams) -> data.StructLayout:
    """A packet on its way into the check pipeline.

    ``entry`` was read from memory (or that failed: ``read_error``).  If ``is_forwarded``, the
    packet's entry is instead the result of slot ``source``; ``result`` is that result unless the
    slot is still in the pipeline or has left it in this cycle.  ``entry_owner`` and
    ``result_owner`` are the places of their owners' fence counters.
    """
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "entry_owner": fence_slot(params),
        "read_error": 1,
        "is_forwarded": 1,
        "source": slot_bits(params),
        "result": struct_layout(params.entry_layout),
        "result_owner": fence_slot(params),
    })  # fmt: skip


def checked_packet(params: ScordParams) -> data.StructLayout:
    """What the check pipeline gives back: the entry left behind, and whether to write it."""
    return data.StructLayout({
        "slot": slot_bits(params),
        "index": index_bits(params),
        "entry": struct_layout(params.entry_layout),
        "changed": 1,
    })  # fmt: skip


class MetadataAccessor(wiring.Component):
    """Reads entries through AXI4, keeps packets in order, forwards results, writes them back.

    Up to ``outstanding`` packets are in flight.  Throughput is one packet a cycle.  Read data may
    come in any order: the read id is the slot.  A read that is answered with an error gives the
    entry 0 and ``read_error``.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    bank : int
        Number of the bank, for the initialisation.

    Members
    -------
    i : ``In(stream.Signature(located_packet(params)))``
        Packets in order.
    o : ``Out(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets in the same order, with their entries.
    i_checked : ``In(stream.Signature(checked_packet(params), always_ready=True))``
        Checked packets, in the same order.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory: single-beat 64-bit transfers.
    i_region, i_entries_log2 : ``In(region_layout(params))``, ``In(address_bits.bit_length())``
        Monitored region, and log2 of its entries.
    i_clear : ``In(1)``
        Pulse: make all entries of the bank uninitialised, once nothing is in flight.
    o_busy : ``Out(1)``
        High while entries are being initialised; no packet is taken.
    o_idle : ``Out(1)``
        Nothing is in flight.
    o_write_error : ``Out(1)``
        Pulse: a write has been answered with an error.
    """

    def __init__(self, params: ScordParams, bank: int):
        self._params = params
        self._bank = bank
        super().__init__({
            "i": In(stream.Signature(located_packet(params))),
            "o": Out(stream.Signature(packet_with_entry(params), always_ready=True)),
            "i_checked": In(stream.Signature(checked_packet(params), always_ready=True)),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            "i_entries_log2": In(params.address_bits.bit_length()),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_write_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.window = window = HazardWindow(self._params)
        m.d.comb += [
            window.i.valid.eq(self.i.valid & ~self.o_busy),
            self.i.ready.eq(window.i.ready & ~self.o_busy),
            window.i.p.monitored.eq(self.i.p.monitored),
            window.i.p.index.eq(self.i.p.index),
            self.o_idle.eq(window.o_idle & ~self.o_busy),
        ]
        self._elaborate_reads(m, window)
        self._elaborate_slots(m, window)
        self._elaborate_writes(m, window)
        return m

    def _elaborate_reads(self, m, window):
        """AXI4 read channels."""
        axi = self.m_axi
        m.d.comb += [
            axi.arvalid.eq(window.o_read.valid),
            window.o_read.ready.eq(axi.arready),
            axi.arid.eq(window.o_read.p.slot),
            axi.araddr.eq(entry_address(self.i_region, window.o_read.p.index)),
            axi.arsize.eq(ENTRY_BYTES.bit_length() - 1),
            axi.arburst.eq(AxiBurst.INCR),
            axi.rready.eq(1),
            window.i_answered.valid.eq(axi.rvalid),
            window.i_answered.payload.eq(axi.rid),
        ]

    def _elaborate_slots(self, m, window):
        """What the slots hold, in memories: the packet, what was read, the result."""
        params, axi = self._params, self.m_axi
        output, checked = self.o.p, self.i_checked.p
        depth = params.outstanding
        answer = data.StructLayout({"entry": ENTRY_BITS, "read_error": 1})
        # None is read at the edge of a write of the same slot, or it is not used.
        m.submodules.packets = packets = block_memory(located_packet(params), depth)
        m.submodules.answers = answers = block_memory(answer, depth)
        m.submodules.results = results = block_memory(entry_write(params), depth)
        packet_in, packet_out = packets.write_port(), packets.read_port()
        answer_in, answer_out = answers.write_port(), answers.read_port()
        result_in, result_out = results.write_port(), results.read_port()
        self._result_out = results.read_port()
        failed = is_error(axi.rresp)
        m.d.comb += [
            packet_in.en.eq(self.i.valid & self.i.ready),
            packet_in.addr.eq(window.o_slot),
            packet_in.data.eq(self.i.p),
            answer_in.en.eq(axi.rvalid),
            answer_in.addr.eq(axi.rid),
            answer_in.data.entry.eq(axi.rdata & ~failed.replicate(ENTRY_BITS)),
            answer_in.data.read_error.eq(failed),
            result_in.en.eq(self.i_checked.valid),
            result_in.addr.eq(checked.slot),
            result_in.data.entry.eq(checked.entry),
            result_in.data.index.eq(checked.index),
            packet_out.addr.eq(window.o_check_slot),
            answer_out.addr.eq(window.o_check_slot),
            result_out.addr.eq(window.o_check_source),
            self._elaborate_owners(m, "answer_owners", answer_in, answer_out, output.entry_owner),
            self._elaborate_owners(m, "result_owners", result_in, result_out, output.result_owner),
            output.located.eq(packet_out.data),
            output.entry.eq(answer_out.data.entry),
            output.read_error.eq(answer_out.data.read_error & ~output.is_forwarded),
            output.result.eq(result_out.data.entry),
        ]
        m.d.sync += [
            self.o.valid.eq(window.o_check),
            output.slot.eq(window.o_check_slot),
            output.is_forwarded.eq(window.o_check_forwarded),
            output.source.eq(window.o_check_source),
        ]

    def _elaborate_owners(self, m, name, write, read, owner):
        """Keep of the entries in a memory of the slots also whose they are, in one that is fast.

        Block RAM answers too late to look up the owner's fence counters in the same cycle.
        """
        params = self._params
        memory = Memory(shape=fence_slot(params), depth=params.outstanding, init=[])
        m.submodules[name] = memory
        write_owner, read_owner = memory.write_port(), memory.read_port()
        entry = Signal(struct_layout(params.entry_layout))
        return [
            entry.eq(write.data.entry),
            write_owner.en.eq(write.en),
            write_owner.addr.eq(write.addr),
            warp_index(params, write_owner.data, entry),
            read_owner.addr.eq(read.addr),
            owner.eq(read_owner.data),
        ]

    def _elaborate_writes(self, m, window):
        """AXI4 write channels: initialisation, or results."""
        params = self._params
        m.submodules.write_back = write_back = WriteBack(params)
        m.submodules.init = init = InitEngine(params, self._bank)
        m.submodules.writer = writer = EntryWriter(params)
        forward_ports(m, self.m_axi, writer.m_axi, *writer.m_axi.signature.members)
        m.d.comb += [
            writer.i_region.eq(self.i_region),
            self.o_write_error.eq(writer.o_error),
            write_back.i_checked.valid.eq(self.i_checked.valid),
            write_back.i_checked.payload.eq(self.i_checked.p.changed),
            write_back.i_result.eq(self._result_out.data),
            self._result_out.en.eq(write_back.o_read.valid),
            self._result_out.addr.eq(write_back.o_read.payload),
            window.i_retire.eq(write_back.o_retire),
            init.i_entries_log2.eq(self.i_entries_log2),
        ]

        # Results in flight are written before anything is cleared.
        clear_waits = Signal()
        with m.If(self.i_clear):
            m.d.sync += clear_waits.eq(1)
        with m.Elif(init.i_start):
            m.d.sync += clear_waits.eq(0)
        m.d.comb += [
            init.i_start.eq(clear_waits & window.o_idle),
            self.o_busy.eq(clear_waits | init.o_busy),
            init.i_done.eq(writer.o_done),
        ]
        with m.If(init.o_busy):
            connect(m, init.o, writer.i)
        with m.Else():
            connect(m, write_back.o, writer.i)
            m.d.comb += write_back.i_done.eq(writer.o_done)
