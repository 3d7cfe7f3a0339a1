"""Metadata accessor: brings the packets of a segment together with their entries, and takes the
results back.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-B.
"""

from __future__ import annotations

from contextlib import nullcontext

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.gpu.params import WORD_BYTES, GpuParams
from racetrap.rtl.common.axi import is_error
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.memory import block_memory
from racetrap.rtl.common.ports import forward_ports
from racetrap.rtl.gpu.entry_writer import EntryWriter, entry_write, lost_bits
from racetrap.rtl.gpu.hazard_window import HazardWindow, slot_bits
from racetrap.rtl.gpu.init_engine import InitEngine
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.region import index_bits, region_layout, segment_address
from racetrap.rtl.gpu.warp_slot import warp_index, warp_slot
from racetrap.rtl.gpu.write_back import WriteBack


def located_segment(params: GpuParams) -> data.StructLayout:
    """A segment's packets and where their metadata is; ``monitored`` is 0 for fences.

    With a table of valid segments also ``bit``, its bit there, and ``is_new``: it is not in memory,
    and all its entries are uninitialised.
    """
    return data.StructLayout({
        **_kept_segment(params).members,
        "is_new": int(params.valid_segments > 0),
        "bit": max(params.valid_segments.bit_length() - 1, 0),
    })  # fmt: skip


def _kept_segment(params: GpuParams) -> data.StructLayout:
    """The low part of a located segment: what is needed of it once it has its entries."""
    return data.StructLayout({
        "segment": struct_layout(params.segment_layout),
        "monitored": 1,
        "index": index_bits(params),
        "tag": params.tag_bits,
    })  # fmt: skip


def located_packet(params: GpuParams) -> data.StructLayout:
    """A bank's packet of a segment, if it ``is_present``; a port's only bank has one always.

    A bank without a packet passes its entry on as it is.
    """
    return data.StructLayout({
        "packet": struct_layout(params.packet_layout),
        "is_present": int(params.words_per_cycle > 1),
        "monitored": 1,
        "index": index_bits(params),
        "tag": params.tag_bits,
    })  # fmt: skip


def is_present(params: GpuParams, located: data.View) -> Value:
    """Whether a bank has a packet of its own in a segment."""
    return located.is_present if params.words_per_cycle > 1 else Const(1)


def packet_with_entry(params: GpuParams) -> data.StructLayout:
    """A packet on its way into its bank's check pipeline.

    ``entry`` was read from memory (with ``read_error`` if that failed).  If ``is_forwarded``, the
    packet's entry is instead the result of slot ``source``; ``result`` is that result unless the
    slot is still in the pipeline or has left it in this cycle, and ``result_lost`` is set if the
    read for that slot failed.  ``entry_owner`` and ``result_owner`` are the warp slots of their
    owners, if the check looks them up.  If banks share the place where, ``is_access`` tells early
    that the packet is an access and present.
    """
    owner = warp_slot(params) if params.looks_up_owners else 0
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "entry_owner": owner,
        "is_access": int(params.shares_owners),
        "read_error": 1,
        "is_forwarded": 1,
        "source": slot_bits(params),
        "result": struct_layout(params.entry_layout),
        "result_lost": lost_bits(params),
        "result_owner": owner,
    })  # fmt: skip


def checked_packet(params: GpuParams) -> data.StructLayout:
    """Result of a check pipeline: the entry after the access, and whether to write it."""
    return data.StructLayout({
        "slot": slot_bits(params),
        "index": index_bits(params),
        "entry": struct_layout(params.entry_layout),
        "lost": lost_bits(params),
        "changed": 1,
    })  # fmt: skip


