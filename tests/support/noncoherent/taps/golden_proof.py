"""Harnesses for proofs that the taps' operations are the golden model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps import rvfi_tap
from racetrap.golden_model.noncoherent.taps.address_map import Place, Window
from racetrap.golden_model.noncoherent.taps.descriptor_tap import (
    ACCESS_LAYOUT,
    SHADOWED,
    DescriptorTap,
    RegisterAccess,
)
from racetrap.golden_model.noncoherent.taps.last_stage import STAGE_LAYOUT, LastStage, retired_of
from racetrap.golden_model.noncoherent.taps.params import Attribute
from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT, Retired, operations_of
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.taps.address_map import windows_layout
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.formal.symbolic import Number, Paths, value_of
from tests.support.noncoherent.taps.system import PARAMS, REGISTERS, module_of

_K = OperationKind
_LAYOUT = struct_layout(PARAMS.monitor.operation_layout)
_ADDRESSES = tuple(getattr(REGISTERS, name) for name in (*SHADOWED, "start", "status"))
_OTHER = -1
#: Kinds in the second lane.
_LAST_LANE = frozenset({_K.CACHED_WRITE, _K.UNCACHED_WRITE, _K.DMA_WRITE})


class TapHarness(Harness):
    """A tap beside the golden model, every path of which is run on symbols.

    Parameters
    ----------
    case : Case
        What is asked.
    tap : wiring.Component
        The tap.
    inputs : mapping
        Its inputs, with the same names; ``i_valid`` is one of them if the tap has it.
    """

    def __init__(self, case: Case, tap: Any, inputs: Mapping[str, Any]):
        self._tap, self._paths, self._inputs = tap, Paths(), inputs
        super().__init__(case, inputs)

    def _compare(self, m: Module, golden: Callable[[], Any]) -> None:
        """Operations due, each a register of a lane and whether there is one: ``self._due``.

        Parameters
        ----------
        m : Module
            Module of the harness.
        golden : callable
            Operations of the golden model, and values by the registers that hold them then.
        """
        for name in self._inputs:
            m.d.comb += Value.cast(getattr(self._tap, name)).eq(Value.cast(getattr(self, name)))
        self._has = [Signal(name=f"has_{lane}") for lane in range(2)]
        self._due = [Signal(_LAYOUT, name=f"due_{lane}") for lane in range(2)]
        m.d.sync += [Cat(self._has).eq(0), *(Value.cast(due).eq(0) for due in self._due)]
        for condition, (operations, registers) in self._paths.of(golden):
            with m.If(condition):
                m.d.sync += [held.eq(value) for held, value in registers]
                for operation in operations:
                    m.d.sync += self._is_due(operation)

    def _is_due(self, operation: BusOperation) -> list[Any]:
        lane = int(operation.kind in _LAST_LANE)
        fields = operation._asdict().items()
        return [
            self._has[lane].eq(1),
            *(self._due[lane][name].eq(value_of(value)) for name, value in fields),
        ]

    def _rules(self) -> list[Value]:
        lanes = [self._tap.o_lanes[lane] for lane in range(2)]
        return [
            lane.valid == has
            for lane, has in zip(lanes, self._has, strict=True)
        ] + [
            ~has | (Value.cast(lane.operation) == Value.cast(due))
            for lane, has, due in zip(lanes, self._has, self._due, strict=True)
        ]  # fmt: skip

    def _comes(self, lane: int, *kinds: OperationKind) -> Value:
        due = self._due[lane]
        return self._has[lane] & Cat(due.kind == kind for kind in kinds).any()


class RvfiHarness(TapHarness):
    """An RVFI tap whose core retires anything."""

    def __init__(self, case: Case):
        super().__init__(case, module_of("rvfi_tap", case.bug).RvfiTap(PARAMS), {
            "i_valid": In(1), "i_retired": In(struct_layout(RETIRED_LAYOUT)), "i_tag": In(32),
            "i_windows": In(windows_layout(PARAMS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.tap = self._tap
        self._prepare(m)
        self._compare(m, self._operations)
        events = {
            "read-and-write": self._has[0] & self._has[1],
            "read-in-a-window": self._comes(0, _K.UNCACHED_READ),
            "maintenance": self._comes(0, _K.CACHE_FLUSH),
            "maintenance-of-all": self._comes(0, _K.FLUSH_ALL),
        }
        self.state(m, self._rules(), events)
        return m

    def _operations(self) -> Any:
        if not self._paths.number(self.i_valid):
            return (), ()
        # Parts of the golden code with many paths, whose results are signals.
        with mock.patch.multiple(
            rvfi_tap, place_of=lambda params, address, windows=(): self._place(address),
            _read_range=lambda retired: self._read,
            _masked_range=lambda retired, mask: self._written,
        ):  # fmt: skip
            tag = self._paths.number(self.i_tag)
            return tuple(operations_of(PARAMS, self._golden, (), tag)), ()

    def _prepare(self, m: Module) -> None:
        """Ranges and places of the instruction."""
        number, retired, joined = self._paths.number, self.i_retired, self._joined
        golden = Retired(*(number(retired[name]) for name in Retired._fields))
        windows = [
            Window(number(self.i_windows[at].first), number(self.i_windows[at].end))
            for at in range(PARAMS.windows)
        ]
        self._golden = golden
        with mock.patch.object(
            rvfi_tap, "_masked_range",
            lambda retired, mask: joined(m, lambda: _MASKED_RANGE(retired, mask)),
        ):  # fmt: skip
            self._read = joined(m, lambda: rvfi_tap._read_range(golden))
            self._written = rvfi_tap._masked_range(golden, golden.mem_wmask)
        self._places = [
            (address, joined(m, lambda address=address, inside=inside:
                             rvfi_tap.place_of(PARAMS, address, inside)))
            for address, inside in (
                (self._read[0], windows), (self._written[0], windows), (golden.rs1_rdata, ())
            )
        ]  # fmt: skip

    def _joined(self, m: Module, function: Callable[[], Any]) -> tuple[Any, ...]:
        """Results of a part of the golden code, over all its paths, as signals."""
        signals = []
        for result in self._paths.joined(function):
            signals.append(Signal(result.value.shape()))
            m.d.comb += signals[-1].eq(result.value)
        return tuple(Number(self._paths, signal) for signal in signals)

    def _place(self, of: Any) -> Place:
        attribute, address = next(place for address, place in self._places if address is of)
        *others, last = Attribute
        return Place(next((each for each in others if attribute == each), last), address)


_MASKED_RANGE = rvfi_tap._masked_range


class DescriptorHarness(TapHarness):
    """A descriptor tap at whose registers anything is written or read."""

    def __init__(self, case: Case):
        tap = module_of("descriptor_tap", case.bug).DescriptorTap(PARAMS.monitor, REGISTERS, 1)
        super().__init__(
            case, tap, {"i_access": In(struct_layout(ACCESS_LAYOUT)), "i_tag": In(32)}
        )  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        inner = OpenComponent(self._tap)
        m.submodules.tap = inner.fragment
        self._shadow = {
            name: Signal(32, name=f"golden_{name}") for name in DescriptorTap(REGISTERS).shadow
        }
        self._compare(m, self._operations)
        events = {
            "read": self._comes(0, _K.DMA_READ),
            "read-and-write": self._has[0] & self._has[1],
            "of-several-rows": self._comes(1, _K.DMA_WRITE) & (self._due[1].rows > 1),
            "sync": self._comes(0, _K.SYNC),
        }  # fmt: skip
        helps = [inner[name] == held for name, held in self._shadow.items()]
        self.state(m, self._rules(), events, helps)
        return m

    def _operations(self) -> Any:
        number, access = self._paths.number, self.i_access
        golden = DescriptorTap(REGISTERS, 1)
        golden.shadow = {name: number(held) for name, held in self._shadow.items()}
        # The golden model asks of an address only which register it is of.
        address = next((each for each in _ADDRESSES if number(access.address) == each), _OTHER)
        given = RegisterAccess(
            number(access.valid), number(access.is_write), address, number(access.data)
        )
        operations = tuple(golden.step(given, number(self.i_tag)))
        held = [(self._shadow[name], value_of(value)) for name, value in golden.shadow.items()]
        return operations, held


class LastStageHarness(Harness):
    """A last stage that any instruction leaves, beside the golden model on symbols."""

    def __init__(self, case: Case):
        self._stage = module_of("last_stage", case.bug).LastStage()
        super().__init__(case, {"i_stage": In(struct_layout(STAGE_LAYOUT))})

    def elaborate(self, platform):
        m, paths = Module(), Paths()
        m.submodules.stage = stage = self._stage
        m.d.comb += Value.cast(stage.i_stage).eq(Value.cast(self.i_stage))
        given = LastStage(*(paths.number(self.i_stage[name]) for name in LastStage._fields))
        retired, rules = stage.o_retired, []
        for condition, due in paths.of(lambda: retired_of(given)):
            for name, value in due._asdict().items():
                width = len(retired[name])
                is_due = retired[name] == value_of(value)[:width].as_unsigned()
                rules.append(~condition | is_due)
        events = {
            "load-of-a-byte": retired.mem_rmask == 0b1000,
            "store-of-a-halfword": retired.mem_wmask == 0b1100,
            "before-its-base": retired.mem_rmask.any() & (retired.rs1_rdata > self.i_stage.address),
        }  # fmt: skip
        self.state(m, rules, events)
        return m
