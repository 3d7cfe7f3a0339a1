"""Causes of missed races.

A race of the oracle is two accesses to one word.  The detector's step at the second one, and the
row of its warp at that time, show what it took for their order.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum

from racetrap.golden_model.barracuda import Race, RaceClass
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detection_logic import Conflict, conflict
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.packets import Observed, Packet, Transaction
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.trace import Trace
from racetrap.verdict.causality.findings import CausalityFinder
from racetrap.verdict.gpu.accesses import common_word
from racetrap.verdict.gpu.fit import region_with_window
from racetrap.verdict.gpu.oracle import REPORTED, not_checked


class Cause(StrEnum):
    """Cause why a race of the oracle has no report: what did not fit, or the rule that gives up."""

    CLOCK_WRAP = "clock wrap"
    TAG_CONFLICT = "tag conflict"
    HANDED_OVER = "handed-over entry"
    FLAG = "taken as a flag"
    ACQUIRED = "message acquired by the access"
    OBSERVED = "observed write"
    FULL_TABLE = "full table"
    LOST_MESSAGE = "displaced message"
    LEARNT = "more learnt than released"
    LANES = "lanes of one warp"
    NO_RULE = "no rule of the method"


def outcomes(trace: Trace, params: CausalityParams, races: Sequence[Race]) -> list[str]:
    """Outcome of each race of the oracle: reported, not checked, or a ``Cause``."""
    params = params.with_lanes(bool(trace.header.independent_threads))
    watch = _Watch(trace, params, races)
    watch.play()
    return [watch.outcome(number) for number in range(len(races))]


class _Watch(Causality):
    """The golden model on a trace, which looks at the accesses of some races.

    Parameters
    ----------
    trace : Trace
        The run.
    params : CausalityParams
        Configuration.
    races : sequence of Race
        Races of the oracle.
    """

    def __init__(self, trace: Trace, params: CausalityParams, races: Sequence[Race]) -> None:
        region = region_with_window(trace, params)
        super().__init__(params, region, keep_races=False)
        self._trace, self._all = trace, races
        self._finder = CausalityFinder(params, region, trace)
        self._words = [
            common_word(trace, race.first.event, race.second.event, race.address) for race in races
        ]
        self._first = {race.first.event for race in races}
        self._second: defaultdict[int, list[int]] = defaultdict(list)
        for number, race in enumerate(races):
            if race.race_class != RaceClass.INTER_LAUNCH:
                self._second[race.second.event].append(number)
        self._event = 0
        self._wrapped = -1
        # By entry the last event that displaced a word's; by event the steps of first accesses.
        self._displaced: dict[int, int] = {}
        self._made: defaultdict[int, list[Packet]] = defaultdict(list)
        self._causes: dict[int, Cause] = {}
        self._reported: set[tuple[int, int]] = set()

    def play(self) -> None:
        """Run the whole trace: some races are reported late."""
        wraps = 0
        for number, event in enumerate(self._trace):
            self._event = number
            steps = self.run(event)
            if wraps != (wraps := self.collector.counters.get("clock_wraps", 0)):
                self._wrapped = number
            for found in self._finder.take(number, event, [*steps, *self.found]):
                self._reported.add((found.access.event, found.report.address >> 2))

    def outcome(self, number: int) -> str:
        """What became of a race."""
        race = self._all[number]
        if (race.second.event, self._words[number]) in self._reported:
            return REPORTED
        return self._causes.get(number) or not_checked(race)

    def transact(self, sm: int, transaction: Transaction) -> list[Step]:
        """Check one transaction; rows are still those by which it was checked."""
        steps = super().transact(sm, transaction)
        for step in steps:
            self._look(step)
        return steps

    def _look(self, step: Step) -> None:
        packet, event = step.packet, self._event
        if not step.monitored:
            return
        index = self._finder.entry_of(step)
        if step.displaced and index is not None:
            self._displaced[index] = event
        for number in self._second.get(event, ()):
            first = [
                each for each in self._made[self._all[number].first.event]
                if each.word == packet.word and each.bytes & packet.bytes
                and (each.writes or packet.writes)
            ]  # fmt: skip
            if packet.word == self._words[number] and (first or number not in self._causes):
                self._causes[number] = self._cause(self._all[number], first, step, index)
        if event in self._first:
            self._made[event].append(packet)

    def _cause(self, race: Race, first: Sequence[Packet], step: Step, index: int | None) -> Cause:
        packet, before, row = step.packet, step.before, self.collector.rows[step.packet.warp]
        if self._wrapped > race.first.event:
            return Cause.CLOCK_WRAP
        if index is not None and self._displaced.get(index, -1) > race.first.event:
            return Cause.TAG_CONFLICT
        if step.undecided:
            return Cause.FLAG
        sides = [
            (side, each) for each in first
            if (side := before.writer if each.writes else before.reader) and _is_of(side, each)
        ]  # fmt: skip
        if not sides:
            return Cause.NO_RULE if race.first.event == race.second.event else Cause.HANDED_OVER
        if step.met and packet.acquire:
            return Cause.ACQUIRED
        side, made = sides[-1]
        if not row.unordered(side, packet.warp, packet.block, packet.lanes):
            return self._why_ordered(side, packet, row)
        if conflict(side, bool(made.writes), packet, row) != Conflict.RACE:
            return Cause.FLAG
        if made.writes and before.observed != Observed.NOBODY:
            return Cause.OBSERVED
        return Cause.LANES if packet.acquire and packet.released else Cause.NO_RULE

    def _why_ordered(self, side: Side, packet: Packet, row: WarpRow) -> Cause:
        """What makes an earlier access ordered before a packet, by the row of its warp."""
        if row.know.has_bit(side.block, side.clock):
            lost = self.counters.get("messages_dropped", 0)
            every = (1 << self._params.hash_bits) - 1
            return Cause.LOST_MESSAGE if lost and row.know.bits == every else Cause.FULL_TABLE
        return Cause.LANES if row.is_own(side, packet.warp) else Cause.LEARNT


def _is_of(side: Side, packet: Packet) -> bool:
    """Whether an entry still has the access that a packet was."""
    return (
        side.warp == packet.warp and side.clock == packet.clock
        and bool(side.bytes & packet.bytes) and bool(side.several or side.lane == packet.lane)
    )  # fmt: skip