class MetadataAccessor(wiring.Component):
    """Reads entries through AXI4, keeps packets in order, forwards results, writes them back.

    Up to ``outstanding`` segments are in flight.  Throughput is one segment a cycle.  Read data may
    come in any order: the read id is the slot.  A read answered with an error gives entries of 0
    and ``read_error``, also to packets that take them from a segment in flight; until an access
    overwrites such an entry it counts as lost, and its word in memory is not written.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_port : ``In(range(metadata_ports))``
        Number of the port for the initialisation, a constant.
    i : ``In(stream.Signature(located_segment(params)))``
        Segments in order.
    o : ``Out(stream.Signature(packet_with_entry(params), always_ready=True)).array(words)``
        Their packets in the same order, with their entries: one for each bank of the port.
    i_checked : ``In(stream.Signature(checked_packet(params), always_ready=True)).array(words)``
        Checked packets, in the same order.
    i_hold : ``In(1)``
        No packet may follow at ``o`` in the next cycle; only with ``holds_checks``.  If banks share
        the place where they look up owners, those at ``o`` stay.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory: single-beat transfers of a segment's entries.
    i_region, i_entries_log2 : ``In(region_layout(params))``, ``In(address_bits.bit_length())``
        Monitored region, and log2 of its entries; of a table the former alone.
    i_clear : ``In(1)``
        Pulse: make all entries of the port uninitialised, once nothing is in flight.
    o_busy : ``Out(1)``
        High while entries are being initialised; no packet is taken.
    o_idle : ``Out(1)``
        Nothing is in flight.
    o_write_error : ``Out(1)``
        Pulse: a write has been answered with an error.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        words = params.words_per_cycle
        size = {"i_entries_log2": In(params.address_bits.bit_length())}
        super().__init__({
            "i_port": In(range(params.metadata_ports)),
            "i": In(stream.Signature(located_segment(params))),
            "o": Out(stream.Signature(packet_with_entry(params), always_ready=True)).array(words),
            "i_checked": In(
                stream.Signature(checked_packet(params), always_ready=True)
            ).array(words),
            **({"i_hold": In(1)} if params.holds_checks else {}),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            **(size if params.regions == 1 else {}),
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
        if self._params.valid_segments:
            m.d.comb += window.i.p.is_new.eq(self.i.p.is_new)
        if self._params.holds_checks:
            m.d.comb += window.i_hold.eq(self.i_hold)
        self._elaborate_reads(m, window)
        self._elaborate_slots(m, window)
        self._elaborate_writes(m, window)
        return m

    def _elaborate_reads(self, m, window):
        """AXI4 read channels."""
        axi, params = self.m_axi, self._params
        m.d.comb += [
            axi.arvalid.eq(window.o_read.valid),
            window.o_read.ready.eq(axi.arready),
            axi.arid.eq(window.o_read.p.slot),
            axi.araddr.eq(segment_address(params, self.i_region, window.o_read.p.index)),
            axi.arsize.eq(params.segment_bytes.bit_length() - 1),
            axi.arburst.eq(AxiBurst.INCR),
            axi.rready.eq(1),
            window.i_answered.valid.eq(axi.rvalid),
            window.i_answered.payload.eq(axi.rid),
        ]

    def _elaborate_slots(self, m, window):
        """Contents of the slots, in memories: the segment, the entries read, the results."""
        params, axi = self._params, self.m_axi
        first, words, depth = self.i_checked[0].p, params.words_per_cycle, params.outstanding
        answer = data.StructLayout({
            "entries": data.ArrayLayout(params.entry_bits, words), "read_error": 1,
        })  # fmt: skip
        # No word is used that was read at the clock edge of a write to its slot.
        m.submodules.packets = segments = block_memory(_kept_segment(params), depth)
        m.submodules.answers = answers = block_memory(answer, depth)
        m.submodules.results = results = block_memory(entry_write(params), depth)
        segment_in, segment_out = segments.write_port(), segments.read_port()
        answer_in, answer_out = answers.write_port(), answers.read_port()
        result_in, result_out = results.write_port(), results.read_port()
        self._result_out = results.read_port()
        taken = Signal(data.StructLayout({
            "valid": 1, "slot": slot_bits(params), "is_forwarded": 1, "source": slot_bits(params),
            "is_new": int(params.valid_segments > 0),
        }))  # fmt: skip
        failed = is_error(axi.rresp)
        slot, source = window.o_check_slot, window.o_check_source
        if params.shares_owners:
            # Read again, a result that has come meanwhile included.
            slot, source = (
                Mux(self.i_hold, taken.slot, slot),
                Mux(self.i_hold, taken.source, source),
            )
        m.d.comb += [
            segment_in.en.eq(self.i.valid & self.i.ready),
            segment_in.addr.eq(window.o_slot),
            segment_in.data.eq(self.i.p),
            answer_in.en.eq(axi.rvalid),
            answer_in.addr.eq(axi.rid),
            answer_in.data.entries.eq(axi.rdata & ~failed.replicate(params.entry_bits * words)),
            answer_in.data.read_error.eq(failed),
            result_in.en.eq(self.i_checked[0].valid),
            result_in.addr.eq(first.slot),
            result_in.data.index.eq(first.index),
            segment_out.addr.eq(slot),
            answer_out.addr.eq(slot),
            result_out.addr.eq(source),
        ]
        for lane, checked in enumerate(self.i_checked):
            m.d.comb += [
                result_in.data.entries[lane].eq(checked.p.entry),
                result_in.data.lost[lane].eq(checked.p.lost),
            ]
        follows = m.If(~self.i_hold) if params.shares_owners else nullcontext()
        with follows:
            m.d.sync += [
                taken.valid.eq(window.o_check),
                taken.slot.eq(window.o_check_slot),
                taken.is_forwarded.eq(window.o_check_forwarded),
                taken.source.eq(window.o_check_source),
            ]
            if params.valid_segments:
                m.d.sync += taken.is_new.eq(window.o_check_new)
        read_owners = self._elaborate_owners(m, "answer_owners", answer_in, answer_out)
        result_owners = self._elaborate_owners(m, "result_owners", result_in, result_out)
        if params.shares_owners:
            self._elaborate_accesses(m, segment_in, segment_out)
        for lane, port in enumerate(self.o):
            output = port.p
            entry, read_error = answer_out.data.entries[lane], answer_out.data.read_error
            if params.valid_segments:
                entry = Mux(taken.is_new, params.uninitialised_entry, entry)
                read_error &= ~taken.is_new
            m.d.comb += [
                port.valid.eq(taken.valid),
                self._take_packet(output.located, segment_out.data, lane),
                output.slot.eq(taken.slot),
                output.entry.eq(entry),
                *self._owner_of(output.entry_owner, read_owners, lane, taken.is_new),
                output.read_error.eq(read_error & ~taken.is_forwarded),
                output.is_forwarded.eq(taken.is_forwarded),
                output.source.eq(taken.source),
                output.result.eq(result_out.data.entries[lane]),
                output.result_lost.eq(result_out.data.lost[lane]),
                *self._owner_of(output.result_owner, result_owners, lane),
            ]

    def _take_packet(self, located, given, lane: int):
        """Statements that make a bank's packet from the bank's lane of a segment."""
        params = self._params
        low = params.granularity_bits - (WORD_BYTES.bit_length() - 1)
        high, word = low + params.lane_bits, given.segment.word
        fields = (name for name in params.packet_layout.fields if name != "word")
        statements = [located.packet[name].eq(given.segment[name]) for name in fields]
        if params.words_per_cycle > 1:
            is_fence = given.segment.kind == EventKind.FENCE
            number = Mux(is_fence, word[low:high], Const(lane, params.lane_bits))
            word = Cat(word[:low], number, word[high:])
            statements.append(located.is_present.eq(is_fence | given.segment.lanes[lane]))
        return [
            *statements,
            located.packet.word.eq(word),
            located.monitored.eq(given.monitored),
            located.index.eq(given.index),
            located.tag.eq(given.tag),
        ]

    def _elaborate_owners(self, m, name, write, read):
        """Keep the owners of the entries in a faster memory beside that of the slots.

        Block RAM answers too late to look up what is kept for the owner in the same cycle.
        """
        params = self._params
        if not params.looks_up_owners:
            return None
        owners = data.ArrayLayout(warp_slot(params), params.words_per_cycle)
        memory = Memory(shape=owners, depth=params.outstanding, init=[])
        m.submodules[name] = memory
        write_owners, read_owners = memory.write_port(), memory.read_port()
        for owner, written in zip(write_owners.data, write.data.entries, strict=True):
            entry = Signal(struct_layout(params.entry_layout))
            m.d.comb += [entry.eq(written), warp_index(params, owner, entry)]
        m.d.comb += [
            write_owners.en.eq(write.en),
            write_owners.addr.eq(write.addr),
            read_owners.addr.eq(read.addr),
        ]
        return read_owners.data

    def _elaborate_accesses(self, m, write, read):
        """Keep which banks have an access as ``_elaborate_owners`` keeps owners."""
        words = self._params.words_per_cycle
        m.submodules.accesses = memory = Memory(
            shape=words, depth=self._params.outstanding, init=[]
        )
        write_accesses, read_accesses = memory.write_port(), memory.read_port()
        m.d.comb += [
            write_accesses.en.eq(write.en),
            write_accesses.addr.eq(write.addr),
            write_accesses.data.eq(write.data.segment.lanes),
            read_accesses.addr.eq(read.addr),
            *(port.p.is_access.eq(read_accesses.data[lane]) for lane, port in enumerate(self.o)),
        ]

    def _owner_of(self, port, owners, lane: int, is_new=None):
        """Statements that set ``port`` to the owner of a bank's entry, if owners are kept."""
        if owners is None:
            return []
        may_be_new = self._params.valid_segments and is_new is not None
        return [port.eq(Mux(is_new, 0, owners[lane]) if may_be_new else owners[lane])]

    def _elaborate_writes(self, m, window):
        """AXI4 write channels: initialisation, or results."""
        params = self._params
        m.submodules.write_back = write_back = WriteBack(params)
        m.submodules.init = init = InitEngine(params)
        m.submodules.writer = writer = EntryWriter(params)
        forward_ports(m, self.m_axi, writer.m_axi, *writer.m_axi.signature.members)
        m.d.comb += [
            init.i_port.eq(self.i_port),
            writer.i_region.eq(self.i_region),
            self.o_write_error.eq(writer.o_error),
            write_back.i_checked.valid.eq(self.i_checked[0].valid),
            write_back.i_checked.payload.eq(Cat(lane.p.changed for lane in self.i_checked).any()),
            write_back.i_result.eq(self._result_out.data),
            self._result_out.en.eq(write_back.o_read.valid),
            self._result_out.addr.eq(write_back.o_read.payload),
            window.i_retire.eq(write_back.o_retire),
            init.i_region.eq(self.i_region)
            if params.regions > 1
            else init.i_entries_log2.eq(self.i_entries_log2),
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
