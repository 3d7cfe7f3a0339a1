"""Harness for a proof on the method: no race is reported if the memory model orders the accesses.

Three warps, two of them in one block, do anything with two words, an event a cycle.  The entries of
both words, the warps' order and the decision are those of the hardware.  What the collector tells
is said by its rules for tables that are neither too small nor ever say more than they were given,
of one arbitrary warp up to one arbitrary clock.  Beside it stands the order of the memory model for
the accesses of that warp and clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import FenceOrder, PacketKind, SizeCode
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import access_layout, describe
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

ENTRY, ORDER, LOGIC = (
    f"causality/{name}.py" for name in ("entry", "warp_order", "detection_logic")
)
_FILES = ("causality/access.py", ENTRY, ORDER, LOGIC)
_WORDS = 2


class OrderHarness(Harness):
    """Three warps, each of one lane, and all that orders them but ``fence.sc`` and operations.

    Parameters
    ----------
    params : CausalityParams
        Configuration: two SMs of two warps and one block.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        self._warps = [0, 1, params.warp_id(1, 0)]
        self._blocks = [params.block_id(warp >> params.warp_bits, 0) for warp in self._warps]
        self._modules = modules_with(_FILES, case.bug)
        super().__init__(case, {
            # An access, a fence or a barrier; its warp by number, and its word.
            "i_event": In(range(3)), "i_warp": In(range(3)), "i_word": In(range(_WORDS)),
            "i_kind": In(2), "i_strong": In(1), "i_device": In(1), "i_order": In(2),
            # By how much an acquire or a barrier raises the clock, and what else is known.
            "i_raise": In(2), "i_knows": In(2),
            "i_whose": In(range(3)), "i_clock": In(params.clock_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._elaborate_state(m)
        is_access, is_fence, is_barrier = (self.i_event == number for number in range(3))
        started, fixed = Signal(), Cat(self.i_whose, self.i_clock)
        first = Signal(len(fixed))
        m.d.sync += [started.eq(1), first.eq(fixed)]
        m.d.comb += [
            Assume((self.i_event < 3) & (self.i_warp < 3) & (self.i_whose < 3)),
            Assume((self.i_clock != 0) & (self.i_kind <= PacketKind.ATOMIC)),
            Assume(~started | (fixed == first)),
            # An atomic is strong.
            Assume((self.i_kind != PacketKind.ATOMIC) | self.i_strong),
        ]
        rules, events = self._elaborate_access(m, is_access)
        self._elaborate_fence(m, is_fence)
        self._elaborate_barrier(m, is_barrier)
        self.state(m, rules, events, self._helps())
        return m

    def _elaborate_state(self, m: Module) -> None:
        params = self._params

        def of_each(name: str, bits: int = 1, init: int = 0) -> Array:
            return Array(Signal(bits, init=init, name=f"{name}_{n}") for n in range(3))

        clock = params.clock_bits
        # What trackers and the collector have of each warp; of tables whether they have the access.
        self._clock = of_each("clock", clock, 1)
        self._released, self._released_device = of_each("released"), of_each("released_device")
        self._release, self._release_device = (
            of_each(name, clock) for name in ("release", "release_device")
        )
        self._bar = of_each("bar", clock)
        self._know, self._here, self._far, self._through = (
            of_each(name) for name in ("know", "here", "far", "through")
        )
        self._through_blocks = of_each("through_blocks", 2)
        self._entries = Array(
            Signal(struct_layout(params.entry_layout), name=f"entry_{word}")
            for word in range(_WORDS)
        )
        # The memory model: whether what a warp does comes behind the access, what it has released,
        # and what it has read and not yet acquired; and the message in each word.
        self._behind = of_each("behind")
        self._out, self._out_device = of_each("out"), of_each("out_device")
        self._read, self._read_device = of_each("read"), of_each("read_device")
        self._message = Array(Signal(2, name=f"message_{word}") for word in range(_WORDS))
        self._message_device = Array(
            Signal(name=f"message_device_{word}") for word in range(_WORDS)
        )
        last = data.StructLayout({"exists": 1, "warp": 2, "strong": 1, "device": 1})
        self._last = Array(Signal(last, name=f"last_{word}") for word in range(_WORDS))

    def _block(self, warp: Value) -> Value:
        """Number of a warp's block, 0 or 1."""
        return warp[1]

    def _comes_behind(self, warp: Value) -> Value:
        """Whether what a warp does from now on comes behind all accesses in question."""
        is_own = warp == self.i_whose
        return Mux(is_own, self._clock[warp] >= self.i_clock, self._behind[warp])

    # Accesses ---------------------------------------------------------------------------

    def _elaborate_access(self, m: Module, is_access: Value) -> tuple[list[Value], dict]:
        warp, word = self.i_warp, self.i_word
        before, after, logic, update = self._elaborate_check(m)
        with m.If(is_access):
            m.d.sync += self._entries[word].eq(after.as_value())
        self._elaborate_notice(m, is_access, before, logic, update)
        self._elaborate_model(m, is_access)
        last = data.View(self._last[0].shape(), self._last[word])
        writes, rules, found = self.i_kind != PacketKind.LOAD, [], []
        for number, name in enumerate(("writer", "reader")):
            side = before[name]
            against = is_access & logic.o_against[number] & self._is_it(side)
            is_strong = (
                side.strong
                & self.i_strong
                & ((self._block(side.warp) == self._block(warp)) | (side.device & self.i_device))
            )
            rules += [
                ~against | ~self._comes_behind(warp),
                ~against | (side.warp != warp),
                ~against | ((writes | (number == 0)) & ~is_strong),
            ]
            found.append(against)
        meets = is_access & self._is_it(before.writer) & ~self.i_strong & self._behind[warp]
        through = self._message[word][0] & (last.warp == 2) & (warp == 1) & (self.i_whose == 0)
        events = {
            "race-with-a-writer": found[0] & (warp == 2),
            "race-with-a-reader": found[1] & (warp == 0),
            "ordered-by-a-message": meets & (warp == 2) & (self.i_whose == 0),
            "ordered-by-a-chain": meets & (warp == 2) & (self.i_whose == 0)
            & (self._clock[0] == self._release[0] + 1) & ~self._released_device[0],
            "through-another-block": is_access & through & logic.o_met & self.i_strong,
        }  # fmt: skip
        return rules, events

    def _is_it(self, side: Any) -> Value:
        """Whether a side of an entry is one of the accesses in question."""
        return side.bytes.any() & (side.warp == self.i_whose) & (side.clock == self.i_clock)

    def _elaborate_check(self, m: Module) -> tuple[Any, Any, Any, Any]:
        """The hardware's check of an access, without its stages."""
        params, modules, warp = self._params, self._modules, self.i_warp
        packet = Signal(struct_layout(params.packet_layout), name="packet")
        access = Signal(access_layout(params), name="access")
        found = Signal(struct_layout(params.entry_layout), name="found")
        m.d.comb += [
            packet.kind.eq(self.i_kind), packet.warp.eq(warp),
            packet.block.eq(Array(self._blocks)[warp]),
            packet.writes.eq(self.i_kind != PacketKind.LOAD),
            packet.strong.eq(self.i_strong), packet.named.eq(self.i_strong),
            packet.device.eq(self.i_device), packet.size.eq(SizeCode.FOUR), packet.bytes.eq(15),
            packet.word.eq(self.i_word), packet.lanes.eq(1), packet.clock.eq(self._clock[warp]),
            packet.released.eq(self._released[warp]),
            packet.released_device.eq(self._released_device[warp]),
            *describe(access, packet, Const(0, params.tag_bits)),
        ]  # fmt: skip
        m.submodules.update = update = modules[ENTRY].EntryUpdate(params)
        m.submodules.logic = logic = modules[LOGIC].DetectionLogic(params)
        m.d.comb += [
            found.eq(self._entries[self.i_word]),
            update.i_access.eq(access), update.i_found.eq(found),
            Value.cast(update.i_match).eq(
                modules[ENTRY].entry_match(access, found, Const(1), update.i_epoch)
            ),
            logic.i_access.eq(access), logic.i_before.eq(update.o_before),
        ]  # fmt: skip
        for number, name in enumerate(("writer", "reader")):
            m.submodules[f"{name}_order"] = order = modules[ORDER].WarpOrder(params)
            side = update.o_before[name]
            knows = Mux(self._is_it(side), self._know[warp], self.i_knows[number])
            row = order.i_row
            m.d.comb += [
                Value.cast(order.i_side).eq(Value.cast(side)[: params.side_layout.width]),
                order.i_access.eq(access),
                row.start.eq(1), row.lanes_before.eq(1), row.bar.eq(self._bar[warp]),
                row.know.lossy.eq(-1),
                row.know.bits.eq(knows.replicate(params.hash_bits)),
                getattr(logic, f"i_{name}").eq(order.o),
            ]  # fmt: skip
        return update.o_before, update.o_after, logic, update

    def _elaborate_notice(self, m: Module, is_access, before, logic, update) -> None:
        """What the collector's rules make of an access that meets a message or takes one on."""
        warp, writer = self.i_warp, before.writer
        other, mine = writer.warp[:2], self._block(self.i_warp)
        near = self._block(other) == mine
        has_message = is_access & before.message.any() & (other != warp)
        finds = has_message & (self.i_kind != PacketKind.STORE) & self.i_strong
        met, took_on = finds & logic.o_met, has_message & update.o_took_on
        passes = met | took_on
        known = self._know[other] | self._here[other] | self._far[other]
        bar = (self._block(other) == self._block(self.i_whose)) & (self.i_clock <= self._bar[other])

        def learnt(release: Value) -> Value:
            at = (writer.clock - 1)[: len(writer.clock)]
            stamp = Mux(at < release, at, release)
            of_writer = (other == self.i_whose) & (self.i_clock <= stamp)
            return of_writer | known | (~near & bar)

        in_block, on_device = learnt(self._release[other]), learnt(self._release_device[other])
        through, blocks = self._through[other], self._through_blocks[other]
        takes_through = (finds | passes) & blocks.any()
        here = (
            (met & near & in_block) | (took_on & near & writer.released & in_block)
            | (takes_through & through & blocks.bit_select(mine, 1))
        )  # fmt: skip
        far = (met & ~near & on_device) | (took_on & ~near & writer.released_device & on_device)
        passed = took_on & ~near & writer.released
        m.d.sync += [
            self._here[warp].eq(self._here[warp] | here),
            self._far[warp].eq(self._far[warp] | far),
            self._through[warp].eq(
                self._through[warp] | (takes_through & through) | (passed & in_block)
            ),
            self._through_blocks[warp].eq(
                self._through_blocks[warp] | (blocks & takes_through.replicate(2))
                | Mux(passed, 1 << self._block(other), 0)
            ),
        ]  # fmt: skip

    def _elaborate_model(self, m: Module, is_access: Value) -> None:
        """Messages of the memory model: writes behind a release fence, and chains of atomics."""
        warp, word, mine = self.i_warp, self.i_word, self._block(self.i_warp)
        last = data.View(self._last[0].shape(), self._last[word])
        is_near = self._block(last.warp) == mine
        observes = last.exists & last.strong & self.i_strong & (
            is_near | (last.device & self.i_device)
        )  # fmt: skip
        reads, writes = self.i_kind != PacketKind.STORE, self.i_kind != PacketKind.LOAD
        goes_on = (self.i_kind == PacketKind.ATOMIC) & observes
        message, on_device = self._message[word], self._message_device[word]
        own = Mux(self.i_strong & self._out[warp], 1 << mine, 0)
        with m.If(is_access & reads & observes):
            m.d.sync += [
                self._read[warp].eq(self._read[warp] | message.bit_select(mine, 1)),
                self._read_device[warp].eq(self._read_device[warp] | (on_device & self.i_device)),
            ]
        with m.If(is_access & writes):
            m.d.sync += [
                self._last[word].eq(Cat(Const(1, 1), warp, self.i_strong, self.i_device)),
                self._message[word].eq(Mux(goes_on, message, 0) | own),
                self._message_device[word].eq(
                    (goes_on & on_device) | (self.i_strong & self.i_device & self._out_device[warp])
                ),
            ]

    # Fences and barriers ----------------------------------------------------------------

    def _elaborate_fence(self, m: Module, is_fence: Value) -> None:
        warp, device, clock = self.i_warp, self.i_device, self._clock[self.i_warp]
        acquires = is_fence & (self.i_order != FenceOrder.RELEASE)
        releases = is_fence & (self.i_order != FenceOrder.ACQUIRE)
        raised, last = clock + Mux(acquires, self.i_raise, 0), self._params.last_clock
        m.d.comb += Assume(~is_fence | (raised + releases <= last))
        taken = self._here[warp] | (device & self._far[warp])
        behind = Mux(
            acquires,
            self._behind[warp] | self._read[warp] | (device & self._read_device[warp]),
            self._behind[warp],
        )
        # A warp of its own is known by its row's clocks.
        is_own = warp == self.i_whose
        with m.If(acquires):
            m.d.sync += [
                self._know[warp].eq((self._know[warp] | taken) & ~is_own), self._here[warp].eq(0),
                self._behind[warp].eq(behind),
            ]  # fmt: skip
            with m.If(device):
                m.d.sync += self._far[warp].eq(0)
            self._elaborate_return(m, warp, is_own & taken)
        with m.If(is_fence):
            m.d.sync += clock.eq(raised + releases)
        with m.If(releases):
            released = Mux(is_own, clock >= self.i_clock, behind)
            m.d.sync += [
                self._release[warp].eq(raised), self._released[warp].eq(1),
                self._out[warp].eq(released),
            ]  # fmt: skip
            with m.If(device):
                m.d.sync += [
                    self._release_device[warp].eq(raised), self._released_device[warp].eq(1),
                    self._out_device[warp].eq(released),
                ]  # fmt: skip

    def _elaborate_return(self, m: Module, warp: Value, returns: Value) -> None:
        """What has come back to its own warp goes on with that warp's messages."""
        for release in (self._release, self._release_device):
            with m.If(returns & (release[warp] < self.i_clock)):
                m.d.sync += release[warp].eq(self.i_clock)

    def _elaborate_barrier(self, m: Module, is_barrier: Value) -> None:
        """The two warps of the first block meet."""
        pair = (Const(0, 2), Const(1, 2))
        one, other = self._clock[0], self._clock[1]
        top = Mux(one < other, other, one)
        m.d.comb += Assume(~is_barrier | (top + 1 + self.i_raise <= self._params.last_clock))
        behind = self._comes_behind(pair[0]) | self._comes_behind(pair[1])
        with m.If(is_barrier):
            for number, warp in enumerate(pair):
                m.d.sync += [
                    *(
                        table[number].eq(table[0] | table[1])
                        for table in (self._here, self._far, self._through, self._through_blocks)
                    ),
                    self._know[number].eq(
                        (self._know[0] | self._know[1]) & (warp != self.i_whose)
                    ),
                    self._bar[number].eq(top),
                    self._clock[number].eq(top + 1 + self.i_raise),
                    self._behind[number].eq(behind),
                ]  # fmt: skip
                knows = self._know[0] | self._know[1]
                self._elaborate_return(m, warp, knows & (warp == self.i_whose))

    def _helps(self) -> Sequence[Value]:
        """What warps carry includes what the memory model says of them, and so do messages."""
        helps: list[Value] = [self._bar[0] == self._bar[1], self._bar[2] == 0]
        for number in range(3):
            warp = Const(number, 2)
            is_own, known = self.i_whose == warp, self._orders(warp)
            clock, whose = self._clock[number], self.i_clock
            helps += [
                is_own | ~self._behind[number] | known,
                is_own | ~self._read[number] | self._here[number] | known,
                is_own | ~self._read_device[number] | self._here[number] | self._far[number]
                | known,
                *(
                    ~out | (released & Mux(is_own, release >= whose, known))
                    for out, released, release in (
                        (self._out[number], self._released[number], self._release[number]),
                        (self._out_device[number], self._released_device[number],
                         self._release_device[number]),
                    )
                ),
                ~is_own | ~self._know[number],
                self._release[number] < clock, self._bar[number] < clock,
                self._release_device[number] <= self._release[number],
                ~self._released_device[number] | self._released[number],
                clock <= self._params.last_clock,
            ]  # fmt: skip
        # What anybody knows has been released, or was before a barrier.
        tables = (self._know, self._here, self._far, self._through)
        claimed = Cat(table[number] for table in tables for number in range(3)).any()
        left = self._release[self.i_whose], self._bar[self.i_whose]
        helps.append(~claimed | (self.i_clock <= left[0]) | (self.i_clock <= left[1]))
        for word in range(_WORDS):
            helps += self._helps_of(word)
        return helps

    def _orders(self, warp: Value) -> Value:
        """Whether a warp's row orders the accesses in question."""
        is_near = self._block(warp) == self._block(self.i_whose)
        return self._know[warp] | (is_near & (self.i_clock <= self._bar[warp]))

    def _helps_of(self, word: int) -> list[Value]:
        """What holds of a word's entry and of its message."""
        entry = self._entries[word]
        last = data.View(self._last[0].shape(), self._last[word])
        writer, warp = entry.writer, entry.writer.warp[:2]
        at = (writer.clock - 1)[: len(writer.clock)]
        is_whose = warp == self.i_whose
        carries = self._orders(warp) | self._here[warp]
        on_device = Mux(
            is_whose, (self.i_clock <= at) & (self.i_clock <= self._release_device[warp]), 0
        ) | carries | self._far[warp]  # fmt: skip
        in_block = Mux(
            is_whose, (self.i_clock <= at) & (self.i_clock <= self._release[warp]), 0
        ) | carries  # fmt: skip
        has = entry.message.all()
        helps = [
            Cat(entry.epoch, entry.tag, entry.lost, entry.unknown, entry.mixed) == 0,
            entry.message.any() == has,
            last.exists == writer.bytes.all(),
            ~last.exists | Cat(warp == last.warp, writer.strong == last.strong,
                               writer.device == last.device).all(),
            ~has | (last.exists & writer.strong),
            ~self._message_device[word] | (has & writer.released_device & on_device),
        ]  # fmt: skip
        for block in range(2):
            is_near = self._block(warp) == block
            passes = self._through[warp] & self._through_blocks[warp].bit_select(block, 1)
            helps.append(
                ~self._message[word][block]
                | (has & writer.released & Mux(is_near, in_block, passes))
            )
        for side in (writer, entry.reader):
            place = side.warp[:2]
            helps += [
                side.bytes.any() == side.bytes.all(),
                ~side.bytes.any()
                | ((side.warp < 3) & (side.slot == 0) & (side.size == SizeCode.FOUR)
                   & (side.lane == 0) & ~side.several & (side.named == side.strong)
                   & (side.clock != 0) & (side.sc == 0)
                   & (side.clock <= self._clock[place])),
            ]  # fmt: skip
        helps.append(writer.bytes.any() | (Value.cast(writer) == 0))
        # A warp's message that comes behind its own accesses was written behind them.
        comes = self._message[word].any() | self._message_device[word]
        helps += [~comes | ~is_whose | (self.i_clock <= at)]
        helps += [~writer.operation, ~writer.released_device | writer.released]
        return helps
