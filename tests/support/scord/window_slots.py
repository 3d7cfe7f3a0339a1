"""Contents of the slots of a hazard window, for proofs, and how its registers say the same."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Const, Module, Signal, Value

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.region import index_bits
from tests.support.formal.internals import OpenComponent


@dataclass(frozen=True)
class SlotEvents:
    """What happens to slots in a cycle, as signals.

    Parameters
    ----------
    claims, monitored, index : Value
        A packet claims a slot, whether it needs an entry, and which.
    reads, read_slot : Value
        The memory takes a read for a slot.
    answers, answer_slot : Value
        The memory answers the read of a slot.
    checks, retires : Value
        The next slot leaves for the pipeline; the oldest slot is free again.
    new : Value or None
        The packet's entry is new; None without a table of valid segments.
    """

    claims: Value
    monitored: Value
    index: Value
    reads: Value
    read_slot: Value
    answers: Value
    answer_slot: Value
    checks: Value
    retires: Value
    new: Value | None = None


class Slots:
    """What the slots of a window hold, by the rules of its description.

    ``origins`` is one-hot of the youngest slot that held the entry when it was claimed, or 0;
    ``wants`` has the slots whose entry must be read.

    Parameters
    ----------
    m : Module
        Module of the harness.
    params : ScordParams
        Configuration.
    events : SlotEvents
        What happens.
    """

    def __init__(self, m: Module, params: ScordParams, events: SlotEvents):
        self.count = count = params.outstanding
        positions = slot_bits(params) + 1
        self.claimed, self.checked, self.retired = (
            Signal(positions, name=f"shadow_{name}") for name in ("claimed", "checked", "retired")
        )
        self.indices = Array(Signal(index_bits(params), name=f"held_{n}") for n in range(count))
        self.origins = Array(Signal(count, name=f"origin_{n}") for n in range(count))
        self.monitored, self.asked, self.answered = (
            Signal(count, name=f"shadow_{name}") for name in ("monitored", "asked", "answered")
        )
        self.new = Const(0, count) if events.new is None else Signal(count, name="shadow_new")
        self.is_full = (self.claimed - self.retired)[:positions] == count
        self.wants = ~self.new & Cat(
            self.monitored[slot] & ~self.origins[slot].any() for slot in range(count)
        )
        self.matches = [
            self.is_live(slot) & self.monitored[slot] & (self.indices[slot] == events.index)
            & events.monitored
            for slot in range(count)
        ]  # fmt: skip
        self.youngest = Cat(
            match & ~Cat(
                other & (self.place(number) > self.place(slot))
                for number, other in enumerate(self.matches)
            ).any()
            for slot, match in enumerate(self.matches)
        )  # fmt: skip
        new = (1 << self.claimed[:-1])[:count] & events.claims.replicate(count)
        reads = (1 << events.read_slot)[:count] & events.reads.replicate(count)
        answers = (1 << events.answer_slot)[:count] & events.answers.replicate(count)
        m.d.sync += [
            self.claimed.eq(self.claimed + events.claims),
            self.checked.eq(self.checked + events.checks),
            self.retired.eq(self.retired + events.retires),
            self.asked.eq((self.asked | reads) & ~new),
            self.answered.eq((self.answered | answers) & ~new),
            self.monitored.eq(self.monitored & ~new | new & events.monitored.replicate(count)),
        ]
        if events.new is not None:
            m.d.sync += self.new.eq(self.new & ~new | new & events.new.replicate(count))
        with m.If(events.claims):
            m.d.sync += [
                self.indices[self.claimed[:-1]].eq(events.index),
                self.origins[self.claimed[:-1]].eq(self.youngest),
            ]

    @property
    def unanswered(self) -> Value:
        """Slots whose read the memory has taken and not answered."""
        return self.asked & ~self.answered

    def place(self, slot) -> Value:
        """Slots that are older."""
        return (slot - self.retired[:-1])[: len(self.retired) - 1]

    def is_live(self, slot) -> Value:
        return self.place(slot) < (self.claimed - self.retired)[: len(self.retired)]

    def is_between(self, slot, first, end) -> Value:
        """Whether the slot's position is from one position on and before another."""
        place, bits = self.place(slot), len(self.retired)
        return (place >= (first - self.retired)[:bits]) & (place < (end - self.retired)[:bits])


