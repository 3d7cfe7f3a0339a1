"""Instructions of a run on Vortex cores: compared with the golden models, and as events."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from racetrap.generators.systems import system_of
from racetrap.golden_model.events import (
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    TraceHeader,
    lanes_of,
)
from racetrap.golden_model.gpu.barrier_counter import BarrierCounter
from racetrap.golden_model.gpu.issue import Instruction, IssueKind, event_of
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import COUNTED_KINDS
from racetrap.golden_model.vortex.adapter import Adapter, Start
from racetrap.golden_model.vortex.issue_decoder import SLOTS, WARPS, Action, decode, warp_of
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import unpack_records
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.vortex.instruction_word import check_word
from racetrap.sim.cosim.vortex.kernel_image import KernelImage
from racetrap.sim.cosim.vortex.simulation import REGION, VortexRun

_ACCESSES = (IssueKind.LOAD, IssueKind.STORE, IssueKind.ATOMIC)
_PASSED = (IssueKind.BARRIER, IssueKind.PARTIAL_BARRIER)
_IN_MEMORY = (Action.LOAD, Action.STORE, Action.FENCE)


class Observed(NamedTuple):
    """An instruction that a core has issued, for the front end.

    Parameters
    ----------
    cycle : int
        When it was issued.
    instruction : Instruction
        As the golden adapter makes it; a CAS with its outcome.
    number : int or None
        Number of one that memory performs.
    values : tuple of int
        What each lane would store.
    executed : int
        Instructions of the warp since its one before that is here, with this one.
    """

    cycle: int
    instruction: Instruction
    number: int | None = None
    values: tuple[int, ...] = ()
    executed: int = 0


def compare_detector(run: VortexRun) -> LaunchResult:
    """Compare all that the detector has shown with its golden model.

    Raises
    ------
    Mismatch
        At the first difference.
    """
    params = run.params
    system = system_of(params)
    packets, compare = (
        system.own("golden_model", "packets"),
        system.own("sim.cosim", "fast_compare"),
    )
    played = []
    for core in range(params.sm_count):
        columns = unpack_records(params.transaction_layout, run.transactions(core))
        rows = zip(*columns, strict=True)
        played += [(core, packets.Transaction(*row)) for row in rows]
    result: LaunchResult = compare.check_launch(run.sim, params, REGION, played)
    return result


def observe(run: VortexRun, core: int) -> list[Observed]:
    """Instructions of a core, compared with the golden adapter and with the kernel's code.

    Raises
    ------
    Mismatch
        If the adapter has made something else of what was issued, or the core has issued what the
        kernel's code is not.
    """
    golden, found, executed = Adapter(), [], [0] * WARPS
    for cycle, word, start in _items(run, core):
        if start is not None:
            found += [Observed(cycle, each) for each in golden.start(start)]
            continue
        check_word(run.kernel, word)
        executed[warp_of(word)] += 1
        issued = decode(word)
        if issued is None:
            continue
        number = issued.uuid if issued.action in _IN_MEMORY else None
        for each in golden.step(issued):
            count, executed[issued.warp] = executed[issued.warp], 0
            found.append(Observed(cycle, each, number, issued.values, count))
    _compare_instructions(run, core, found)
    return _with_outcomes(run, core, found)


def _items(run: VortexRun, core: int) -> Iterator[tuple[int, int, Start | None]]:
    """Instructions and warps that begin, those first in their cycle."""
    issued = ((cycle, 1, word) for word, cycle in zip(*run.issued(core), strict=True))
    starts = ((cycle, 0, word) for word, cycle in zip(*run.starts(core), strict=True))
    for cycle, kind, word in merge(issued, starts):
        start = Start(word & 3, word >> 2 & 3, word >> 4 & 3, word >> 6 & 7, word >> 9 & 15)
        yield cycle, word, None if kind else start


def _compare_instructions(run: VortexRun, core: int, found: list[Observed]) -> None:
    layout, bits = run.params.instruction_layout, run.params.address_bits
    seen = run.instructions(core).words
    for number, (each, word) in enumerate(zip(found, seen, strict=False)):
        fields, due = layout.unpack(word), each.instruction._asdict()
        addresses = fields.pop("addresses")
        shown = tuple(
            addresses >> bits * lane & (1 << bits) - 1 for lane in lanes_of(fields["lanes"])
        )
        got = {**fields, "addresses": shown if fields["kind"] in _ACCESSES else ()}
        if got != {name: due[name] for name in got}:
            raise Mismatch(
                f"Core {core}: instruction {number} must be {each.instruction}, not {got}"
            )
    if len(seen) != len(found):
        raise Mismatch(f"Core {core}: adapter must give {len(found)} instructions, not {len(seen)}")


def _with_outcomes(run: VortexRun, core: int, found: list[Observed]) -> list[Observed]:
    """The same with what each CAS has found: outcomes of a warp are in its order."""
    layout = run.params.outcome_layout
    outcomes: dict[int, list[int]] = {warp: [] for warp in range(WARPS)}
    for word in run.outcomes(core).words:
        fields = layout.unpack(word)
        outcomes[fields["warp"]].append(fields["success"])
    return [
        each._replace(
            instruction=each.instruction._replace(
                success=outcomes[each.instruction.warp].pop(0)
            )
        )
        if each.instruction.is_cas else each
        for each in found
    ]  # fmt: skip


def _with_values(event: Event, values: tuple[int, ...]) -> Event:
    """An event with what its lanes have stored; a CAS is as it was."""
    stores = event.kind == EventKind.STORE or event.op == AtomicOp.EXCH
    if not event.lanes or (event.kind == EventKind.ATOMIC and event.op == AtomicOp.CAS):
        return event
    mask = (1 << 8 * event.size) - 1
    lanes = tuple(
        each._replace(value=values[each.lane] & mask if stores else 0) for each in event.lanes
    )
    return event._replace(lanes=lanes)


class _Timed(NamedTuple):
    """An event with the place in the order of performing."""

    cycle: int
    core: int
    number: int
    event: Event


def events_of(run: VortexRun, observed: list[list[Observed]]) -> list[Event]:
    """Events of a launch, in the order in which memory has performed the accesses.

    Parameters
    ----------
    run : VortexRun
        The launch.
    observed : list of list of Observed
        Instructions of each core.
    """
    timed = merge(*(_timed(run, core, each) for core, each in enumerate(observed)))
    begin, end = Event(EventKind.KERNEL_BEGIN), Event(EventKind.KERNEL_END)
    return [begin, *(each.event for each in timed), end]


def trace_of(image: KernelImage, params: GpuParams, events: list[Event]) -> Trace:
    """Trace of a kernel's launches."""
    pcs = {event.pc for event in events if event.pc}
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, WARPS),
        region=DataRegion(REGION.data_base, REGION.size_log2),
        source=f"vortex {image.source.name}", locations=image.lines(pcs),
    )  # fmt: skip
    return Trace.from_events(header, events)


