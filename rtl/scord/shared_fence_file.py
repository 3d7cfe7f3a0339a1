"""Shared fence file: the fence counters of a metadata port, once for all its banks.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.memory import block_memory
from racetrap.rtl.gpu.warp_slot import warp_slot
from racetrap.rtl.scord.fence_counters import fence_counters
from racetrap.rtl.scord.fence_file import fence_file_members


def bank_lookup(params: ScordParams) -> wiring.Signature:
    """What a bank looks up: members as of a ``FenceFile`` of its own, and those of a shared one.

    Members
    -------
    i_asks : ``In(1)``
        With ``i_owner``: the bank has an access, for which the owner is looked up.
    i_needs, i_follows : ``In(1)``
        In the cycle after: the bank has an access with an entry, and that is the result of the
        packet just ahead.
    o_wait : ``Out(1)``
        In that cycle: counters are missing, and the packets of all banks stay for another cycle.
    """
    return wiring.Signature({
        **fence_file_members(params),
        "i_asks": In(1), "i_needs": In(1), "i_follows": In(1), "o_wait": Out(1),
    })  # fmt: skip


class _FenceLane:
    """Counters of a fence lane in several memories, and the fence that changes them."""

    def __init__(self, m: Module, params: ScordParams, number: int):
        self._params, counters = params, fence_counters(params)
        sms = -(-params.sm_count // params.fence_lanes)
        self.depth = sms << params.warp_bits - params.fence_part_bits
        # A value read at the clock edge of a write of the same warp is never used.
        self.memories = [
            block_memory(counters, self.depth) for _ in range(1 << params.fence_part_bits)
        ]
        for part, memory in enumerate(self.memories):
            m.submodules[f"memory_{number}_{part}"] = memory
        self.own, self.answered, self.written_slot = (
            Signal(warp_slot(params), name=f"{name}_{number}")
            for name in ("own", "answered", "written_slot")
        )
        self.fence, self.written = (
            Signal(name=f"{name}_{number}") for name in ("fence", "written")
        )
        self.looked_up, self.counted, self.written_value = (
            Signal(counters, name=f"{name}_{number}")
            for name in ("looked_up", "counted", "written_value")
        )

    def elaborate(self, m: Module, scope: Value, given: Value, waits: Value) -> None:
        """Look up the warp that accesses or fences, and count the fence."""
        params, part = self._params, self._params.fence_part_bits
        address = Signal.like(self.own, name="address")
        m.d.comb += [
            # Counters are looked up again while packets wait.
            address.eq(Mux(waits, self.own, given)),
            self.counted.blk.eq(self.looked_up.blk + (self.fence & (scope == Scope.BLOCK))),
            self.counted.dev.eq(self.looked_up.dev + (self.fence & (scope == Scope.DEVICE))),
        ]
        answers = []
        for memory in self.memories:
            port = memory.read_port()
            m.d.comb += port.addr.eq(place_of(params, address))
            answers.append(port.data)
        is_newer, newer = self.newer(self.own)
        m.d.sync += [
            self.own.eq(address),
            self.answered.eq(self.own),
            self.written.eq(self.fence),
            self.written_slot.eq(self.answered),
            self.written_value.eq(self.counted),
            self.looked_up.eq(Mux(is_newer, newer, pick(answers, self.own.warp[:part]))),
        ]

    def counts_now(self, warp: Value) -> Value:
        """Whether a fence of a warp is counted in this cycle."""
        return self.fence & (self.answered == warp)

    def newer(self, warp: Value) -> tuple[Value, Value]:
        """Whether a fence changes what the memory answers for a warp in this cycle, and to what."""
        now = self.counts_now(warp)
        value = Mux(now, Value.cast(self.counted), Value.cast(self.written_value))
        return now | (self.written & (self.written_slot == warp)), value

    def elaborate_writes(self, m: Module, clearing: Value, is_busy: Value) -> None:
        """Fences, and the reset."""
        params, part = self._params, self._params.fence_part_bits
        for number, memory in enumerate(self.memories):
            port = memory.write_port()
            is_here = self.answered.warp[:part] == number
            m.d.comb += [
                port.en.eq(self.fence & is_here | is_busy),
                port.addr.eq(Mux(is_busy, clearing, place_of(params, self.answered))),
                port.data.eq(Mux(is_busy, 0, self.counted)),
            ]


def place_of(params: ScordParams, warp: Value) -> Value:
    """Address of a warp's counters in their memory."""
    return Cat(warp.warp[params.fence_part_bits :], warp.sm[params.fence_lane_bits :])


def pick(values, number: Value) -> Value:
    """One of a power of two of values, which may have no bits."""
    first, *others = (Value.cast(value) for value in values)
    has_choice = others and len(first)
    return Cat(first, *others).word_select(number, len(first)) if has_choice else first


