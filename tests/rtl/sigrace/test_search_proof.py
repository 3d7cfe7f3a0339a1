"""Proof: conflicts are logged in the order of the queues, whichever scanner finds them first."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Cat, Const, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.queue_search import QueueSearch
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/search.py"
_PARAMS = SigraceParams(
    cores=2, threads=5, filters=2, filter_bits=16, history_depth=2, timestamp_bits=2,
    usb_limit=1, trace_port=False, scanners=3,
)  # fmt: skip
_THREADS, _SCANNERS = _PARAMS.threads, _PARAMS.scanners


class _QueueSearch(QueueSearch):
    """A search that takes any time, and asks to log, a turn before it does, at any time."""

    def elaborate(self, platform):
        m = Module()
        self.moves, self.asks, self.found = Signal(), Signal(), Signal(self.o_entry.shape())
        self.busy, self.waits, self.logs = Signal(), Signal(), Signal()
        self.queue = Signal(range(len(self._threads)))
        ends = self.busy & self.moves & ~self.waits & (self.queue == len(self._threads) - 1)
        m.d.comb += [
            self.o_other.eq(Array(Const(each) for each in self._threads)[self.queue]),
            self.o_done.eq(~self.busy | ends),
            self.o_log.valid.eq(self.logs), self.o_entry.eq(self.found), self.o_log.p.eq(1),
        ]  # fmt: skip
        m.d.sync += self.logs.eq(self.waits & self.i_may_log)
        with m.If(self.i_start & ~self.busy):
            m.d.sync += [self.busy.eq(1), self.queue.eq(0)]
        with m.Elif(self.waits):
            m.d.sync += self.waits.eq(~self.i_may_log)
        with m.Elif(self.busy & self.moves):
            m.d.sync += [self.queue.eq(self.queue + ~ends), self.busy.eq(~ends)]
        with m.Elif(self.busy & ~self.logs):
            m.d.sync += self.waits.eq(self.asks)
        return m


class SearchHarness(Harness):
    """Searches one after the other, in which each scanner finds anything.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._search = self._module.Search(_PARAMS)
        width = _PARAMS.history_layout.width
        super().__init__(case, {
            "i_start": In(1), "i_moves": In(_SCANNERS), "i_asks": In(_SCANNERS),
            "i_found": In(width).array(_SCANNERS), "i_message": In(width), "i_log_full": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        search = self._search
        scanners = [_QueueSearch(_PARAMS, number) for number in range(_SCANNERS)]
        with mock.patch.object(self._module, "QueueSearch", side_effect=scanners):
            inner = OpenComponent(search)
        m.submodules.search = inner.fragment
        logged, entry = search.o_log, search.o_log.p
        starts = self.i_start & search.o_done & ~Cat(each.logs for each in scanners).any()
        m.d.comb += [
            search.i_start.eq(starts), search.i_log_full.eq(self.i_log_full),
            Value.cast(search.i_message).eq(self.i_message),
        ]  # fmt: skip
        for number, each in enumerate(scanners):
            m.d.comb += [
                each.moves.eq(self.i_moves[number]), each.asks.eq(self.i_asks[number]),
                Value.cast(each.found).eq(self.i_found[number]),
            ]  # fmt: skip
        running, latest, any_logged = Signal(), Signal(range(_THREADS)), Signal()
        was_full = Signal()
        m.d.sync += [
            running.eq(starts | (running & ~search.o_done)),
            any_logged.eq(~starts & (any_logged | logged.valid)),
            was_full.eq(self.i_log_full),
        ]
        with m.If(logged.valid):
            m.d.sync += latest.eq(entry.other)
        # A log that is full stays so while a message is searched for.
        m.d.comb += Assume(~was_full | self.i_log_full)
        valid = Cat(each.logs for each in scanners)
        waits = Cat(each.waits for each in scanners)
        turns = Cat(each.waits & each.i_may_log for each in scanners)
        own = [
            ~each.logs
            | (
                (entry.other == each.o_other)
                & (entry.other_timestamp == each.found.timestamp)
                & (entry.signature == (search.i_message.read & each.found.write))
            )
            for each in scanners
        ]
        rules = [
            # One at a time, by ascending thread, and with the entry of the scanner that found it.
            ((valid & (valid - 1)[:_SCANNERS]) == 0),
            ~(logged.valid & any_logged) | (entry.other >= latest),
            logged.valid == (valid.any() & ~self.i_log_full),
            *own,
            search.o_dropped == (valid.any() & self.i_log_full),
            # Of those that wait some one goes on, unless another is still before it.
            ~waits.any() | turns.any() | Cat(each.busy & ~each.waits for each in scanners).any(),
            search.o_done == Cat(each.o_done for each in scanners).all(),
        ]
        before = [
            ~(each.busy | each.logs) | ~any_logged | (each.o_other >= latest) for each in scanners
        ]
        ahead = [
            ~one.logs | ~other.busy | (other.o_other > one.o_other)
            for one in scanners for other in scanners if one is not other
        ]  # fmt: skip
        helps = [
            *before, *ahead, ~waits.any() | running, *(
                ~(each.waits | each.logs) | each.busy for each in scanners
            ), *(~(each.waits & each.logs) for each in scanners),
            *(each.queue < len(each._threads) for each in scanners),
            running | ~Cat(each.busy for each in scanners).any(),
        ]  # fmt: skip
        events = {
            "later-queue-found-first": waits[2] & ~waits[0] & scanners[0].busy & ~turns[2],
            "all-in-one-search": logged.valid & (latest == _THREADS - 2) & (entry.other > latest),
            "full-before-the-turn": valid.any() & self.i_log_full,
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Scanners log one at a time, by ascending thread of the queue, each with the entry that "
    "it has found; what comes while the log is full is counted as dropped. Of scanners that wait "
    "for their turn at least one gets it, unless another is still searching. The search has ended "
    "when every scanner's has.",
    sizes="3 scanners, 5 threads, searches of any length and result",
    harness=SearchHarness,
    depth=1,
    events=("later-queue-found-first", "all-in-one-search", "full-before-the-turn"),
    bugs={
        "logged-as-found": Patch(
            _FILE, "other.o_done | (other.o_other > search.o_other)", "Const(1)"
        ),
        "scanners-wait-for-each-other": Patch(
            _FILE, "other.o_done | (other.o_other > search.o_other)", "other.o_done"
        ),
        "entry-of-the-first-scanner": Patch(
            _FILE, "chosen(*(Value.cast(search.o_entry) for search in searches))",
            "Value.cast(searches[0].o_entry)",
        ),
        "logged-though-full": Patch(_FILE, ".any() & ~self.i_log_full", ".any()"),
        "ends-with-the-first-scanner": Patch(
            _FILE, "Cat(search.o_done for search in searches).all()", "searches[0].o_done"
        ),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
