"""Proof: the detection logic is the paper's Tables III and IV, written here from their text.

Nothing of the transcription comes from the golden model.  Where the paper's text is not enough for
a rule without misses, what is added to it says so.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.decision_proof import DecisionHarness

_FILE = "scord/detection_logic.py"
_PARAMS = ScordParams(pc_bits=8)
_LOAD, _STORE, _ATOMIC = range(3)
_BLOCK_SCOPE = 0
_RACES = ("block-fence", "device-fence", "not-strong", "scoped-atomic", "lock")


class PaperHarness(DecisionHarness):
    """Detection logic with any access, any entry and any fence counters."""

    def _elaborate_rules(self, m: Module, logic: Any) -> None:
        races = self._races()
        is_race = Cat(races).any()
        md, access, after = self.i_entry, self.i_packet, logic.o_after
        is_load = access.kind == _LOAD
        unchecked = self._is_preliminary()
        updated = [
            after.warp == access.warp, after.block == access.block,
            after.barrier_id == access.barrier_id, after.blk_fence_id == self.i_own.blk,
            after.dev_fence_id == self.i_own.dev, after.scope == access.scope,
            after.is_atom == (access.kind == _ATOMIC), after.modified,
        ]  # fmt: skip
        other_block = md.block != access.block
        beside = ~other_block & (md.warp != access.warp) & ~md.dev_shared
        no_locks = self._are_empty(md.filter | access.filter)
        read = is_load & ~unchecked & ~md.modified & no_locks & (logic.o_race == 0)
        rules = [
            # "If any of these three conditions are satisfied, then no further race check".
            ~unchecked | (logic.o_race == 0),
            (logic.o_race != 0) == (is_race & ~unchecked),
            # A race is of a kind whose condition holds.
            *((logic.o_race != kind) | race for kind, race in enumerate(races, 1)),
            logic.o_race <= len(races),
            # A store or an atomic is the last access, and modifies.
            *(is_load | one for one in updated),
            # A reader of another block sets DevShared, of the same one BlkShared.
            ~(read & other_block) | after.dev_shared, ~(read & beside) | after.blk_shared,
        ]  # fmt: skip
        events = {name: (logic.o_race == kind) & is_load for kind, name in enumerate(_RACES, 1)} | {
            "both-atomic": ~is_race & ~unchecked & md.is_atom & (access.kind == _ATOMIC)
        }
        self.state(m, rules, events)

    def _is_preliminary(self) -> Value:
        """Table III; whether the entry is uninitialised is an input of the logic."""
        md, access = self.i_entry, self.i_packet
        program_order = (
            (md.warp == access.warp) & (md.block == access.block) & ~md.blk_shared & ~md.dev_shared
        )
        barrier = (md.block == access.block) & (md.barrier_id != access.barrier_id) & ~md.dev_shared
        return self.i_uninitialised | program_order | barrier

    def _races(self) -> list[Value]:
        """Table IV: its conditions (a) to (d), and (e) with (f)."""
        md, access, fences = self.i_entry, self.i_packet, self.i_owner
        is_load = access.kind == _LOAD
        same_block = md.block == access.block
        no_block_fence = md.blk_fence_id == fences.blk
        no_device_fence = md.dev_fence_id == fences.dev
        both_atomic = md.is_atom & (access.kind == _ATOMIC)
        scoped = md.is_atom & (md.scope == _BLOCK_SCOPE) & ~same_block
        # "Loads alone cannot cause conflicting accesses"; on a store Modified is ignored.  A warp
        # does not race with its own write.
        own_warp = same_block & (md.warp == access.warp)
        conflicts = Mux(is_load, md.modified & ~own_warp, ~both_atomic)
        # Added: once another block has read, a write of this block needs that a device fence.
        read_outside = ~is_load & md.dev_shared
        return [
            conflicts & same_block & no_device_fence & (no_block_fence | read_outside),
            conflicts & ~same_block & no_device_fence,
            conflicts & (~md.strong | ~access.strong),
            scoped,
            self._breaks_locks(both_atomic, is_load),
        ]

    def _breaks_locks(self, both_atomic: Value, is_load: Value) -> Value:
        """(e) and (f): some locks are held, and none in common."""
        md, access = self.i_entry, self.i_packet
        some = ~(self._are_empty(md.filter) & self._are_empty(access.filter))
        none_in_common = self._are_empty(md.filter & access.filter)
        return some & none_in_common & Mux(is_load, md.modified, ~both_atomic)

    @staticmethod
    def _are_empty(locks: Value) -> Value:
        """A Bloom filter of two halves, in each of which a lock has one bit."""
        return (locks[:8] == 0) | (locks[8:] == 0)


PROOF = Proof(
    rule="A race is found if and only if none of the conditions of the paper's Table III holds, "
    "and one of Table IV does, transcribed from the paper's text; its kind is one whose condition "
    "holds. A store or an atomic becomes the last access, with its warp, block, barrier, fences, "
    "scope, IsAtom and Modified; a reader sets DevShared or BlkShared.",
    sizes="the paper's entry (15 SMs, 32 warps, ratio 16)",
    harness=lambda case: PaperHarness(_PARAMS, case),
    depth=1,
    events=(*_RACES, "both-atomic"),
    bugs={
        "block-fence-of-another-block": Patch(
            _FILE, "~self.i_fenced.dev & (~relation.same_block | ~self.i_fenced.blk)",
            "~self.i_fenced.dev & ~self.i_fenced.blk",
        ),
        "atomic-of-any-scope": Patch(
            _FILE, "entry.is_atom & (entry.scope == Scope.BLOCK)", "entry.is_atom"
        ),
        "barrier-hides-other-blocks": Patch(
            _FILE, "~relation.same_barrier & ~entry.dev_shared", "~relation.same_barrier"
        ),
        "strong-once-is-enough": Patch(
            _FILE, "both_strong.eq(entry.strong & packet.strong)",
            "both_strong.eq(entry.strong | packet.strong)",
        ),
        "locks-of-readers": Patch(
            _FILE, "rightly_locked = relation.common_lock | ~entry.modified",
            "rightly_locked = relation.common_lock",
        ),
    },
    cycles=1,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
