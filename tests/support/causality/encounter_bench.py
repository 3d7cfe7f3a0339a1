"""The combinational blocks of a check beside the golden model, on packed vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.detector_bank import DetectorBank
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.layout import Layout
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.encounters import Encounters, pack_branch, pack_row
from tests.support.planted_bugs import modules_with
from tests.support.rtl.combinational import simulate_combinational

#: Blocks of a check, each after those that it uses.
FILES = [
    f"causality/{name}.py"
    for name in ("access", "warp_row", "warp_order", "entry", "detection_logic")
]


_RELATION = Layout({"lanes": WARP_SIZE, "all_ordered": 3, "is_own": 1, "in_block": 1})


class Encounter(wiring.Component):
    """One access, one entry, one row: the blocks that decide, without stages between them."""

    def __init__(self, params: CausalityParams, rtl: SimpleNamespace):
        self._params, self._rtl = params, rtl
        self.update, self.logic = rtl.EntryUpdate(params), rtl.DetectionLogic(params)
        self.writer, self.reader = rtl.WarpOrder(params), rtl.WarpOrder(params)
        entry = struct_layout(params.entry_layout)
        super().__init__({
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_tag": In(params.tag_bits),
            "i_found": In(entry),
            "i_row": In(struct_layout(params.row_layout)),
            "i_branch": In(rtl.branch_layout(params)),
            "i_epoch": In(params.epoch_bits),
            "i_has_wrapped": In(1),
            "i_fenced": In(1),
            "o_before": Out(entry),
            "o_after": Out(entry),
            "o_displaced": Out(1),
            "o_took_on": Out(1),
            "o_against": Out(2),
            "o_undecided": Out(3),
            "o_met": Out(1),
            "o_writer": Out(rtl.RELATION),
            "o_reader": Out(rtl.RELATION),
        })  # fmt: skip

    def elaborate(self, platform):
        m, params, rtl = Module(), self._params, self._rtl
        m.submodules.update = update = self.update
        m.submodules.logic = logic = self.logic
        access = update.i_access
        m.d.comb += [
            *rtl.describe(access, self.i_packet, self.i_tag),
            update.i_found.eq(self.i_found),
            update.i_match.eq(
                rtl.entry_match(access, self.i_found, self.i_row.start, self.i_epoch)
            ),
            update.i_epoch.eq(self.i_epoch),
            update.i_has_wrapped.eq(self.i_has_wrapped),
            update.i_fenced.eq(self.i_fenced),
            self.o_before.eq(update.o_before),
            self.o_after.eq(update.o_after),
            self.o_displaced.eq(update.o_displaced),
            self.o_took_on.eq(update.o_took_on),
            logic.i_access.eq(access),
            logic.i_before.eq(update.o_before),
            self.o_against.eq(logic.o_against),
            self.o_undecided.eq(logic.o_undecided),
            self.o_met.eq(logic.o_met),
        ]
        for name in ("writer", "reader"):
            m.submodules[name] = order = getattr(self, name)
            side = Value.cast(update.o_before[name])
            m.d.comb += [
                Value.cast(order.i_side).eq(side[: params.side_layout.width]),
                order.i_access.eq(access),
                order.i_row.eq(self.i_row),
                order.i_branch.eq(self.i_branch),
                getattr(logic, f"i_{name}").eq(order.o),
                getattr(self, f"o_{name}").eq(order.o),
            ]
        return m


def rtl_of(bug=None) -> SimpleNamespace:
    """The blocks, with a bug in one of them if one is given."""
    names: dict[str, Any] = {}
    for module in modules_with(FILES, bug).values():
        names |= vars(module)
    return SimpleNamespace(**names)


def cases(params: CausalityParams, seed: str, count: int) -> Iterator[tuple[dict, dict]]:
    """Inputs of random encounters, and what the golden model says to each."""
    rng = Random(seed)
    size = min(params.min_region_log2 + 1, params.max_region_log2)
    region = Region(1 << size, size, 0)
    while count:
        encounters = Encounters(params, rng)
        for _ in range(min(count, 50)):
            count -= 1
            yield _case(params, region, encounters, rng)


def _case(params, region, encounters, rng) -> tuple[dict, dict]:
    word = region.data_base // 4 + rng.randrange(1 << region.size_log2 - 2)
    packet, row = encounters.packet(word), encounters.row()
    if params.shared_bytes and rng.random() < 0.4:
        packet = packet._replace(shared=1, word=word % (params.shared_bytes // 4))
    fenced, wraps = rng.getrandbits(1), rng.choice((0, 0, 1, 1 << params.epoch_bits))
    rows = {packet.warp: row}
    bank = DetectorBank(params, region, rows, lambda: bool(fenced))
    for _ in range(wraps):
        bank.begin_epoch()
    # The bank itself says which entry and tag the word has.
    (index,) = (bank.step(packet), *bank.entries)[1:]
    tag = bank.entries[index].tag
    found = encounters.entry(packet, row, bank.epoch, tag)
    bank.entries[index] = found
    step = bank.step(packet)
    order = {}
    for name in ("writer", "reader"):
        side = getattr(step.before, name)
        if side is not None:
            lanes = row.unordered(side, packet.warp, packet.block, packet.lanes)
            order[name] = {
                "unordered": lanes,
                "is_own": int(row.is_own(side, packet.warp)),
                "in_block": int(row.in_block(side, packet.block)),
            }
    given = {
        "packet": params.packet_layout.pack(packet._asdict()), "tag": tag,
        "found": found.pack(params), "row": pack_row(params, row),
        "branch": pack_branch(params, row),
        "epoch": bank.epoch, "has_wrapped": int(wraps > 0), "fenced": fenced,
    }  # fmt: skip
    expected = {
        "before": step.before.pack(params), "after": step.after.pack(params),
        "displaced": step.displaced, "took_on": step.took_on, "against": int(step.against),
        "undecided": int(step.undecided), "met": step.met, "order": order,
    }  # fmt: skip
    return given, expected


def _ports(dut, prefix: str) -> dict[str, Value]:
    members = dut.signature.members
    names = [name for name in members if name.startswith(prefix)]
    return {name.removeprefix(prefix): Value.cast(getattr(dut, name)) for name in names}


def compare(params: CausalityParams, seed: str, count: int, rtl: SimpleNamespace) -> Counter[str]:
    """Put random encounters to the hardware; how often each outcome was seen.

    Raises
    ------
    AssertionError
        If hardware and golden model differ.
    """
    dut = Encounter(params, rtl)
    given, answers = _ports(dut, "i_"), _ports(dut, "o_")
    layout = Layout({name: len(port) for name, port in given.items()})
    answer = Layout({name: len(port) for name, port in answers.items()})
    inputs, outputs = Cat(given.values()), Cat(answers.values())
    seen: Counter[str] = Counter()

    async def testbench(ctx):
        for number, (values, expected) in enumerate(cases(params, seed, count)):
            # One assignment a case: the simulator settles after each.
            ctx.set(inputs, layout.pack(values))
            got = answer.unpack(ctx.get(outputs))
            order = expected.pop("order")
            sides = {name: _RELATION.unpack(got.pop(name)) for name in ("writer", "reader")}
            assert got == expected, f"case {number} of {seed}"
            for name, relation in order.items():
                found = sides[name]
                found["unordered"] = 0 if found.pop("all_ordered") else found["lanes"]
                assert found | relation == found, f"case {number} of {seed}"
                relation["unordered"] = relation["unordered"] > 0
                seen.update(f"{field} {int(value)}" for field, value in relation.items())
            seen.update(
                f"{name} {got[name]}"
                for name in ("against", "undecided", "met", "took_on", "displaced")
            )

    simulate_combinational(dut, testbench)
    return seen
