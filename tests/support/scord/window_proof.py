"""Harness for a proof on the hazard window: slots, what they hold, and where it comes from."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.region import index_bits
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with
from tests.support.scord.window_slots import SlotEvents, Slots, window_helps

_FILE = "gpu/hazard_window.py"


class WindowHarness(Harness):
    """A hazard window with a free memory and pipeline, and a list of what its slots hold.

    The memory answers what it was asked, once, in any order; slots are checked before they retire.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        module = modules_with([_FILE], case.bug)[_FILE]
        module.Memory = OpenMemory
        self._window = module.HazardWindow(params)
        super().__init__(case, {
            "i_valid": In(1), "i_monitored": In(1), "i_index": In(index_bits(params)),
            "i_read_ready": In(1), "i_answered": In(1),
            "i_answer": In(len(self._window.o_slot)), "i_retire": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        window = self._window
        inner = OpenComponent(window)
        m.submodules.window = inner.fragment
        m.d.comb += [
            window.i.valid.eq(self.i_valid),
            window.i.p.monitored.eq(self.i_monitored),
            window.i.p.index.eq(self.i_index),
            window.o_read.ready.eq(self.i_read_ready),
            window.i_answered.valid.eq(self.i_answered),
            window.i_answered.payload.eq(self.i_answer),
            window.i_retire.eq(self.i_retire),
        ]
        slots = Slots(m, self._params, SlotEvents(
            claims=self.i_valid & window.i.ready, monitored=self.i_monitored, index=self.i_index,
            reads=window.o_read.valid & self.i_read_ready, read_slot=window.o_read.p.slot,
            answers=self.i_answered, answer_slot=self.i_answer,
            checks=window.o_check, retires=self.i_retire,
        ))  # fmt: skip
        m.d.comb += [
            Assume(~self.i_answered | slots.unanswered.bit_select(self.i_answer, 1)),
            Assume(~self.i_retire | (slots.retired != slots.checked)),
        ]
        rules, events = self._rules(m, slots)
        self.state(m, rules, events, window_helps(inner, slots))
        return m

    def _rules(self, m: Module, slots: Slots):
        window, read = self._window, self._window.o_read
        number = window.o_check_slot
        origin, asks = slots.origins[number], slots.wants.bit_select(read.p.slot, 1)
        entry_is_there = (~slots.wants | slots.answered).bit_select(number, 1)
        claimed_before = Signal.like(slots.claimed)
        waited, waiting = Signal(), Signal(len(Value.cast(read.payload)))
        m.d.sync += [
            claimed_before.eq(slots.claimed),
            waited.eq(read.valid & ~read.ready),
            waiting.eq(read.payload),
        ]
        older = Cat(
            slots.is_live(slot) & slots.monitored[slot]
            & (slots.place(slot) < slots.place(read.p.slot))
            & (slots.indices[slot] == read.p.index)
            for slot in range(slots.count)
        )  # fmt: skip
        older_unanswered = Cat(
            slots.unanswered[slot] & (slots.place(slot) < slots.place(self.i_answer))
            for slot in range(slots.count)
        )
        claims = self.i_valid & window.i.ready
        can_check = (slots.checked != claimed_before) & entry_is_there
        rules = [
            ~claims | ~slots.is_full,
            window.o_slot == slots.claimed[:-1],
            window.o_idle == (slots.claimed == slots.retired),
            # A read is asked for once, by a slot whose entry no older one holds.
            ~read.valid | (asks & ~slots.asked.bit_select(read.p.slot, 1)),
            ~read.valid | (slots.indices[read.p.slot] == read.p.index),
            ~read.valid | ~older.any(),
            ~waited | (read.valid & (waiting == Value.cast(read.payload))),
            # A packet leaves in order, with its entry, as soon as that is there.
            window.o_check == can_check,
            ~window.o_check | (number == slots.checked[:-1]),
            ~window.o_check | (window.o_check_forwarded == origin.any()),
            ~window.o_check | ~origin.any() | (origin == 1 << window.o_check_source),
        ]
        events = {
            "full": slots.is_full,
            "forward": window.o_check & window.o_check_forwarded,
            "youngest-of-two": claims & (sum(slots.matches) == 2),
            "forward-from-a-slot-that-retires": (
                claims & self.i_retire & slots.youngest.bit_select(slots.retired[:-1], 1)
            ),
            "answers-out-of-order": self.i_answered & (older_unanswered != 0),
        }  # fmt: skip
        return rules, events
