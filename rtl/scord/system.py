"""The whole ScoRD detector, between a GPU's SMs and its memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.bits import total
from racetrap.rtl.gpu.check_lane import trace_signature
from racetrap.rtl.gpu.launch_control import TransactionGate
from racetrap.rtl.gpu.system import GpuSystem
from racetrap.rtl.scord import registers
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.interleaver import Interleaver
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.tracker import Tracker


class ScordSystem(GpuSystem):
    """ScoRD's trackers and banks, with access buffers before the trackers if there are any.

    A packet is at its bank's input five cycles after its transaction was taken; the banks
    of a port take one segment a cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    o_fencing : ``Out(warps_per_sm).array(sm_count)``
        Warps with a fence in flight: none of their transactions is taken, nor a barrier of their
        block.  An SM that offers no such transaction is not stalled.
    o_left_out : ``Out(1).array(sm_count)``
        The SM's transaction taken in this cycle is not checked: the access buffer drops it, or its
        line is not sampled; absent if the policy skips nothing.
    trace_fences : ``Out({valid, payload: step_layout}).array(banks * (fence_lanes - 1))``
        For each bank, steps of the other fences that it counts in the same cycle; only with
        ``trace_port``.
    """

    register_module = registers
    tracker, interleaver, bank = Tracker, Interleaver, DetectorBank

    def __init__(self, params: ScordParams):
        ports = {"o_fencing": Out(params.warps_per_sm).array(params.sm_count)}
        if params.leaves_out:
            ports["o_left_out"] = Out(1).array(params.sm_count)
        super().__init__(params, ports)

    def _trace_ports(self, params: ScordParams) -> dict[str, Any]:
        others = params.banks * (params.fence_lanes - 1)
        fences = {"trace_fences": Out(trace_signature(params)).array(others)}
        return super()._trace_ports(params) | fences

    def elaborate(self, platform):
        m = super().elaborate(platform)
        if self._params.leaves_out:
            left_out = {"accesses_left_out": total(self._left_out(m))}
            block = m.submodules.registers
            block.count(m, left_out, block.control.clear_counters)
        return m

    def _left_out(self, m: Module) -> list[Value]:
        """Words of the accesses that each SM's buffer has skipped in the cycle before."""
        sms = range(self._params.sm_count)
        return [m.submodules[f"access_buffer_{sm}"].o_count for sm in sms]

    def _elaborate_input(
        self, m: Module, sm: int, gate: TransactionGate, tracker: Any
    ) -> list[Any]:
        if not self._params.access_buffer_depth:
            return super()._elaborate_input(m, sm, gate, tracker)
        m.submodules[f"access_buffer_{sm}"] = buffer = AccessBuffer(self._params)
        wiring.connect(m, gate.o, buffer.i)
        wiring.connect(m, buffer.o, tracker.i_transaction)
        if self._params.leaves_out:
            m.d.comb += self.o_left_out[sm].eq(buffer.o_left_out)
        return [buffer]

    def _elaborate_own(self, m: Module, sm: int, tracker: Any, interleaver: Any) -> None:
        fencing = tracker.o_fencing
        if self._params.access_buffer_depth:
            fencing = fencing | m.submodules[f"access_buffer_{sm}"].o_fencing
        m.d.comb += [
            tracker.i_block_masks.eq(block_masks_of(self._params, sm)),
            tracker.i_fenced.eq(interleaver.o_fenced[sm]),
            self.o_fencing[sm].eq(fencing),
        ]

    def _elaborate_trace(self, m: Module, number: int, bank: DetectorBank) -> None:
        super()._elaborate_trace(m, number, bank)
        for fence, trace in enumerate(bank.trace_fences, number * len(bank.trace_fences)):
            wiring.connect(m, trace, wiring.flipped(self.trace_fences[fence]))