def _timed(run: VortexRun, core: int, observed: list[Observed]) -> list[_Timed]:
    """Events of a core; a barrier is behind all that its warps have performed before."""
    performed = dict(zip(*run.performed(core), strict=True))
    counter, last, executed = BarrierCounter(run.params), [0] * WARPS, [0] * WARPS
    timed: list[_Timed] = []
    members: dict[int, tuple[int, ...]] = {}
    blocks, retired = iter(run.blocks(core)), [0] * SLOTS
    for each in observed:
        one = each.instruction
        if one.kind == IssueKind.BLOCK_START:
            members[one.slot] = lanes_of(one.warps)
        warps = members[one.slot]
        is_of_block = one.kind in (IssueKind.BLOCK_START, IssueKind.BLOCK_END)
        cycle = each.cycle if each.number is None else performed[each.number]
        executed[one.warp] += each.executed
        if one.kind == IssueKind.EXIT:
            last[one.warp] = at = max(cycle, last[one.warp])
            event = Event(
                EventKind.EXIT, sm=core, slot=one.slot, warp=one.warp, pc=one.pc,
                grid_block=executed[one.warp],
            )  # fmt: skip
            executed[one.warp] = 0
            timed.append(_Timed(at, core, len(timed), event))
        for passed in counter.step(one):
            mine = warps if is_of_block or passed.kind in _PASSED else [one.warp]
            # Memory may perform a store after its warp has ended and a block has taken its slot.
            before = retired[one.slot] if passed.kind == IssueKind.BLOCK_START else 0
            at = max(cycle, before, *(last[warp] for warp in mine))
            if passed.kind == IssueKind.BLOCK_END:
                retired[one.slot] = at
            for warp in mine:
                last[warp] = at
            event = _with_values(event_of(passed, core), each.values)
            if passed.kind == IssueKind.BLOCK_START:
                event = event._replace(grid_block=next(blocks), mask=0)
            elif event.kind in COUNTED_KINDS:
                event = event._replace(grid_block=executed[one.warp])
                executed[one.warp] = 0
            timed.append(_Timed(at, core, len(timed), event))
    return sorted(timed, key=lambda item: (item.cycle, item.number))