class SharedFenceFile(wiring.Component):
    """Looks up the warp that accesses and the owners of a segment's entries, or counts fences.

    Timing is that of ``FenceFile``, whose members each bank has.  A memory answers for one owner a
    cycle.  The first bank's owner in each memory is looked up at once, and with it all that are the
    same warp.  While counters of another owner are missing, the packets wait, two cycles for each
    such owner of the memory that has most of them.  An owner is also missing if the bank's entry
    comes from a packet in the pipeline that had no access in this bank, and so did not look it up.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    banks : ``Out(bank_lookup(params)).array(words_per_cycle)``
        For each bank what it looks up.  Warp, fences and ``i_clear`` are taken from the first.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({"banks": Out(bank_lookup(params)).array(params.words_per_cycle)})

    def elaborate(self, platform):
        m = Module()
        params = self._params
        waits = Signal()
        self._lanes = [_FenceLane(m, params, number) for number in range(params.fence_lanes)]
        self._elaborate_fences(m, waits)
        memories = [memory for lane in self._lanes for memory in lane.memories]
        ports = [memory.read_port() for memory in memories]
        addresses = [Signal.like(port.addr, name=f"asked_{k}") for k, port in enumerate(ports)]
        owners = [
            Signal(warp_slot(params), name=f"owner_{number}") for number in range(len(self.banks))
        ]
        missing = Signal(len(self.banks))
        is_left = Signal(len(self.banks))
        has_asked = Signal()
        m.d.comb += waits.eq(missing.any())
        m.d.sync += [is_left.eq(missing), has_asked.eq(~waits | is_left.any())]
        given = self._first_of_each(m, "given", [bank.i_owner for bank in self.banks],
                                    [bank.i_asks for bank in self.banks])  # fmt: skip
        left = self._first_of_each(m, "left", owners, list(is_left))
        for port, asked, now, later in zip(ports, addresses, given, left, strict=True):
            m.d.comb += port.addr.eq(Mux(waits, later, now))
            m.d.sync += asked.eq(port.addr)
        answers = [port.data for port in ports]
        for number, (bank, owner) in enumerate(zip(self.banks, owners, strict=True)):
            memory = Cat(owner.warp[: params.fence_part_bits], owner.sm[: params.fence_lane_bits])
            asked = has_asked & (pick(addresses, memory) == place_of(params, owner))
            is_known = self._elaborate_owner(m, bank, owner, asked, pick(answers, memory), waits)
            m.d.comb += [missing[number].eq(bank.i_needs & ~is_known), bank.o_wait.eq(waits)]
        return m

    def _elaborate_fences(self, m, waits):
        """Warps that access or fence, fences, and the reset."""
        first, depth = self.banks[0], self._lanes[0].depth
        clearing = Signal(unsigned(depth.bit_length()), init=depth)
        is_busy = Signal()
        with m.If(first.i_clear):
            m.d.sync += clearing.eq(0)
        with m.Elif(is_busy):
            m.d.sync += clearing.eq(clearing + 1)
        m.d.comb += is_busy.eq(clearing != depth)
        own_lane = Signal(self._params.fence_lane_bits)
        m.d.sync += own_lane.eq(self._lanes[0].own.sm)
        own = pick([lane.counted for lane in self._lanes], own_lane)
        for number, lane in enumerate(self._lanes):
            m.d.comb += lane.fence.eq(first.i_fence[number])
            lane.elaborate(m, first.i_scope[number], first.i_own[number], waits)
            lane.elaborate_writes(m, clearing, is_busy)
        for bank in self.banks:
            m.d.comb += [
                bank.o_busy.eq(is_busy),
                Value.cast(bank.o_own).eq(own),
                *(fenced.eq(lane.counted) for fenced, lane in zip(
                    bank.o_fenced, self._lanes, strict=True)),
            ]  # fmt: skip

    def _first_of_each(self, m, name, owners, asks):
        """For each memory the address of the first owner in it for which a bank asks."""
        params = self._params
        addresses = []
        for lane in range(params.fence_lanes):
            for part in range(1 << params.fence_part_bits):
                found, places = Const(0), []
                for owner, is_asked in zip(owners, asks, strict=True):
                    is_here = Signal(name=f"{name}_here")
                    m.d.comb += is_here.eq(
                        is_asked
                        & (owner.warp[: params.fence_part_bits] == part)
                        & (owner.sm[: params.fence_lane_bits] == lane)
                    )
                    place = place_of(params, owner)
                    places.append(place & (is_here & ~found).replicate(len(place)))
                    found = found | is_here
                address = Signal(len(places[0]), name=f"{name}_address")
                for place in places[1:]:
                    places[0] = places[0] | place
                m.d.comb += address.eq(places[0])
                addresses.append(address)
        return addresses

    def _elaborate_owner(self, m, bank, owner, asked, answer, waits):
        """Register the counters of a bank's owner; returns whether they are known."""
        is_kept, is_known, was_known, known_before, is_asked = (
            Signal(name=name)
            for name in ("is_kept", "is_known", "was_known", "known_before", "is_asked")
        )
        late, low = bank.i_late_owner, self._params.fence_lane_bits
        late_fenced = Cat(lane.counts_now(late) for lane in self._lanes).any()
        late_counted = pick([lane.counted for lane in self._lanes], late.sm[:low])
        newers = [lane.newer(owner) for lane in self._lanes]
        is_newer = Cat(found for found, _ in newers).any()
        newer = pick([value for _, value in newers], owner.sm[:low])
        m.d.comb += [
            is_asked.eq(asked),
            is_known.eq(
                Mux(bank.i_late, known_before, Mux(bank.i_follows, was_known, is_asked | is_kept))
            ),
        ]
        m.d.sync += [was_known.eq(is_known), known_before.eq(was_known)]
        with m.If(~waits):
            m.d.sync += [owner.eq(bank.i_owner), is_kept.eq(0)]
        with m.Elif(bank.i_late):
            m.d.sync += [owner.eq(bank.i_late_owner), is_kept.eq(known_before)]
        with m.Elif(~bank.i_follows):
            m.d.sync += is_kept.eq(is_kept | is_asked)
        counters = Value.cast(bank.o_owner)
        kept = Signal.like(counters, name="kept")
        m.d.comb += counters.eq(kept)
        with m.If(bank.i_late):
            m.d.sync += kept.eq(Mux(late_fenced, late_counted, Value.cast(bank.i_late_counters)))
        with m.Elif(~is_kept):
            m.d.sync += kept.eq(Mux(is_newer, newer, answer))
        return is_known
