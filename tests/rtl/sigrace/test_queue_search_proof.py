"""Proof: a scanner compares a message with each of its queues, once, and the message is pushed to
its own."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.scanner import Scanner
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/queue_search.py"
_PARAMS = SigraceParams(
    cores=2, threads=6, filters=2, filter_bits=16, history_depth=2, timestamp_bits=2,
    usb_limit=1, trace_port=False, scanners=2,
)  # fmt: skip
_NUMBER = 1
_OWN = range(_NUMBER, _PARAMS.threads, _PARAMS.scanners)
_DEPTH = _PARAMS.history_depth
_IDLE, _QUEUE, _SCAN = range(3)


class _Queues(HistoryQueues):
    """Queues that only count, as their own proof says that they do."""

    def elaborate(self, platform):
        m = Module()
        self.held = Array(Signal(range(_DEPTH + 1), name=f"held_{k}") for k in range(len(_OWN)))
        count = self.held[self.i_queue]
        m.d.comb += self.o_count.eq(count)
        with m.If(self.i_push.valid):
            m.d.sync += count.eq(Mux(count == _DEPTH, count, count + 1))
        with m.If(self.i_flush):
            m.d.sync += [each.eq(0) for each in self.held]
        return m


class _Scanner(Scanner):
    """A scan that takes any time and finds anything."""

    def elaborate(self, platform):
        self.busy, self.ends, self.loses = Signal(), Signal(), Signal()
        m = Module()
        m.d.comb += [self.o_done.eq(self.busy & self.ends), self.o_lost.eq(self.loses)]
        m.d.sync += self.busy.eq(self.i_start | (self.busy & ~self.o_done))
        return m


class SearchHarness(Harness):
    """Any messages, each pushed at any time after its search.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._search = self._module.QueueSearch(_PARAMS, _NUMBER)
        super().__init__(case, {
            "i_thread": In(range(_PARAMS.threads)), "i_start": In(1), "i_push": In(1),
            "i_flush": In(1), "i_ends": In(1), "i_loses": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        search, queues = self._search, _Queues(_PARAMS, len(_OWN))
        scanner = _Scanner(_PARAMS)
        with (
            mock.patch.object(self._module, "HistoryQueues", return_value=queues),
            mock.patch.object(self._module, "Scanner", return_value=scanner),
        ):
            inner = OpenComponent(search)
        m.submodules.search = inner.fragment
        busy, thread = Signal(), Signal(range(_PARAMS.threads))
        starts = self.i_start & ~busy & ~self.i_push & ~self.i_flush
        pushes = self.i_push & ~busy
        m.d.comb += [
            search.i_thread.eq(Mux(busy, thread, self.i_thread)), search.i_start.eq(starts),
            search.i_push.eq(pushes), search.i_flush.eq(self.i_flush & ~busy),
            scanner.ends.eq(self.i_ends), scanner.loses.eq(self.i_loses),
            Assume(self.i_thread < _PARAMS.threads),
        ]  # fmt: skip
        scanning, scans, place = Signal(), scanner.i_start, queues.i_queue
        scanned, lost = Signal(len(_OWN)), Signal(len(_OWN))
        cycles = Signal(4)
        m.d.sync += [
            busy.eq(starts | (busy & ~search.o_done)),
            scanning.eq(scans | (scanning & ~scanner.o_done)),
            scanned.eq(Mux(starts, 0, scanned | Mux(scans, 1 << place, 0))),
            lost.eq(Mux(starts, 0, lost | Mux(search.o_loses, 1 << place, 0))),
            cycles.eq(Mux(starts, 0, cycles + (busy & ~scanning))),
        ]  # fmt: skip
        with m.If(starts):
            m.d.sync += thread.eq(self.i_thread)
        wanted = [(thread != own) & (queues.held[k] != 0) for k, own in enumerate(_OWN)]
        done = busy & search.o_done
        rules = [
            # Each other queue with an entry is scanned, once, under its thread's number.
            scans == queues.i_open,
            ~scans | (busy & ~scanning & Array(wanted)[place]),
            ~scans | ~scanned.bit_select(place, 1),
            ~scans | (search.o_other == Array(_OWN)[place]),
            ~scanner.busy | (scanned.bit_select(place, 1) & (search.o_other == Array(_OWN)[place])),
            ~done | (scanned == Cat(wanted)),
            ~done | ~scanning | scanner.o_done,
            # A cycle for each queue, scans aside.
            ~busy | (cycles <= len(_OWN)),
            search.o_loses == (scanner.o_done & self.i_loses),
            busy | (search.o_lost == lost),
            # The message goes into the queue of its thread, if that is here.
            queues.i_push.valid == (pushes & Cat(self.i_thread == own for own in _OWN).any()),
            ~queues.i_push.valid | (Array(_OWN)[place] == self.i_thread),
        ]  # fmt: skip
        state, queue = inner["fsm_state"], inner["queue"]
        visited = [
            Mux(k < queue, scanned[k] == wanted[k], scanned[k] == ((k == queue) & scanning))
            for k in range(len(_OWN))
        ]
        helps = [
            state <= _SCAN, busy == (state != _IDLE), scanning == (state == _SCAN),
            scanner.busy == scanning, search.o_lost == lost,
            ~busy | ((queue < len(_OWN)) & Cat(visited).all()),
            ~busy | (lost >> queue == 0), ~busy | (cycles == queue + scanning),
            ~scanning | Array(wanted)[queue], thread < _PARAMS.threads,
            *(each <= _DEPTH for each in queues.held),
        ]  # fmt: skip
        events = {
            "all-scanned": done & (scanned == 0b111),
            "own-among-them": done & (scanned == 0b101) & (thread == _OWN[1]),
            "nothing-here": done & (scanned == 0),
            "lost": ~busy & (search.o_lost == 0b101),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="A search compares the message with each queue of the scanner that has an entry and is "
    "not the message's own, each once, and ends after the last. The queues that lost a window are "
    "named. A message is pushed to its thread's queue, and only there.",
    sizes="3 of 6 threads, scans of any length and result",
    harness=SearchHarness,
    depth=1,
    events=("all-scanned", "own-among-them", "nothing-here", "lost"),
    bugs={
        "own-queue-scanned": Patch(
            _FILE, "(self.o_other == self.i_thread) | (queues.o_count == 0)",
            "(queues.o_count == 0)",
        ),
        "last-queue-forgotten": Patch(
            _FILE, "queue == len(self._threads) - 1", "queue == len(self._threads) - 2"
        ),
        "pushed-to-the-queue-scanned-last": Patch(
            _FILE, "queues.i_queue.eq(Mux(self.i_push, own, queue))", "queues.i_queue.eq(queue)"
        ),
        "pushed-everywhere": Patch(
            _FILE, "queues.i_push.valid.eq(self.i_push & is_here)",
            "queues.i_push.valid.eq(self.i_push)",
        ),
        "queue-of-another-scanner": Patch(
            _FILE, "queue * self._params.scanners + self._threads[0]",
            "queue * self._params.scanners",
        ),
        "lost-of-the-message-before": Patch(_FILE, "m.d.sync += self.o_lost.eq(0)", "pass"),
    },
    cycles=20,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