def window_helps(registers: OpenComponent, slots: Slots, prefix: str = "") -> list[Value]:
    """What always holds between a window's registers and the list of slots."""

    def inner(name):
        return registers[prefix + name]

    count, noted = slots.count, inner("noted")
    is_noted = inner("is_noted")
    last = (slots.claimed - 1)[: len(slots.claimed) - 1]
    behind = (slots.claimed - noted)[: len(noted)]
    bits = len(noted)
    in_use = (slots.claimed - slots.retired)[:bits]
    is_last = Cat(last == slot for slot in range(count))
    unasked = Cat(slots.is_live(slot) for slot in range(count)) & slots.wants & ~slots.asked
    helps = [
        inner("claimed") == slots.claimed,
        inner("checked") == slots.checked,
        inner("retired") == slots.retired,
        inner("claiming") == 1 << slots.claimed[:-1],
        inner("retiring") == 1 << slots.retired[:-1],
        in_use <= count,
        (slots.checked - slots.retired)[:bits] <= (noted - slots.retired)[:bits],
        (noted - slots.retired)[:bits] <= in_use,
        behind <= 1,
        (behind == 0) | is_noted,
        # The last packet accepted is still being noted: nothing was asked for it yet.
        ~is_noted | (in_use != 0) | ~inner("needs_read"),
        ~is_noted | (inner("o_read__payload")[: bits - 1] == last),
        ~(is_noted & inner("needs_read")) | (unasked == is_last),
        (is_noted & inner("needs_read")) | (unasked == 0),
        (slots.answered & ~slots.asked) == 0,
    ]
    held_by, needs = inner("held_by"), inner("needs_read")
    has_table = isinstance(slots.new, Signal)
    for slot in range(count):
        live, origin = slots.is_live(slot), slots.origins[slot]
        younger = Cat(
            slots.is_live(other) & slots.monitored[other]
            & (slots.place(other) > slots.place(slot))
            & (slots.indices[other] == slots.indices[slot])
            for other in range(count)
        ).any()  # fmt: skip
        older = Cat(
            slots.is_live(other) & slots.monitored[other]
            & (slots.place(other) < slots.place(slot))
            & (slots.indices[other] == slots.indices[slot])
            for other in range(count)
        ).any()  # fmt: skip
        is_noted_here = is_noted & is_last[slot] & live
        waits = slots.wants[slot] & ~slots.answered[slot]
        pending = slots.is_between(slot, slots.checked, noted)
        source = Cat(inner(f"origins.row_{slot}"))
        marks = inner(f"claim_marks.row_{slot}") ^ inner(f"answer_marks.row_{slot}")
        helps += [
            inner("newest")[slot] == (live & slots.monitored[slot] & ~younger),
            ~(live & slots.monitored[slot]) | (inner(f"index_{slot}") == slots.indices[slot]),
            ~live | ((origin & (origin - 1)) == 0),
            ~live | slots.monitored[slot] | ~origin.any(),
            ~(live & slots.wants[slot] & older),
            ~is_noted_here | (held_by == origin),
            ~is_noted_here | (needs == slots.wants[slot]),
            ~(is_noted_here & needs)
            | (inner("o_read__payload")[bits - 1 :] == slots.indices[slot]),
            ~pending | (source[0] == origin.any()),
            ~pending | ~origin.any() | (origin == 1 << source[1:bits]),
            *(
                [
                    ~pending | (source[bits] == slots.new[slot]),
                    ~is_noted_here | (inner("is_new") == slots.new[slot]),
                ]
                if has_table
                else []
            ),
            ~pending | (marks == waits),
            ~slots.unanswered[slot] | (live & slots.wants[slot]),
            # What is checked has its entry.
            ~slots.is_between(slot, slots.retired, slots.checked) | ~waits,
        ]
    return helps
