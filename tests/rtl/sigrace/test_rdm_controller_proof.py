"""Proof: each message is checked, searched for, and pushed, once."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.packets import Drop, RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.search import Search
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/rdm_controller.py"
_PARAMS = SigraceParams(
    cores=2, threads=3, filters=2, filter_bits=16, history_depth=2, timestamp_bits=2,
    usb_limit=1, trace_port=False, scanners=2,
)  # fmt: skip
_IDLE, _CHECK, _SEARCH, _PUSH = range(4)


class _Search(Search):
    """A search that takes any time and finds anything."""

    def elaborate(self, platform):
        self.busy, self.ends, self.finds = Signal(), Signal(), Signal(self.o_lost.shape())
        m = Module()
        m.d.comb += [self.o_done.eq(~self.busy | self.ends), self.o_lost.eq(self.finds)]
        m.d.sync += self.busy.eq(self.i_start | (self.busy & ~self.ends))
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
            "i_log_full": In(1), "i_ends": In(1), "i_lost": In(_PARAMS.threads),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        controller, search = self._controller, _Search(_PARAMS)
        with mock.patch.object(self._module, "Search", return_value=search):
            inner = OpenComponent(controller)
        m.submodules.controller = inner.fragment
        m.d.comb += [
            controller.i.valid.eq(self.i_valid), controller.i.payload.eq(self.i_message),
            controller.i_enable.eq(self.i_enable), controller.i_flush.eq(self.i_flush),
            controller.i_clear_log.eq(self.i_clear), controller.i_drop.eq(self.i_drop),
            controller.i_log_full.eq(self.i_log_full), search.ends.eq(self.i_ends),
            search.finds.eq(self.i_lost),
        ]  # fmt: skip
        accepts = controller.i.valid & controller.i.ready
        busy, checked, searching = Signal(), Signal(), Signal()
        kept = Signal(self.i_message.shape())
        flush_due, clear_due, cycles = Signal(), Signal(), Signal(4)
        checks = busy & ~checked
        passes = self.i_enable & (self.i_drop == Drop.NONE)
        starts, pushes = search.i_start, search.i_push
        m.d.sync += [
            busy.eq(accepts | (busy & ~(checks & ~passes) & ~pushes)),
            checked.eq((checks & passes) | (checked & ~pushes)),
            searching.eq(starts | (searching & ~search.o_done)),
            flush_due.eq(self.i_flush | (flush_due & ~search.i_flush)),
            clear_due.eq(self.i_clear | (clear_due & ~controller.o_clear_log)),
            cycles.eq(Mux(accepts, 0, cycles + (busy & ~searching))),
        ]  # fmt: skip
        with m.If(accepts):
            m.d.sync += kept.eq(self.i_message)
        # The origin of a message with such a thread is refused.
        thread = kept.summary.header.thread
        m.d.comb += Assume(~(checks & passes) | (thread < _PARAMS.threads))
        count, step = controller.o_count, controller.o_step[0]
        drops = [
            count[f"dropped_{drop.name.lower()}"]
            == (checks & self.i_enable & (self.i_drop == drop))
            for drop in Drop
            if drop != Drop.NONE
        ]  # fmt: skip
        searched = [
            search.i_message[name] == kept.summary[name] for name in ("timestamp", "read", "write")
        ]
        rules = [
            # One message at a time; until it is done, the controller works on it.
            ~accepts | ~busy, ~accepts | ~(flush_due | clear_due),
            ~busy | (Value.cast(controller.o_arrival) == Value.cast(kept)),
            busy | flush_due | clear_due | controller.i.ready,
            # One cycle to check and one to push, the search aside.
            ~busy | (cycles < 2),
            controller.o_follow == checks,
            # One search for each message that passes; it sees the message as it came.
            starts == (checks & passes),
            ~busy | Cat(searched).all(), ~checked | (search.i_thread == thread),
            # When the search has ended, the message is pushed.
            ~pushes | (busy & checked & ~searching),
            ~pushes | (step.valid & (step.payload.kind == RdmStepKind.PUSH)),
            ~pushes | (step.payload.lost == self.i_lost),
            # Queues and log are emptied only between messages.
            ~(search.i_flush | controller.o_clear_log) | ~busy,
            search.i_flush == (flush_due & ~busy), controller.o_clear_log == (clear_due & ~busy),
            # Each message counts once.
            count.messages == pushes, controller.o_pushed == pushes,
            count.ignored == (checks & ~self.i_enable), *drops,
        ]  # fmt: skip
        state = inner["fsm_state"]
        flush = inner["$signal"]  # Amaranth finds no name for the first of two in one line
        helps = [
            state <= _PUSH, busy == (state != _IDLE), checked == (busy & (state != _CHECK)),
            searching == (state == _SEARCH), search.busy == searching,
            ~(state == _CHECK) | (cycles == 0), ~checked | (cycles == 1),
            ~checked | (thread < _PARAMS.threads),
            flush == flush_due, inner["clear_log"] == clear_due,
        ]  # fmt: skip
        events = {
            "long-search": pushes & search.finds[0] & inner["clear_log"],
            "dropped": checks & self.i_enable & ~passes,
            "flush-waits-for-a-message": flush_due & busy & pushes,
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Each message is checked first. One that is dropped or ignored changes no queue; for any "
    "other there is one search, which sees it unchanged, and then it is pushed, once. Only then is "
    "the next one taken. Queues and log are emptied between messages, before the next one. Each "
    "message is counted once.",
    sizes="3 threads, searches of any length and result",
    harness=CheckHarness,
    depth=1,
    events=("long-search", "dropped", "flush-waits-for-a-message"),
    bugs={
        "pushed-though-dropped": Patch(
            _FILE, "~self.i_enable | (self.i_drop != Drop.NONE)", "~self.i_enable"
        ),
        "taken-before-the-flush": Patch(
            _FILE, 'fsm.ongoing("IDLE") & ~flush & ~clear_log', 'fsm.ongoing("IDLE") & ~clear_log'
        ),
        "pushed-before-the-search-ends": Patch(_FILE, "with m.If(search.o_done):", "if True:"),
        "message-of-the-link": Patch(
            _FILE, "search.i_thread.eq(summary.header.thread)",
            "search.i_thread.eq(summary.header.core)",
        ),
        "flush-is-forgotten": Patch(
            _FILE, "flush.eq(self.i_flush | (flush & ~search.i_flush))", "flush.eq(self.i_flush)"
        ),
        "counted-as-ignored-and-dropped": Patch(
            _FILE, "return is_check & self.i_enable & (self.i_drop != Drop.NONE)",
            "return is_check & (self.i_drop != Drop.NONE)",
        ),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
