"""Launch control: what happens at a kernel launch, in order.

Ref: ScoRD (ISCA'20) Section IV (metadata and counters are reset at kernel launch).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.bits import is_between
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.gpu.protection import all_attributes_layout, bounds_layout, is_inside
from racetrap.rtl.gpu.region import region_layout
from racetrap.rtl.gpu.region_table import RegionChecker, region_registers


class LaunchControl(wiring.Component):
    """Stops transactions, waits until the pipeline is empty, takes the configuration, clears.

    So a launch may be requested at any time, and no access of one kernel is checked with the region
    of another.  A configuration that breaks a rule of ``Region.check``, or a ring that is
    misaligned or ends beyond the address bits, is refused: ``o_config_error`` rises, nothing is
    cleared and the previous launch stays in force.  A request during a launch is ignored.
    Registers may be written until it clears: it takes only values that have been checked, never a
    register in the cycle in which it changes.  With ``protection`` metadata and ring must also lie
    within their bounds, which must not change after the first launch that is accepted.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_launch : ``In(1)``
        Pulse: launch a kernel.
    i_written : ``In(1)``
        A register may have changed since the cycle before.
    i_bases : ``In({data, metadata, report: 64})``
        Byte addresses in the registers; with a table of regions only the report's.
    i_size_log2, i_capacity_log2 : ``In(6)``
        Sizes in the registers; with a table of regions only the ring's.
    i_regions : ``In(region_registers(params))``
        Table of regions in the registers, if there are several.
    i_bounds, i_attributes : ``In(bounds_layout())``, ``In(all_attributes_layout())``
        Bounds of metadata and ring, and attributes of accesses to them, in the registers; only with
        ``protection``.
    i_idle : ``In(1)``
        Everything accepted is complete, and no transaction is let in.
    i_busy : ``In(1)``
        Some part is clearing; expected from the second cycle after ``o_clear`` on.
    o_region : ``Out(region_layout(params))``
        Monitored region of the last accepted launch.
    o_report_base, o_report_capacity_log2 : ``Out(address_bits)``, ``Out(5)``
        Its ring buffer: byte address, log2 of the records.
    o_attributes : ``Out(all_attributes_layout())``
        Its attributes.
    o_taken, o_outside : ``Out(1)``
        Pulses: a launch is accepted, and takes the registers; one is refused because of the bounds.
        These three only with ``protection``.
    o_clear : ``Out(1)``
        Pulse: clear everything.
    o_hold : ``Out(1)``
        Let no further transaction in.
    o_launched : ``Out(1)``
        A launch has been accepted since reset.
    o_busy : ``Out(1)``
        A launch is in progress.
    o_config_error : ``Out(1)``
        The last launch was refused.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        region = {
            "i_bases": In(data.StructLayout({"data": 64, "metadata": 64, "report": 64})),
            "i_size_log2": In(6),
        }
        if params.regions > 1:
            region = {
                "i_bases": In(data.StructLayout({"report": 64})),
                "i_regions": In(region_registers(params)),
            }
        protection = {
            "i_bounds": In(bounds_layout()),
            "i_attributes": In(all_attributes_layout()),
            "o_attributes": Out(all_attributes_layout()),
            "o_taken": Out(1),
            "o_outside": Out(1),
        }
        super().__init__({
            "i_launch": In(1),
            "i_written": In(1),
            **region,
            **(protection if params.protection else {}),
            "i_capacity_log2": In(6),
            "i_idle": In(1),
            "i_busy": In(1),
            "o_region": Out(region_layout(params)),
            "o_report_base": Out(params.address_bits),
            "o_report_capacity_log2": Out(5),
            "o_clear": Out(1),
            "o_hold": Out(1),
            "o_launched": Out(1),
            "o_busy": Out(1),
            "o_config_error": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # The result of the rules is one cycle late.
        may_take = self.i_idle & ~self.i_written
        if self._params.regions == 1:
            is_legal = self._obeyed(m, [*self._region_rules(), *self._ring_rules()])
            latch_region = [
                self.o_region.data_base.eq(self.i_bases.data),
                self.o_region.size_log2.eq(self.i_size_log2),
                self.o_region.metadata_base.eq(self.i_bases.metadata),
            ]
        else:
            m.submodules.checker = checker = RegionChecker(self._params)
            m.d.comb += [
                checker.i_registers.eq(self.i_regions),
                checker.i_written.eq(self.i_written),
            ]
            may_take &= checker.o_settled
            is_legal = self._obeyed(m, self._ring_rules()) & checker.o_legal
            latch_region = [self.o_region.eq(checker.o_region)]
        keeps_bounds: Value = Const(1)
        if self._params.protection:
            keeps_bounds = self._elaborate_bounds(m)
            is_legal &= keeps_bounds
        m.d.comb += [self.o_busy.eq(1), self.o_hold.eq(1)]
        with m.FSM():
            with m.State("READY"):
                m.d.comb += [self.o_busy.eq(0), self.o_hold.eq(0)]
                with m.If(self.i_launch):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(may_take):
                    m.d.sync += self.o_config_error.eq(~is_legal)
                    m.next = "READY"
                with m.If(may_take & is_legal):
                    self._latch_configuration(m, latch_region)
                    m.next = "CLEAR"
                if self._params.protection:
                    m.d.comb += [
                        self.o_taken.eq(may_take & is_legal),
                        self.o_outside.eq(may_take & ~keeps_bounds),
                    ]
            with m.State("CLEAR"):
                m.d.comb += self.o_clear.eq(1)
                m.next = "START"
            with m.State("START"):
                m.next = "WAIT"
            with m.State("WAIT"):
                with m.If(~self.i_busy):
                    m.next = "READY"
        return m

    def _obeyed(self, m: Module, rules: list[Value], name: str = "obeyed") -> Value:
        """Whether the registers obey rules; known one cycle after they are written."""
        obeyed = Signal(len(rules), name=name)
        for number, rule in enumerate(rules):
            m.d.sync += obeyed[number].eq(rule)
        return obeyed.all()

    def _ring_rules(self) -> list[Value]:
        return [
            (self.i_bases.report & (RECORD_BYTES - 1)) == 0,
            self.i_capacity_log2 < 32,
            self._ring_end() <= 1 << self._params.address_bits,
        ]

    def _ring_end(self) -> Value:
        return self.i_bases.report + (Const(RECORD_BYTES) << self.i_capacity_log2)

    def _metadata_end(self) -> Value:
        """End of the metadata of the only region."""
        size = Const(1, 1) << self.i_size_log2
        entries = size >> self._params.entry_share_log2
        return self.i_bases.metadata + entries * self._params.entry_bytes

    def _elaborate_bounds(self, m: Module) -> Value:
        """Whether metadata and ring keep to their bounds; known one cycle after a write."""
        rules = [is_inside(self.i_bounds.report, self.i_bases.report, self._ring_end())]
        if self._params.regions == 1:
            metadata = self.i_bases.metadata
            rules.append(is_inside(self.i_bounds.metadata, metadata, self._metadata_end()))
            return self._obeyed(m, rules, "inside")
        checker: Any = m.submodules.checker
        m.d.comb += checker.i_bounds.eq(self.i_bounds.metadata)
        return self._obeyed(m, rules, "inside") & checker.o_inside

    def _region_rules(self) -> list[Value]:
        params, bases = self._params, self.i_bases
        low, high = params.min_region_log2, params.max_region_log2
        size = Const(1, 1) << self.i_size_log2
        end = 1 << params.address_bits
        return [
            is_between(self.i_size_log2, low, high),
            (bases.data & (size - 1)) == 0,
            bases.data < end,
            (bases.metadata & (params.segment_bytes - 1)) == 0,
            self._metadata_end() <= end,
        ]

    def _latch_configuration(self, m: Module, latch_region: list[Any]) -> None:
        m.d.sync += [
            self.o_launched.eq(1),
            *latch_region,
            self.o_report_base.eq(self.i_bases.report),
            self.o_report_capacity_log2.eq(self.i_capacity_log2),
        ]
        if self._params.protection:
            m.d.sync += self.o_attributes.eq(self.i_attributes)


class TransactionGate(wiring.Component):
    """Holds an SM's transactions back during a launch; combinational while open.

    It closes between transactions only: one that was offered to the tracker is not withdrawn.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(transaction_layout))``
        Transactions of the SM's coalescer.
    o : ``Out(stream.Signature(transaction_layout))``
        Transactions for the tracker.
    i_hold : ``In(1)``
        Close as soon as no transaction waits at the tracker.
    o_closed : ``Out(1)``
        No transaction passes.
    """

    def __init__(self, params: GpuParams):
        transaction = stream.Signature(struct_layout(params.transaction_layout))
        super().__init__({
            "i": In(transaction),
            "o": Out(transaction),
            "i_hold": In(1),
            "o_closed": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o.payload.eq(self.i.payload),
            self.o.valid.eq(self.i.valid & ~self.o_closed),
            self.i.ready.eq(self.o.ready & ~self.o_closed),
        ]
        with m.If(~self.i_hold):
            m.d.sync += self.o_closed.eq(0)
        with m.Elif(~self.i.valid | self.i.ready):
            m.d.sync += self.o_closed.eq(1)
        return m
