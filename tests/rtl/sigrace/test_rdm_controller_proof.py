"""Proof: each message is checked, compared with all other queues, and pushed to its own, once."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.packets import Drop, RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.scanner import Scanner
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/rdm_controller.py"
_PARAMS = SigraceParams(
    cores=2, threads=3, filters=2, filter_bits=16, history_depth=2, timestamp_bits=2,
    usb_limit=1, trace_port=False,
)  # fmt: skip
_THREADS, _DEPTH = _PARAMS.threads, _PARAMS.history_depth
_IDLE, _CHECK, _QUEUE, _PUSH, _SCAN = range(5)


class _Queues(HistoryQueues):
    """Queues that only count, as their own proof says that they do."""

    def elaborate(self, platform):
        m = Module()
        self.held = Array(Signal(range(_DEPTH + 1), name=f"held_{k}") for k in range(_THREADS))
        count = self.held[self.i_thread]
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


class CheckHarness(Harness):
    """Free messages and commands; the one message that is processed is kept beside it.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._controller = self._module.RdmController(_PARAMS)
        super().__init__(case, {
            "i_valid": In(1), "i_message": In(self._controller.i.payload.shape()),
            "i_enable": In(1), "i_flush": In(1), "i_clear": In(1), "i_drop": In(Drop),
            "i_log_full": In(1), "i_ends": In(1), "i_loses": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        controller, queues, scanner = self._controller, _Queues(_PARAMS), _Scanner(_PARAMS)
        with (
            mock.patch.object(self._module, "HistoryQueues", return_value=queues),
            mock.patch.object(self._module, "Scanner", return_value=scanner),
        ):
            inner = OpenComponent(controller)
        m.submodules.controller = inner.fragment
        m.d.comb += [
            controller.i.valid.eq(self.i_valid), controller.i.payload.eq(self.i_message),
            controller.i_enable.eq(self.i_enable), controller.i_flush.eq(self.i_flush),
            controller.i_clear_log.eq(self.i_clear), controller.i_drop.eq(self.i_drop),
            controller.i_log_full.eq(self.i_log_full), scanner.ends.eq(self.i_ends),
            scanner.loses.eq(self.i_loses),
        ]  # fmt: skip
        accepts = controller.i.valid & controller.i.ready
        busy, checked, scanning = Signal(), Signal(), Signal()
        kept = Signal(self.i_message.shape())
        scanned, lost = Signal(_THREADS), Signal(_THREADS)
        flush_due, clear_due, cycles = Signal(), Signal(), Signal(4)
        thread, other = kept.summary.header.thread, controller._other
        checks = busy & ~checked
        passes = self.i_enable & (self.i_drop == Drop.NONE)
        starts, pushes = scanner.i_start, queues.i_push.valid
        m.d.sync += [
            busy.eq(accepts | (busy & ~(checks & ~passes) & ~pushes)),
            checked.eq((checks & passes) | (checked & ~pushes)),
            scanning.eq(starts | (scanning & ~scanner.o_done)),
            scanned.eq(Mux(accepts, 0, scanned | Mux(starts, 1 << other, 0))),
            lost.eq(Mux(accepts, 0, lost | Mux(scanner.o_done & self.i_loses, 1 << other, 0))),
            flush_due.eq(self.i_flush | (flush_due & ~queues.i_flush)),
            clear_due.eq(self.i_clear | (clear_due & ~controller.o_clear_log)),
            cycles.eq(Mux(accepts, 0, cycles + (busy & ~scanning))),
        ]  # fmt: skip
        with m.If(accepts):
            m.d.sync += kept.eq(self.i_message)
        # The origin of a message with such a thread is refused.
        m.d.comb += Assume(~(checks & passes) | (thread < _THREADS))
        wanted = [(thread != k) & (queues.held[k] != 0) for k in range(_THREADS)]
        count, step = controller.o_count, controller.o_step
        drops = [
            count[f"dropped_{drop.name.lower()}"]
            == (checks & self.i_enable & (self.i_drop == drop))
            for drop in Drop
            if drop != Drop.NONE
        ]  # fmt: skip
        summary = controller.o_arrival.summary
        pushed = [
            queues.i_push.p[name] == kept.summary[name] for name in ("timestamp", "read", "write")
        ]
        rules = [
            # One message at a time; until it is done, the controller works on it.
            ~accepts | ~busy, ~accepts | ~(flush_due | clear_due),
            ~busy | (Value.cast(controller.o_arrival) == Value.cast(kept)),
            busy | flush_due | clear_due | controller.i.ready,
            # At most a cycle to check, one for each queue and one to push, scans aside.
            ~busy | (cycles < 2 + _THREADS),
            controller.o_follow == checks,
            # Each other queue with an entry is scanned, once.
            starts == queues.i_open,
            ~starts | (busy & checked & ~scanning & Array(wanted)[queues.i_thread]),
            ~starts | (~scanned.bit_select(other, 1) & (queues.i_thread == other)),
            # Then it is pushed to its own, as it came.
            ~pushes | (busy & checked & ~scanning & (scanned == Cat(wanted))),
            ~pushes | ((queues.i_thread == thread) & Cat(pushed).all()),
            ~pushes | (step.valid & (step.payload.kind == RdmStepKind.PUSH)),
            ~pushes | (step.payload.lost == lost),
            # Queues and log are emptied only between messages.
            ~(queues.i_flush | controller.o_clear_log) | ~busy,
            queues.i_flush == (flush_due & ~busy), controller.o_clear_log == (clear_due & ~busy),
            # Each message counts once.
            count.messages == pushes, controller.o_pushed == pushes,
            count.ignored == (checks & ~self.i_enable), *drops,
        ]  # fmt: skip
        state = inner["fsm_state"]
        visited = [
            Mux(k < other, scanned[k] == wanted[k], ~scanned[k] | ((k == other) & (state == _SCAN)))
            for k in range(_THREADS)
        ]
        flush = inner["$signal"]  # Amaranth finds no name for the first of two in one line
        goes = (state == _QUEUE) | (state == _SCAN)
        helps = [
            state <= _SCAN, busy == (state != _IDLE), checked == (busy & (state != _CHECK)),
            scanning == (state == _SCAN), scanner.busy == scanning,
            ~(state == _CHECK) | ((scanned == 0) & (lost == 0) & (cycles == 0)),
            ~goes | ((other < _THREADS) & Cat(visited).all()),
            ~goes | (lost >> other == 0),
            ~goes | (cycles == 1 + other + (state == _SCAN)),
            ~(state == _SCAN) | (scanned.bit_select(other, 1) & Array(wanted)[other]),
            ~(state == _PUSH) | ((scanned == Cat(wanted)) & (cycles == 1 + _THREADS)),
            ~checked | ((thread < _THREADS) & (controller._lost == lost)),
            ~(busy & ~checked) | (summary.header.thread == thread),
            flush == flush_due, inner["clear_log"] == clear_due,
            *(each <= _DEPTH for each in queues.held),
        ]  # fmt: skip
        events = {
            "both-others-scanned": pushes & (scanned == 0b011),
            "dropped": checks & self.i_enable & ~passes,
            "flush-waits-for-a-message": flush_due & busy & pushes,
            "window-lost": pushes & (lost != 0),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Each message is checked first. One that is dropped or ignored changes no queue; any "
    "other is compared with the queue of each other thread that has an entry, each once, and then "
    "pushed to its own thread's queue, once and unchanged. Only then is the next one taken. Queues "
    "and log are emptied between messages, before the next one. Each message is counted once.",
    sizes="3 threads, queues of 2 entries, scans of any length and result",
    harness=CheckHarness,
    depth=1,
    events=("both-others-scanned", "dropped", "flush-waits-for-a-message", "window-lost"),
    bugs={
        "own-queue-scanned": Patch(
            _FILE, "(self._other == thread) | (queues.o_count == 0)", "(queues.o_count == 0)"
        ),
        "last-queue-forgotten": Patch(
            _FILE, "self._other == self._params.threads - 1",
            "self._other == self._params.threads - 2",
        ),
        "pushed-though-dropped": Patch(
            _FILE, "~self.i_enable | (self.i_drop != Drop.NONE)", "~self.i_enable"
        ),
        "taken-before-the-flush": Patch(
            _FILE, 'fsm.ongoing("IDLE") & ~flush & ~clear_log', 'fsm.ongoing("IDLE") & ~clear_log'
        ),
        "pushed-to-the-queue-scanned-last": Patch(
            _FILE, "queues.i_thread.eq(thread), queues.i_push.valid.eq(1),",
            "queues.i_push.valid.eq(1),",
        ),
        "flush-is-forgotten": Patch(
            _FILE, "flush.eq(self.i_flush | (flush & ~queues.i_flush))", "flush.eq(self.i_flush)"
        ),
        "counted-as-ignored-and-dropped": Patch(
            _FILE, "is_dropped = is_check & self.i_enable & (self.i_drop != Drop.NONE)",
            "is_dropped = is_check & (self.i_drop != Drop.NONE)",
        ),
    },
    cycles=22,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
