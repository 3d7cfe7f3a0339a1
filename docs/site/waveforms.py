"""Waveform figures, drawn from simulations of the blocks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from amaranth.lib.wiring import Component
from amaranth.sim import Simulator

from docs.site.svg import figure, text
from racetrap.generators.scord import SCORD
from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import PacketKind, RaceKind, TableRow, TransactionKind
from racetrap.rtl.gpu.front_end import FrontEnd
from racetrap.rtl.scord.check_pipeline import CheckPipeline
from racetrap.rtl.scord.coalescer import Coalescer
from racetrap.rtl.sigrace.compressor import Compressor

_NAMES, _LANE, _HIGH = 150, 34, 20
#: Width of a letter, of what a cycle has beside its word, and of a cycle without one.
_LETTER, _MORE, _NARROW = 6, 18, 24


@dataclass
class Lane:
    """A signal: in each cycle a word that is shown, a level, or ``None`` for no valid word."""

    name: str
    values: list[str | bool | None] = field(default_factory=list)


def _steps(lane: Lane, top: float, widths: Sequence[int]) -> Iterator[str]:
    """A level as a line; words as boxes, and a low line where there is none."""
    low, x, way = top + _HIGH, float(_NAMES), ""
    for value, width in zip(lane.values, widths, strict=False):
        if isinstance(value, str):
            yield f'<rect x="{x + 2:g}" y="{top:g}" width="{width - 4}" height="{_HIGH}"/>'
            yield text(x + width / 2, top + 14, value, note=True)
        else:
            y = top if value else low
            way += f"{'L' if way else 'M'}{x:g} {y:g}L{x + width:g} {y:g}"
        x += width
        if isinstance(value, str) and way:
            way += f"M{x:g} {low:g}"
    if way:
        yield f'<path class="strong" d="{way}"/>'


def draw(title: str, lanes: Sequence[Lane]) -> str:
    """A figure of signals, a column a clock cycle."""
    widths = [_width(values) for values in zip_longest(*(lane.values for lane in lanes))]
    height = 26 + _LANE * len(lanes)
    parts = []
    for cycle, width in enumerate(widths):
        x = _NAMES + sum(widths[:cycle])
        parts.append(f'<path d="M{x} 18V{height}"/>')
        parts.append(text(x + width / 2, 12, str(cycle), note=True))
    for number, lane in enumerate(lanes):
        top = 24 + _LANE * number
        parts.append(text(_NAMES - 10, top + 15, lane.name, anchor="end"))
        parts += _steps(lane, top, widths)
    return figure(title, _NAMES + sum(widths) + 10, height + 4, parts)


def _width(values: Iterable[str | bool | None]) -> int:
    """Width of a cycle with words."""
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    return _MORE + _LETTER * longest if longest else _NARROW


def _simulate(component: Component, process: Callable[[Any], Awaitable[None]]) -> None:
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


#: Accesses to one entry in consecutive cycles: kind, and warp of the first block.
_ACCESSES = ((PacketKind.STORE, 0), (PacketKind.LOAD, 1), (PacketKind.LOAD, 0))


def check_pipeline() -> str:
    """Three accesses to one entry, back to back, on their way through the check pipeline."""
    params = SCORD.presets["scord-tiny"].params
    pipeline = CheckPipeline(params)
    given, forwarded, step, row, race, changed = (
        Lane("i"), Lane("i.is_forwarded"), Lane("o_step.valid"), Lane("o_step.row"),
        Lane("o_step.race"), Lane("o_checked.changed"),
    )  # fmt: skip

    async def run(ctx: Any) -> None:
        before = params.entry_layout.unpack(UNINITIALISED_ENTRY)
        ctx.set(pipeline.i.payload.entry, before)
        ctx.set(pipeline.i.payload.located.monitored, 1)
        for cycle in range(len(_ACCESSES) + 4):
            is_given = cycle < len(_ACCESSES)
            if is_given:
                kind, warp = _ACCESSES[cycle]
                payload = pipeline.i.payload
                ctx.set(payload.located.packet.kind, kind)
                ctx.set(payload.located.packet.warp, warp)
                ctx.set(payload.slot, cycle)
                ctx.set(payload.is_forwarded, cycle > 0)
                ctx.set(payload.source, max(cycle - 1, 0))
            ctx.set(pipeline.i.valid, is_given)
            given.values.append(f"{kind.name.lower()} by warp {warp}" if is_given else None)
            forwarded.values.append(is_given and cycle > 0)
            is_done = bool(ctx.get(pipeline.o_step.valid))
            step.values.append(is_done)
            changed.values.append(is_done and bool(ctx.get(pipeline.o_checked.payload.changed)))
            found = ctx.get(pipeline.o_step.payload)
            row.values.append(_words(TableRow(found.row)) if is_done else None)
            race.values.append(_words(RaceKind(found.race)) if is_done else None)
            await ctx.tick()

    _simulate(pipeline, run)
    return draw(
        "Check pipeline: a step each cycle, three cycles after its packet",
        (given, forwarded, step, row, race, changed),
    )


def _words(code: TableRow | RaceKind) -> str:
    return code.name.lower().replace("_", " ").replace("missing ", "")


def summary_message() -> str:
    """A block with one address read and one written, as it leaves the core as flits."""
    params = SIGRACE.presets["sigrace-tiny"].params
    compressor = Compressor(params)
    taken, sent, flit, last = Lane("i"), Lane("o.valid"), Lane("o.data"), Lane("o.last")

    async def run(ctx: Any) -> None:
        block = compressor.i.payload
        ctx.set(block.timestamp, 1)
        for each, number in ((block.read, 3), (block.write, 5)):
            ctx.set(each.bitmap, 1 << number)
            ctx.set(each.usb[0], number)
            ctx.set(each.count, 1)
        ctx.set(compressor.i.valid, 1)
        ctx.set(compressor.o.ready, 1)
        while not (last.values and last.values[-1]):
            taken.values.append("block" if ctx.get(compressor.i.valid) else None)
            is_valid = bool(ctx.get(compressor.o.valid))
            sent.values.append(is_valid)
            word = ctx.get(compressor.o.payload)
            flit.values.append(f"{word.data:08x}" if is_valid else None)
            last.values.append(is_valid and bool(word.last))
            await ctx.tick()
            ctx.set(compressor.i.valid, 0)

    _simulate(compressor, run)
    return draw("Summary message: flits of a block", (taken, sent, flit, last))


#: Kind, warp and addresses of what a block of two warps issues: a CAS whose outcome comes late,
#: accesses of both warps, and a barrier.
_ISSUED = (
    (IssueKind.BLOCK_START, 0, ()),
    (IssueKind.ATOMIC, 0, (0x80,)),
    (IssueKind.STORE, 1, (0x100, 0x104, 0x200, 0x204)),
    (IssueKind.STORE, 0, (0x84,)),
    (IssueKind.BARRIER, 1, ()),
    (IssueKind.BARRIER, 0, ()),
)
#: Cycle in which the outcome is offered.
_OUTCOME = 12


def front_end() -> str:
    """Instructions of two warps on their way to transactions."""
    params = replace(SCORD.presets["scord-tiny"].params, lanes=4, address_bits=16)
    unit = FrontEnd(params, Coalescer)
    waits, issued, outcome, sent, *held = (
        Lane(name) for name in (
            "instruction waits", "i_instruction", "i_outcome", "o_transaction", "o_held[0]",
            "o_held[1]",
        )
    )  # fmt: skip

    async def run(ctx: Any) -> None:
        item, number, cycle, is_answered = unit.i_instruction.payload, 0, 0, False
        ctx.set(unit.o_transaction.ready, 1)
        ctx.set(item.size, 2)
        ctx.set(item.op, AtomicOp.CAS)
        ctx.set(unit.i_outcome.payload.success, 1)
        while number < len(_ISSUED) or not ctx.get(unit.o_idle):
            is_given, answers = number < len(_ISSUED), cycle >= _OUTCOME and not is_answered
            if is_given:
                kind, by, addresses = _ISSUED[number]
                ctx.set(item.kind, kind)
                ctx.set(item.warp, by)
                ctx.set(item.warps, 0b11 if kind == IssueKind.BLOCK_START else 0)
                ctx.set(item.lanes, (1 << len(addresses)) - 1 if addresses else 0xF)
                ctx.set(item.marks, int(kind == IssueKind.ATOMIC))
                ctx.set(
                    item.addresses,
                    sum(each << params.address_bits * lane for lane, each in enumerate(addresses)),
                )
            ctx.set(unit.i_instruction.valid, is_given)
            ctx.set(unit.i_outcome.valid, answers)
            outcome.values.append("warp 0" if answers else None)
            sent.values.append(_transaction(ctx, unit))
            for warp, lane in enumerate(held):
                lane.values.append(bool(ctx.get(unit.o_held) >> warp & 1))
            *_, is_taken, was_answered = await ctx.tick().sample(
                unit.i_instruction.ready, unit.i_outcome.ready
            )
            words = f"{kind.name.lower()} {by}".replace("_", " ")
            issued.values.append(words if is_given and is_taken else None)
            waits.values.append(is_given and not is_taken)
            number += is_given and is_taken
            is_answered |= answers and was_answered
            cycle += 1

    _simulate(unit, run)
    title = "Front end: a warp waits for the outcome of its CAS, the other one goes on"
    return draw(title, (waits, issued, outcome, sent, *held))


def _transaction(ctx: Any, unit: FrontEnd) -> str | None:
    """The transaction that leaves."""
    if not ctx.get(unit.o_transaction.valid):
        return None
    found = ctx.get(unit.o_transaction.payload)
    kind = TransactionKind(found.kind)
    words = kind.name.lower().replace("_", " ")
    return words if kind > TransactionKind.ATOMIC else f"{words} line {found.line}"
