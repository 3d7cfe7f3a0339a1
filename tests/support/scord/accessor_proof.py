"""Harness for proofs on the metadata accessor: its memory port, and what is unanswered there.

A write, any write, is followed from the moment at which the memory takes its address to its answer.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.gpu.params import ENTRY_BITS
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.entry_writer import entry_write
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import located_segment
from racetrap.rtl.gpu.region import index_bits, region_layout, segment_address
from tests.support.formal.axi import keeps_page, stays
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with
from tests.support.scord.window_slots import SlotEvents, Slots, window_helps

_FILES = tuple(
    f"gpu/{name}.py"
    for name in (
        "hazard_window", "entry_writer", "write_back", "init_engine", "metadata_accessor"
    )
)  # fmt: skip
#: Configuration of the proofs, and what they say of it.
ACCESSOR = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, outstanding=4, local_bytes=64,
    address_bits=16, pc_bits=8,
)  # fmt: skip
ACCESSOR_SIZES = "4 slots, 8 entries, 16 address bits"


class _SmallTable(ScordParams):
    """Parameters with a table of less than a row, which only its own block looks at."""

    def _check_valid_segments(self) -> None:
        return


#: The same with segments of two words, and without merging.
WIDE_ACCESSOR = replace(ACCESSOR, banks=2, words_per_cycle=2, local_bytes=128)
APART_ACCESSOR = replace(ACCESSOR, merge_in_flight=False)
#: The same, and the first four entries have a bit in a table of valid segments.
ACCESSOR_WITH_TABLE = _SmallTable(**{**asdict(ACCESSOR), "valid_segments": 4})


class AccessorHarness(Harness):
    """A metadata accessor with free segments, a free memory and a free check pipeline.

    The memory answers reads in any order and writes in theirs, each once, after it took them.  The
    pipeline gives packets back in order, after any time, and changes entries of monitored ones.

    Parameters
    ----------
    params : ScordParams
        Configuration, of one region.
    case : Case
        What is asked.
    rules : str
        ``"port"``: AXI's rules of the port; ``"order"``: no read beside an unanswered write;
        ``"valid"``: no read of a segment that has a bit before it was written.
    """

    def __init__(self, params: ScordParams, case: Case, rules: str):
        self._params, self._chosen = params, rules
        modules = modules_with(_FILES, case.bug)
        for module in modules.values():
            if hasattr(module, "Memory"):
                module.Memory = OpenMemory
        accessor = modules[_FILES[-1]]
        accessor.block_memory = lambda shape, depth: OpenMemory(shape=shape, depth=depth, init=[])
        self._accessor = accessor.MetadataAccessor(params)
        super().__init__(case, {
            "i_valid": In(1), "i_segment": In(located_segment(params)),
            "i_checked": In(1), "i_changed": In(params.words_per_cycle),
            "i_entry": In(ENTRY_BITS), "i_lost": In(1),
            "i_arready": In(1), "i_rvalid": In(1), "i_rid": In(slot_bits(params)),
            "i_awready": In(1), "i_wready": In(1), "i_bvalid": In(1),
            "i_region": In(region_layout(params)),
            "i_entries_log2": In((index_bits(params) + params.lane_bits).bit_length()),
            "i_clear": In(1),
            "i_pick": In(1),
            **({"i_hold": In(1)} if params.holds_checks else {}),
            **({"i_followed": In(index_bits(params))} if params.valid_segments else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        accessor, axi = self._accessor, self._accessor.m_axi
        self._inner = inner = OpenComponent(accessor)
        m.submodules.accessor = inner.fragment
        self._slots = slots = Slots(m, self._params, SlotEvents(
            claims=self.i_valid & accessor.i.ready, monitored=self.i_segment.monitored,
            index=self.i_segment.index, reads=axi.arvalid & self.i_arready, read_slot=axi.arid,
            answers=self.i_rvalid, answer_slot=self.i_rid,
            checks=inner["window.o_check"], retires=inner["write_back.o_retire"],
            new=self.i_segment.is_new if self._params.valid_segments else None,
        ))  # fmt: skip
        #: Ids of reads that the memory has taken and not answered.
        self._reads = Signal(slots.count)
        self._connect(m)
        self._follow_packets(m)
        self._follow_writes(m)
        if self._params.valid_segments:
            self._follow_segment(m)
        choices = {"port": self._port_rules, "order": self._order_rules, "valid": self._valid_rules}
        rules = choices[self._chosen](m)
        helps = [*window_helps(inner, slots, "window."), *self._helps()]
        if self._params.valid_segments:
            helps += self._valid_helps()
        self.state(m, *rules, helps)
        return m

    def _connect(self, m: Module) -> None:
        accessor, axi = self._accessor, self._accessor.m_axi
        m.d.comb += [
            accessor.i.valid.eq(self.i_valid),
            accessor.i.payload.eq(self.i_segment),
            accessor.i_region.eq(self.i_region),
            accessor.i_entries_log2.eq(self.i_entries_log2),
            accessor.i_clear.eq(self.i_clear),
            axi.arready.eq(self.i_arready),
            axi.rvalid.eq(self.i_rvalid),
            axi.rid.eq(self.i_rid),
            axi.awready.eq(self.i_awready),
            axi.wready.eq(self.i_wready),
            axi.bvalid.eq(self.i_bvalid),
            # A launch begins after the one before.
            Assume(~(self.i_clear & accessor.o_busy)),
            Assume(~self.i_rvalid | self._reads.bit_select(self.i_rid, 1)),
        ]
        if self._params.holds_checks:
            m.d.comb += accessor.i_hold.eq(self.i_hold)
        begun = (1 << axi.arid) & (axi.arvalid & self.i_arready).replicate(len(self._reads))
        ended = (1 << self.i_rid) & self.i_rvalid.replicate(len(self._reads))
        m.d.sync += self._reads.eq(self._reads & ~ended | begun)
        # The region stays as it is; its metadata are as many whole segments as indices can name.
        region, entries, started = (
            Signal.like(self.i_region), Signal.like(self.i_entries_log2), Signal()
        )  # fmt: skip
        base, lane_bits = self.i_region.metadata_base, self._params.lane_bits
        metadata_bits = index_bits(self._params) + self._params.segment_bytes.bit_length() - 1
        m.d.sync += [region.eq(self.i_region), entries.eq(self.i_entries_log2), started.eq(1)]
        m.d.comb += [
            Assume(~started | (Value.cast(self.i_region) == Value.cast(region))),
            Assume(~started | (self.i_entries_log2 == entries)),
            Assume(self.i_entries_log2 >= lane_bits),
            Assume(self.i_entries_log2 <= index_bits(self._params) + lane_bits),
            Assume((base & (self._params.segment_bytes - 1)) == 0),
            Assume(base[metadata_bits:] != -1),
        ]

    def _follow_packets(self, m: Module) -> None:
        """The pipeline: packets that came out and have not been given back."""
        accessor, slots = self._accessor, self._slots
        self._out, self._back = Signal.like(slots.claimed), Signal.like(slots.claimed)
        number, changed = self._back[:-1], self.i_checked & self.i_changed.any()
        left = accessor.o[0].valid
        if self._params.holds_checks:
            # What is held stays there, and has not left.
            left &= ~self.i_hold
        m.d.sync += [
            self._out.eq(self._out + left),
            self._back.eq(self._back + self.i_checked),
        ]
        for lane, checked in enumerate(accessor.i_checked):
            m.d.comb += [
                checked.valid.eq(self.i_checked),
                checked.p.slot.eq(number),
                checked.p.index.eq(slots.indices[number]),
                checked.p.entry.eq(self.i_entry),
                checked.p.lost.eq(self.i_lost),
                checked.p.changed.eq(self.i_changed[lane]),
            ]
        m.d.comb += [
            Assume(~self.i_checked | (self._back != self._out)),
            Assume(~changed | slots.monitored.bit_select(number, 1)),
        ]

    def _follow_writes(self, m: Module) -> None:
        axi = self._accessor.m_axi
        bits = index_bits(self._params) + 3
        taken = self._inner["writer.i__ready"] & (
            self._inner["init.sending"] | self._inner["write_back.result_waits"]
        )
        items, addresses, words, answers = (
            Signal(bits, name=f"{name}_count") for name in ("item", "address", "word", "answer")
        )
        address_taken, word_taken = axi.awvalid & self.i_awready, axi.wvalid & self.i_wready
        m.d.sync += [
            items.eq(items + taken),
            addresses.eq(addresses + address_taken),
            words.eq(words + word_taken),
            answers.eq(answers + self.i_bvalid),
        ]
        m.d.comb += Assume(~self.i_bvalid | ((answers != addresses) & (answers != words)))
        self._items, self._addresses, self._answers = items, addresses, answers
        self._words = words
        self._open = (items - answers)[:bits]
        # The write that is followed, and how many answers come up to its own.
        self._awaited, self._picked = Signal(bits), Signal.like(axi.awaddr)
        m.d.sync += self._awaited.eq(self._awaited - (self.i_bvalid & (self._awaited != 0)))
        with m.If(self.i_pick & address_taken & (self._awaited == 0)):
            m.d.sync += [
                self._picked.eq(axi.awaddr),
                self._awaited.eq(addresses - answers + 1 - self.i_bvalid),
            ]

    def _follow_segment(self, m: Module) -> None:
        """A segment, any that has a bit: whether it was asked for, and written, since the launch.

        It is new if it was not asked for, as the table's own proof says; the first access to it
        changes an entry.  A launch begins while nothing is in flight.
        """
        accessor, axi, slots = self._accessor, self._accessor.m_axi, self._slots
        started, followed = Signal(), Signal.like(self.i_followed)
        segment, number = self.i_segment, self._back[:-1]
        self._place = self._address(self.i_followed)
        self._claimed, self._written = Signal(name="was_claimed"), Signal(name="was_written")
        m.d.sync += [started.eq(1), followed.eq(self.i_followed)]
        is_it = segment.monitored & (segment.index == self.i_followed)
        m.d.comb += [
            Assume(~started | (followed == self.i_followed)),
            Assume(self.i_followed < self._params.valid_share),
            Assume(segment.monitored | ~segment.is_new),
            Assume(~is_it | (segment.is_new == ~self._claimed)),
            Assume(~self.i_clear | (accessor.o_idle & ~self.i_valid)),
            Assume(~(self.i_checked & slots.new.bit_select(number, 1)) | self.i_changed.any()),
        ]
        with m.If(self.i_clear):
            m.d.sync += [self._claimed.eq(0), self._written.eq(0)]
        with m.Else():
            with m.If(self.i_valid & accessor.i.ready & is_it):
                m.d.sync += self._claimed.eq(1)
            with m.If(axi.awvalid & self.i_awready & (axi.awaddr == self._place)):
                m.d.sync += self._written.eq(1)

    def _valid_rules(self, m: Module):
        axi, slots = self._accessor.m_axi, self._slots
        reads = axi.arvalid & (axi.araddr == self._place)
        rules = [
            ~reads | self._written,
            # Whose bit is set was written, or is held by the window.
            ~self._claimed | self._written | Cat(map(self._holds, range(slots.count))).any(),
        ]
        events = {
            "read-once-written": reads,
            "held-and-not-written": self._claimed & ~self._written & self.i_valid,
            "launched-again": self.i_clear & self._written,
        }  # fmt: skip
        return rules, events

    def _holds(self, slot) -> Value:
        slots = self._slots
        is_monitored = slots.is_live(slot) & slots.monitored[slot]
        return is_monitored & (slots.indices[slot] == self.i_followed)

    def _valid_helps(self) -> list[Value]:
        """What always holds between the slots, their writes, and the segment that is followed."""
        inner, slots = self._inner, self._slots
        helps, awaits = [], []
        for slot in range(slots.count):
            is_it, is_first = self._holds(slot), slots.new[slot] & ~slots.origins[slot].any()
            is_back = slots.is_between(slot, slots.retired, self._back)
            changed = inner[f"write_back.changed.row_{slot}"]
            helps += [
                ~is_it | self._claimed,
                ~(is_it & slots.wants[slot]) | self._written,
                ~(is_it & self._loaded[slot] & (self._order[slot] <= self._begun)) | self._written,
            ]
            awaits.append(is_it & is_first & (~is_back | changed))
        return [*helps, ~self._claimed | self._written | Cat(awaits).any()]

    def _port_rules(self, m: Module):
        axi = self._accessor.m_axi
        rules = [
            stays(m, axi, "ar", "addr", "id", "len", "size", "burst"),
            stays(m, axi, "aw", "addr", "id", "len", "size", "burst"),
            stays(m, axi, "w", "data", "strb", "last"),
            keeps_page(axi, "ar", 1),
            keeps_page(axi, "aw", 1),
            ~axi.arvalid | ~self._reads.bit_select(axi.arid, 1),
            ~axi.awvalid | (axi.awid == 0),
            ~axi.wvalid | axi.wlast,
            axi.rready & axi.bready,
        ]
        events = {
            "four-reads": self._reads.all(),
            "both-wait": axi.arvalid & ~self.i_arready & axi.awvalid & ~self.i_awready,
        }
        return rules, events

    def _order_rules(self, m: Module):
        axi = self._accessor.m_axi
        rules = [
            ~axi.arvalid | (self._awaited == 0) | (axi.araddr != self._picked),
            ~axi.arvalid | ~axi.awvalid | (axi.araddr != axi.awaddr),
        ]
        again = Signal()
        with m.If((self._awaited == 1) & self.i_bvalid):
            m.d.sync += again.eq(1)
        events = {
            "read-beside-a-write": axi.arvalid & (self._awaited != 0),
            "read-after-the-answer": (
                axi.arvalid & again & (self._awaited == 0) & (axi.araddr == self._picked)
            ),
        }  # fmt: skip
        return rules, events

    def _helps(self) -> list[Value]:
        """What always holds between the accessor's registers and what is followed."""
        inner, slots, params = self._inner, self._slots, self._params
        count, bits = slots.count, len(slots.claimed)

        def distance(position):
            return (position - slots.retired)[:bits]

        passed, back = inner["write_back.passed"], inner["write_back.checked"]
        result_waits, init_busy = inner["write_back.result_waits"], inner["init.o_busy"]
        answered, entries_bits = inner["write_back.answers"], len(self.i_entries_log2)
        sending = inner["init.sending"]
        changed = [
            inner[f"write_back.changed.row_{slot}"] & slots.is_between(slot, slots.retired, back)
            for slot in range(count)
        ]
        loaded = [
            change & slots.is_between(slot, slots.retired, passed)
            for slot, change in enumerate(changed)
        ]
        #: Writes up to that of a slot, itself included.
        order = [
            sum(
                other & (slots.place(number) <= slots.place(slot))
                for number, other in enumerate(loaded)
            )
            for slot in range(count)
        ]
        total = sum(loaded)
        self._loaded, self._order = loaded, order
        address_waits, entry_waits = inner["writer.address_waits"], inner["writer.entry_waits"]
        sent = (self._addresses - self._answers)[: len(self._items)]
        #: Writes of slots whose address the memory has taken.
        self._begun = Mux(init_busy, 0, answered + sent)
        helps = [
            self._reads == slots.unanswered,
            inner["write_back.retired"] == slots.retired,
            back == self._back,
            distance(passed) <= distance(back),
            distance(back) <= distance(self._out),
            distance(self._out) <= distance(slots.checked),
            (slots.checked - self._out)[:bits] == inner["taken"][0],
            Mux(init_busy, inner["init.unanswered"], total - answered - result_waits) == self._open,
            Mux(init_busy, 1, answered + result_waits + address_waits <= total),
            ~init_busy | ((slots.claimed == slots.retired) & ~result_waits & (answered == 0)),
            ~sending | init_busy,
            init_busy | (inner["init.unanswered"] == 0),
            ~(inner["clear_waits"] & init_busy),
            inner["init.index"] <= 1 << index_bits(params),
            ~init_busy | (inner["init.unanswered"] <= inner["init.index"]),
            ~sending
            | (inner["init.index"] < 1 << (self.i_entries_log2 - params.lane_bits)[:entries_bits]),
            (self._items - self._addresses)[: len(self._items)] == address_waits,
            (self._items - self._words)[: len(self._items)] == entry_waits,
            sent <= (1 << index_bits(params)),
            self._open <= (1 << index_bits(params)),
            sent + address_waits == self._open,
            self._awaited <= sent,
        ]
        written_index = self._index_of(inner["writer.write"])
        result_index = self._index_of(inner["i_result"])
        of_writer = total - result_waits
        for slot in range(count):
            index = slots.indices[slot]
            is_back = slots.is_between(slot, slots.retired, back)
            row_index = self._index_of(inner[f"results.row_{slot}"])
            helps += [
                ~is_back | (row_index == index),
                ~changed[slot] | slots.monitored[slot],
                ~(loaded[slot] & result_waits & (order[slot] == total)) | (result_index == index),
                init_busy | ~(loaded[slot] & address_waits & (order[slot] == of_writer))
                | (written_index == index),
                init_busy
                | ~(loaded[slot] & (self._awaited != 0) & (order[slot] == answered + self._awaited))
                | (self._picked == self._address(index)),
            ]  # fmt: skip
        return helps

    def _address(self, index) -> Value:
        address = segment_address(self._params, self.i_region, index)
        return address[: self._params.address_bits]

    def _index_of(self, write) -> Value:
        return data.View(entry_write(self._params), write).index
