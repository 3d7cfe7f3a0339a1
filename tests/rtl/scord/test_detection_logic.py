"""Detection logic against the golden decision tables: every combination of conditions."""

import itertools
import random

import pytest
from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.bloom_filter import filter_of_key
from racetrap.golden_model.scord.detector_bank import decide_packed
from racetrap.golden_model.scord.metadata import pack_entry
from racetrap.golden_model.scord.packets import ROWS_KEEPING_OWNER, Packet, PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.access_relation import AccessComparator, identify
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.fence_counters import fence_counters

TINY = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=2, ratio=4)
LOAD, STORE, ATOMIC = PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC

#: Packet, entry, whether it is uninitialised, tag, counters of the owner, counters of the accessor.
Case = tuple[Packet, int, bool, int, tuple[int, int], tuple[int, int]]


class Decision(wiring.Component):
    """Detection logic, with relation and fences from the entry and its owner's counters."""

    def __init__(self, params):
        self._logic = logic = DetectionLogic(params)
        self._params = params
        super().__init__({
            name: member
            for name, member in logic.signature.members.items()
            if name not in ("i_relation", "i_fenced")
        } | {"i_owner": In(fence_counters(params))})  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.logic = logic = self._logic
        m.submodules.relation = relation = AccessComparator(self._params)
        for name, member in self.signature.members.items():
            port, inner = getattr(self, name), getattr(logic, name, None)
            if inner is not None:
                m.d.comb += inner.eq(port) if member.flow == In else port.eq(inner)
        m.d.comb += [
            identify(relation.i, self.i_packet, self.i_tag),
            identify(relation.i_last, self.i_entry, self.i_entry.tag),
            logic.i_relation.eq(relation.o),
            logic.i_fenced.blk.eq(self.i_entry.blk_fence_id != self.i_owner.blk),
            logic.i_fenced.dev.eq(self.i_entry.dev_fence_id != self.i_owner.dev),
        ]
        return m


def _ports(dut, prefix):
    """Ports with this prefix, by the rest of their name."""
    names = [name for name in dut.signature.members if name.startswith(prefix)]
    return {name.removeprefix(prefix): Value.cast(getattr(dut, name)) for name in names}


def decide(params, cases):
    """What the hardware says to each case, by name of the output."""
    dut = Decision(params)
    layout = Layout({name: len(port) for name, port in _ports(dut, "i_").items()})
    # One assignment a case: the simulator settles after each.
    inputs = Cat(_ports(dut, "i_").values())
    outputs = Cat(_ports(dut, "o_").values())
    answer = Layout({name: len(port) for name, port in _ports(dut, "o_").items()})
    answers = []

    async def testbench(ctx):
        for packet, entry, is_uninitialised, tag, owner, own in cases:
            owner, own = (blk | dev << params.fence_id_bits for blk, dev in (owner, own))
            packet = params.packet_layout.pack(packet._asdict())
            values = {"packet": packet, "entry": entry, "tag": tag}
            values["uninitialised"] = is_uninitialised
            ctx.set(inputs, layout.pack(values | {"owner": owner, "own": own}))
            answers.append(answer.unpack(ctx.get(outputs)))

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
    return answers


def check(params, cases):
    """Compare with the golden tables; the rows taken."""
    rows = set()
    for case, answer in zip(cases, decide(params, cases), strict=True):
        packet, entry, is_uninitialised, tag, owner, own = case
        row, preliminary, race, after = decide_packed(
            params.entry_layout, packet[:7], packet.generation, tag, *own,
            *(() if is_uninitialised else (entry, *owner)),
        )  # fmt: skip
        assert answer == {
            "row": row,
            "preliminary": preliminary,
            "race": race,
            "after": after,
            "owner_replaced": row not in ROWS_KEEPING_OWNER,
        }, case
        rows.add(row)
    return rows


def every_combination():
    """All flags, relations of the parties, fences, barriers and lock sets."""
    key, other_key = filter_of_key(0o12), filter_of_key(0o34)
    accesses = [(LOAD, 0, 0), (LOAD, 0, 1), (STORE, 0, 0), (STORE, 0, 1), (ATOMIC, 0, 1)]
    accesses.append((ATOMIC, 1, 1))
    flags = ("modified", "blk_shared", "dev_shared", "is_atom", "scope", "strong")
    owners = [(2, 1), (2, 0), (3, 1)]  # the accessor itself, its block, another block
    locks = [(0, 0), (0, key), (key, 0), (key, key | other_key), (key, other_key)]
    for values in itertools.product(
        accesses, itertools.product((0, 1), repeat=6), owners, range(4), (0, 1), locks
    ):
        (kind, scope, strong), flag_values, (block, warp), fences, barrier, (held, mine) = values
        entry = pack_entry(
            TINY,
            **dict(zip(flags, flag_values, strict=True)),
            block=block,
            warp=warp,
            filter=held,
            barrier_id=7 + barrier,
            blk_fence_id=20,
            dev_fence_id=30,
            tag=1,
        )
        packet = Packet(kind, scope, strong, 2, 1, 7, mine, 0, 0)
        owner = (20 + (fences & 1), 30 - (fences >> 1))
        yield packet, entry, False, 3, owner, (41, 52)


# The proof has every access on every entry in `make test`.
@pytest.mark.campaign
def test_every_combination_of_conditions():
    rows = check(TINY, list(every_combination()))
    assert rows == set(TableRow) - {TableRow.NONE, TableRow.FENCE, TableRow.UNMONITORED}


def random_cases(params, rng, count):
    """Entries of random bits, of which the owner is often the accessor or near it."""
    layout = params.entry_layout
    for _ in range(count):
        block, warp = rng.getrandbits(params.block_bits), rng.getrandbits(params.warp_bits)
        barrier_id = rng.getrandbits(params.barrier_id_bits)
        kind = rng.choice((LOAD, STORE, ATOMIC))
        packet = Packet(
            kind,
            rng.getrandbits(1) if kind == ATOMIC else 0,
            1 if kind == ATOMIC else rng.getrandbits(1),
            block,
            warp,
            barrier_id,
            rng.choice((0, rng.getrandbits(16))),
            rng.getrandbits(params.pc_bits),
            rng.getrandbits(params.word_bits),
            rng.getrandbits(params.slot_generation_bits),
        )
        fields = layout.unpack(rng.getrandbits(64))
        if rng.random() < 0.6:
            fields["generation"] = packet.generation
        if rng.random() < 0.7:
            fields["block"] = block
        if rng.random() < 0.5:
            fields["warp"] = warp
        if rng.random() < 0.9:
            fields["barrier_id"] = barrier_id
        if rng.random() < 0.3:
            fields["filter"] = 0
        counters = [rng.getrandbits(params.fence_id_bits) for _ in range(4)]
        owner = tuple(
            fields[name] if rng.random() < 0.5 else counter
            for name, counter in zip(("blk_fence_id", "dev_fence_id"), counters, strict=False)
        )
        tag = rng.getrandbits(params.tag_bits) if params.tag_bits else 0
        yield packet, layout.pack(fields), rng.random() < 0.05, tag, owner, tuple(counters[2:])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ratio": 1},
        {"fence_id_bits": 2, "barrier_id_bits": 16},
        {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1},
        {"sm_count": 64, "blocks_per_sm": 9, "ratio": 2},
        {"slot_generation_bits": 1},
        {"slot_generation_bits": 6},
    ],
    ids=str,
)
def test_random_entries(settings):
    params = ScordParams(**settings)
    check(params, list(random_cases(params, random.Random(str(settings)), 1500)))
