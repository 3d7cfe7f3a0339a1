"""Core unit: collects the addresses of a block, keeps the timestamp, detects conflicts.

One for each hardware context of a core.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3 and 4, Fig. 5(b), Table 1.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import CoreOp, Mode
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import forward_ports, ports_like
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.sigrace.block_sets import BlockSets
from racetrap.rtl.sigrace.compressor import Compressor
from racetrap.rtl.sigrace.controller import Controller
from racetrap.rtl.sigrace.core_state import CoreState
from racetrap.rtl.sigrace.granule_splitter import GranuleSplitter
from racetrap.rtl.sigrace.layouts import index_layout, item_layout
from racetrap.rtl.sigrace.signature_bank import granule_indices
from racetrap.rtl.sigrace.step_recorder import StepRecorder, core_trace_signature
from racetrap.rtl.sigrace.trap_check import TrapCheck

_STATE_PORTS = ("o_timestamp", "o_trt", "o_thread", "o_mode", "o_conflicting", "o_saturated")


class CoreUnit(wiring.Component):
    """SigRace's addition to a core: commit-stage events in, Summary messages out.

    Four pipeline stages: split accesses into granules; hash; look up; take effect.  Throughput is
    one granule a cycle; an event takes effect four cycles after it was taken.  After a
    CONFLICT_WRITE or RESET comes one idle cycle.

    A block that ends moves to the compressor in one cycle, in which the next granule is already
    inserted into the new block.  Events wait while the compressor is still busy, and while the trap
    FIFO is full.  No ``ready`` depends combinationally on a ``valid``.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_event : ``In(stream.Signature(event_layout))``
        Events of the core, in program order.
    i_core, i_context : ``In(8)``, ``In(4)``
        Place of the unit; constant.
    o_message : ``Out(stream.Signature(flit_layout))``
        Summary messages.
    o_trap : ``Out(stream.Signature(trap_layout))``
        Trap records, oldest first.
    o_timestamp, o_trt : ``Out(timestamp_width)``
        The thread's timestamp (TS), and the one it must reach (TRT).
    o_thread : ``Out(thread_bits)``
        SigRaceID.
    o_mode, o_conflicting : ``Out(2)``, ``Out(1)``
        ``Mode`` (OM), and the CT flag.
    o_saturated : ``Out(1)``
        A counter of the timestamp has reached its maximum: software must restart.
    o_idle : ``Out(1)``
        No event, no block that has ended and no flit is inside.  A block that has not ended, and
        trap records, do not count.
    trace : ``Out(core_trace_signature(params))``
        Every event with the state after it, in order; only with ``trace_port``.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        self._state = CoreState(params)
        members = {
            "i_event": In(stream.Signature(struct_layout(params.event_layout))),
            "i_core": In(params.header_layout.fields["core"]),
            "i_context": In(params.header_layout.fields["context"]),
            "o_message": Out(stream.Signature(struct_layout(params.flit_layout))),
            "o_trap": Out(stream.Signature(struct_layout(params.trap_layout))),
            **ports_like(self._state, *_STATE_PORTS),
            "o_idle": Out(1),
        }
        if params.trace_port:
            members["trace"] = Out(core_trace_signature(params))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.sets = sets = BlockSets(params)
        m.submodules.traps = traps = TrapCheck(params)
        m.submodules.state = state = self._state
        m.submodules.controller = controller = Controller(params)
        m.submodules.compressor = compressor = Compressor(params)
        wiring.connect(m, compressor.o, wiring.flipped(self.o_message))
        wiring.connect(m, traps.o_trap, wiring.flipped(self.o_trap))

        commit, is_waiting = self._elaborate_lookup_stages(m, sets, traps)
        self._elaborate_commit_stage(m, commit, sets, traps, state, controller)
        self._elaborate_block_end(m, sets, state, controller, compressor)
        forward_ports(m, self, state, *_STATE_PORTS)
        m.d.comb += self.o_idle.eq(
            ~(is_waiting | commit.valid | controller.o_is_ending) & compressor.o_idle
        )
        if params.trace_port:
            self._elaborate_trace(m, commit, sets, state, controller)
        return m

    def _elaborate_lookup_stages(self, m: Module, sets: BlockSets, traps: TrapCheck):
        """First three stages: the stream into the commit stage, and whether they hold an item."""
        found = data.StructLayout({
            "item": item_layout(self._params),
            "indices": index_layout(self._params),
            "is_member": 1,  # of the Conflict Signature
        })  # fmt: skip
        m.submodules.splitter = splitter = GranuleSplitter(self._params)
        m.submodules.hashed = hashed = StreamRegister(found)
        m.submodules.commit = commit = StreamRegister(found)
        wiring.connect(m, wiring.flipped(self.i_event), splitter.i)
        # No lookup while the Conflict Signature is about to change.
        is_changing = commit.o.valid & commit.o.payload.item.event.op.matches(
            CoreOp.CONFLICT_WRITE, CoreOp.RESET
        )
        next_item = hashed.o.payload
        m.d.comb += [
            hashed.i.valid.eq(splitter.o.valid),
            hashed.i.payload.item.eq(splitter.o.payload),
            hashed.i.payload.indices.eq(granule_indices(self._params, splitter.o.payload.granule)),
            splitter.o.ready.eq(hashed.i.ready),
            commit.i.valid.eq(hashed.o.valid & ~is_changing),
            commit.i.payload.item.eq(next_item.item),
            commit.i.payload.indices.eq(next_item.indices),
            commit.i.payload.is_member.eq(traps.o_is_member),
            hashed.o.ready.eq(commit.i.ready & ~is_changing),
            traps.i_indices.eq(next_item.indices),
            sets.i_fetch.valid.eq(commit.i.valid & commit.i.ready),
            sets.i_fetch.payload.eq(next_item.item.granule),
        ]
        return commit.o, splitter.o.valid | hashed.o.valid

    def _elaborate_commit_stage(self, m: Module, commit, sets, traps, state, controller):
        """Commit stage: the controller decides whether the item takes effect, the others act."""
        item = commit.payload.item
        event = item.event
        is_write = event.op == CoreOp.STORE
        m.d.comb += [
            controller.i_valid.eq(commit.valid),
            controller.i_item.eq(item),
            controller.i_collecting.eq(state.o_collecting),
            controller.i_hits.eq(
                commit.payload.is_member & (state.o_mode == Mode.ANALYSIS) & state.o_conflicting
            ),
            controller.i_overflows.eq(sets.o_overflows),
            controller.i_is_empty.eq(sets.o_is_empty),
            controller.i_reaches_limit.eq(state.o_reaches_limit),
            controller.i_trap_ready.eq(traps.i_trap.ready),
            commit.ready.eq(controller.o_step),
            state.i_item.eq(item),
            state.i_step.eq(controller.o_step),
            state.i_ends.eq(controller.o_ends),
            sets.i_granule.eq(item.granule),
            sets.i_indices.eq(commit.payload.indices),
            sets.i_is_write.eq(is_write),
            sets.i_insert.eq(controller.o_insert),
            sets.i_clear.eq(controller.o_clear),
            traps.i_write.eq(controller.o_step & (event.op == CoreOp.CONFLICT_WRITE)),
            traps.i_index.eq(event.index),
            traps.i_data.eq(event.data),
            traps.i_clear.eq(controller.o_step & (event.op == CoreOp.RESET)),
            traps.i_trap.valid.eq(controller.o_trap_valid),
            traps.i_trap.payload.address.eq(item.granule << GRANULE_LOG2),
            traps.i_trap.payload.pc.eq(event.pc),
            traps.i_trap.payload.is_write.eq(is_write),
        ]

    def _elaborate_block_end(self, m: Module, sets, state, controller, compressor):
        """A block that ends goes to the compressor, with the next sequence number."""
        sequence = Signal(self._params.sequence_bits)
        block = compressor.i.payload
        m.d.comb += [
            compressor.i.valid.eq(controller.o_block.valid),
            controller.o_block.ready.eq(compressor.i.ready),
            block.header.core.eq(self.i_core),
            block.header.context.eq(self.i_context),
            block.header.thread.eq(state.o_thread),
            block.header.sequence.eq(sequence),
            block.header.cause.eq(controller.o_block.payload),
            block.header.is_hashed.eq(self._params.form is Form.HASHED),
            block.timestamp.eq(state.o_timestamp),
            block.read.eq(sets.o_read),
            block.write.eq(sets.o_write),
        ]
        with m.If(compressor.i.valid & compressor.i.ready):
            m.d.sync += sequence.eq(sequence + 1)

    def _elaborate_trace(self, m: Module, commit, sets, state, controller):
        m.submodules.recorder = recorder = StepRecorder(self._params)
        step = self.trace.payload
        m.d.comb += [
            recorder.i_item.payload.eq(commit.payload.item),
            recorder.i_item.valid.eq(controller.o_step),
            recorder.i_sent.eq(controller.o_sent),
            recorder.i_cause.eq(controller.o_cause),
            recorder.i_traps.eq(controller.o_trap_valid),
            self.trace.valid.eq(recorder.o_step.valid),
            step.eq(recorder.o_step.payload),
            step.collecting.eq(state.o_collecting),
            step.counter.eq(state.o_counter),
            step.thread.eq(state.o_thread),
            step.own.eq(state.o_own),
            step.saturated.eq(state.o_saturated),
        ]
        if self._params.form is Form.SETS:
            # A block that has reached its limit has ended, though it may not have left yet.
            with m.If(~controller.o_is_ending):
                m.d.comb += [
                    step.read_values.eq(sets.o_read.count),
                    step.write_values.eq(sets.o_write.count),
                ]
