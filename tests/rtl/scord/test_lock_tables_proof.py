"""Proof: lock tables are the paper's, and each warp has its own."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "scord/lock_table.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=3, lock_table_depth=3, address_bits=16, pc_bits=8
)
_WARPS, _DEPTH = _PARAMS.warps_per_sm, _PARAMS.lock_table_depth
_NONE, _INSERT, _REMOVE, _FENCE, _EMPTY = range(5)
#: States of a valid lock: its own scope, and the scope at which a fence has made it active.
_NARROW, _WIDE, _NARROW_ACTIVE, _WIDE_ACTIVE_NARROW, _WIDE_ACTIVE = range(1, 6)


class TablesHarness(Harness):
    """Tables with free operations on warps that were fetched; that of one warp, any, is watched.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._tables = self._module.LockTables(_PARAMS)
        super().__init__(case, {
            "i_fetch": In(1), "i_warp": In(range(_WARPS)), "i_commit": In(1), "i_hash": In(6),
            "i_operation": In(3), "i_scope": In(1), "i_clear": In(1), "i_watch": In(range(_WARPS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tables = self._tables
        with mock.patch.object(self._module, "Memory", OpenMemory):
            inner = OpenComponent(tables)
        m.submodules.tables = inner.fragment
        width = len(Value.cast(tables.o_table))
        watch, begun = Signal.like(self.i_watch), Signal()
        fetched, warp = Signal(), Signal.like(self.i_warp)
        m.d.sync += [watch.eq(self.i_watch), begun.eq(1)]
        m.d.comb += [
            tables.i_fetch.eq(self.i_fetch), tables.i_warp.eq(self.i_warp),
            tables.i_commit.eq(self.i_commit),
            Value.cast(tables.i_operation).eq(self.i_operation),
            tables.i_hash.eq(self.i_hash), tables.i_scope.eq(self.i_scope),
            tables.i_clear.eq(self.i_clear),
            Assume(self.i_operation <= _EMPTY), Assume(self.i_warp < _WARPS),
            Assume(self.i_watch < _WARPS), Assume(~begun | (self.i_watch == watch)),
            Assume(~tables.o_busy | ~(self.i_fetch | self.i_commit)),
            Assume(~self.i_commit | fetched),
            # Nothing of before is used once the tables are emptied.
            Assume(~self.i_clear | ~(self.i_fetch | self.i_commit)),
        ]  # fmt: skip
        with m.If(self.i_fetch):
            m.d.sync += [fetched.eq(1), warp.eq(self.i_warp)]
        with m.Elif(self.i_clear | self.i_commit):
            m.d.sync += fetched.eq(0)
        shadow = Signal(width)  # the watched warp's table
        after = self._after(m, shadow)
        is_watched = fetched & (warp == self.i_watch)
        with m.If(self.i_clear):
            m.d.sync += shadow.eq(0)
        with m.Elif(self.i_commit & is_watched):
            m.d.sync += shadow.eq(after)
        rules = [~(is_watched & ~tables.o_busy) | (Value.cast(tables.o_table) == shadow)]
        rows = Array(inner[f"memory.row_{k}"] for k in range(_WARPS))
        swept = ~tables.o_busy | (inner["sweep"] > self.i_watch)
        current = (inner["warp"] == self.i_watch) & inner["forward"]
        helps = [
            ~swept | (rows[self.i_watch] == shadow), ~tables.o_busy | (shadow == 0),
            ~tables.o_busy | ~fetched, ~fetched | (inner["warp"] == warp),
            inner["sweep"] < _WARPS, tables.o_busy | (inner["sweep"] == 0),
            ~(current & fetched) | (inner["forwarded"] == shadow),
            ~is_watched | tables.o_busy | (Value.cast(tables.o_table) == shadow),
            *(shadow[9 * k + 6 : 9 * k + 9] <= _WIDE_ACTIVE for k in range(_DEPTH)),
        ]  # fmt: skip
        valid = [shadow[9 * k + 6 : 9 * k + 9] != 0 for k in range(_DEPTH)]
        events = {
            "oldest-lock-dropped": is_watched & self.i_commit & (self.i_operation == _INSERT)
            & valid[2] & (after != shadow),
            "same-warp-at-once": is_watched & self.i_commit & self.i_fetch
            & (self.i_warp == self.i_watch) & (after != shadow),
            "middle-removed": is_watched & self.i_commit & (self.i_operation == _REMOVE)
            & (after != shadow) & (after[:9] == shadow[:9]) & valid[0],
            "cleared": self.i_clear & valid[0],
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _after(self, m: Module, table: Signal) -> Signal:
        """The table after the operation, written from the paper: valid, active, scope and hash."""
        after = Signal(len(table))
        entries = [table[9 * k : 9 * k + 9] for k in range(_DEPTH)]
        match = [
            (entry[6:] != 0) & (entry[:6] == self.i_hash) & (_is_wide(entry[6:]) == self.i_scope)
            for entry in entries
        ]
        found = sum(match) != 0
        new = Mux(self.i_scope, _WIDE, _NARROW)
        m.d.comb += after.eq(table)
        with m.If((self.i_operation == _INSERT) & ~found):
            m.d.comb += after.eq((table << 9) | (new << 6) | self.i_hash)
        with m.If(self.i_operation == _REMOVE):
            before = 0
            for k in range(_DEPTH):
                before = before | match[k]
                behind = entries[k + 1] if k + 1 < _DEPTH else 0
                m.d.comb += after[9 * k : 9 * k + 9].eq(Mux(before, behind, entries[k]))
        with m.If(self.i_operation == _FENCE):
            for k, entry in enumerate(entries):
                m.d.comb += after[9 * k + 6 : 9 * k + 9].eq(_fenced(entry[6:], self.i_scope))
        with m.If(self.i_operation == _EMPTY):
            m.d.comb += after.eq(0)
        return after


def _is_wide(state: Value) -> Value:
    """Whether the lock was taken at device scope."""
    return (state == _WIDE) | (state == _WIDE_ACTIVE_NARROW) | (state == _WIDE_ACTIVE)


def _fenced(state: Value, scope: Value) -> Value:
    """A fence makes a lock active, at most at the fence's scope, and never less than it was."""
    wide = Mux(scope | (state == _WIDE_ACTIVE), _WIDE_ACTIVE, _WIDE_ACTIVE_NARROW)
    return Mux(state == 0, 0, Mux(_is_wide(state), wide, _NARROW_ACTIVE))


PROOF = Proof(
    rule="After a fetch, the table of a warp is what its operations since the last clearing have "
    "made of an empty one, whatever other warps do. A lock that is taken comes first, unless it is "
    "there, and displaces the oldest; one that is freed leaves, and the others keep their order; "
    "a fence makes each active at most at its own scope.",
    sizes="3 warps, tables of 3 locks",
    harness=TablesHarness,
    depth=2,
    events=("oldest-lock-dropped", "same-warp-at-once", "middle-removed", "cleared"),
    bugs={
        "result-not-forwarded": Patch(
            _FILE, "forward.eq(is_write & (warp == self.i_warp))", "forward.eq(0)"
        ),
        "forwarded-to-another-warp": Patch(
            _FILE, "forward.eq(is_write & (warp == self.i_warp))", "forward.eq(is_write)"
        ),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
