"""Order of a warp's accesses, the entry's update and the detection logic, against the golden bank
on random encounters."""

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.encounter_bench import compare, rtl_of
from tests.support.planted_bugs import one_for_each_file

_SIZE = {"sm_count": 3, "blocks_per_sm": 2, "warps_per_sm": 4}
_LOCKSTEP = {"independent_threads": False}
SETTINGS = [
    {},
    _LOCKSTEP,
    {"known": 0, "records": 0, "hash_bits": 1, "ratio": 1},
    _LOCKSTEP | {"levels": 0, "shared_bytes": 0},
    {"known": 3, "records": 3, "hash_bits": 8, "clock_bits": 4, "epoch_bits": 1},
    _LOCKSTEP | {"levels": 3, "ratio": 2, "epoch_bits": 3},
    {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1},
    {"sm_count": 80, "blocks_per_sm": 32, "warps_per_sm": 64, "address_bits": 48},
]
_NOW = SETTINGS[:2]


@pytest.mark.parametrize("settings", later_but(_NOW.__contains__, SETTINGS), ids=str)
def test_random_encounters(settings):
    compare(CausalityParams(**_SIZE | settings), str(settings), 400, rtl_of())


@pytest.mark.campaign
@pytest.mark.parametrize("settings", _NOW, ids=str)
def test_volume_of_encounters(settings):
    seen = compare(CausalityParams(**_SIZE | settings), "volume", 50_000, rtl_of())
    names = {f"against {value}" for value in range(4)} | {f"undecided {n}" for n in range(5)}
    names |= {
        f"{name} {value}"
        for name in ("met", "took_on", "displaced", "unordered", "is_own", "in_block")
        for value in (0, 1)
    }
    assert set(seen) == names


#: Bugs of the blocks that decide.
BUGS = {
    "order-of-an-old-block": Patch(
        "causality/warp_order.py", "side.clock <= row.own", "side.clock < row.own"
    ),
    "barrier-of-an-older-block-counts": Patch(
        "causality/warp_order.py", "self.o.in_block & behind_barrier",
        "(block_of(self._params, side) == packet.block) & behind_barrier",
    ),
    "exact-entry-one-clock-short": Patch(
        "causality/warp_order.py", "known.clock >= side.clock", "known.clock > side.clock"
    ),
    "hash-forgets-the-slot": Patch(
        "causality/warp_order.py", "Cat(Const(0, 3), sm) - sm + side.slot",
        "Cat(Const(0, 3), sm) - sm",
    ),
    "several-lanes-forgotten": Patch("causality/warp_order.py", "side.several |", ""),
    "lowest-lane-named": Patch(
        "causality/access.py", "~lowest_set(packet.lanes[::-1])", "lowest_set(packet.lanes)"
    ),
    "tile-of-another-size": Patch("causality/access.py", "tile <= bit + 1", "tile <= bit + 2"),
    "record-without-its-lane": Patch(
        "causality/warp_order.py",
        "(side.clock < record.clock) & record.lanes.bit_select(side.lane, 1)",
        "side.clock < record.clock",
    ),
    "lost-place-forgotten": Patch(
        "causality/entry.py", "before.lost.eq(found.lost | self.o_dropped)",
        "before.lost.eq(self.o_dropped)",
    ),
    "older-block-in-shared-memory": Patch(
        "causality/entry.py", "is_same & (~packet.shared | match.reader)", "is_same"
    ),
    "bytes-of-unlike-accesses-joined": Patch(
        "causality/entry.py", "(old.bytes & ~packet.bytes).any() & alike",
        "(old.bytes & ~packet.bytes).any()",
    ),
    "message-ends-at-any-store": Patch(
        "causality/entry.py", "took_on.eq(had & (is_atomic | rest.any()))",
        "took_on.eq(had & is_atomic)",
    ),
    "several-observers-are-one": Patch(
        "causality/entry.py", "Mux(is_one, Observed.READER, Observed.SEVERAL)", "Observed.READER"
    ),
    "atomic-takes-nothing-after-a-wrap": Patch(
        "causality/entry.py", "(is_atomic & ~had & self.i_has_wrapped)", "0"
    ),
    "acquire-that-meets-is-checked": Patch(
        "causality/detection_logic.py", "is_checked.eq(~(self.o_met & packet.acquire))",
        "is_checked.eq(1)",
    ),
    "own-lane-behind-nobody": Patch(
        "causality/warp_order.py", "packet.lanes & ~(1 << side.lane)", "packet.lanes"
    ),
    "lanes-behind-either": Patch(
        "causality/detection_logic.py", "self._unordered(writer, reader)",
        "(self._unordered(writer) & self._unordered(reader))",
    ),
    "own-message-met": Patch(
        "causality/detection_logic.py", "& ~(relation.is_own & is_same_lane(access, writer))", ""
    ),
    "scope-of-a-release-ignored": Patch(
        "causality/detection_logic.py",
        "Mux(relation.in_block, side.released, side.released_device)",
        "side.released",
    ),
    "lanes-of-an-atomic-race": Patch(
        "causality/detection_logic.py", "relation.is_own | ~every", "~every"
    ),
    "lanes-of-an-atomic-know-nothing-of-each-other": Patch(
        "causality/detection_logic.py", "relation.is_own | ~every", "relation.is_own"
    ),
    "flag-written-again-is-new": Patch(
        "causality/detection_logic.py", "0 if is_writer else self._is_flag_of()", "0"
    ),
    "flag-written-elsewhere-is-old": Patch(
        "causality/detection_logic.py", " & (before.writer.place == self.i_access.place)", ""
    ),
    "lanes-of-a-warp-write-flags": Patch(
        "causality/detection_logic.py", "~(relation.is_own | is_flag)", "~Value.cast(is_flag)"
    ),
    "observed-write-unordered": Patch(
        "causality/detection_logic.py", "(observed != Observed.SEVERAL).replicate(2)", "3"
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in BUGS.items()}))
def test_bug_is_found(bug):
    with pytest.raises(AssertionError, match="case"):
        compare(CausalityParams(**_SIZE), bug, 20_000, rtl_of(BUGS[bug]))
