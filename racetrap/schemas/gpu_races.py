"""JSON of races on a GPU: the verdict of the exact analysis, and reports of the detector."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.schemas.values import StackFrame
from racetrap.verdict.gpu.findings import Access

#: How bad a finding is; advice does not count.
Level: TypeAlias = Literal["race", "fault", "advice"]


class LineAccess(TypedDict):
    """One side of a finding."""

    place: Annotated[str, "line of the source, such as `kernel.cu:12`, or program counter"]
    column: Annotated[
        int, "column of the expression, or of the line's first statement, from 1; 0 if not known"
    ]
    stack: Annotated[list[StackFrame], "functions that it is in, the innermost first"]
    kind: Annotated[NotRequired[str], "`load`, `store`, `atomic` and the like"]
    pc: Annotated[NotRequired[int], "its program counter"]
    grid_block: Annotated[NotRequired[int], "index of its block in the grid"]
    thread: Annotated[NotRequired[int], "its thread in the block"]
    event: Annotated[NotRequired[int], "number of the event in the trace, from 0"]


class Exposure(TypedDict):
    """What became of a race in runs under weak memory."""

    memory: Annotated[str, "`--memory`"]
    runs: Annotated[int, "runs made"]
    seed: Annotated[int, "seed of the last"]
    failure: Annotated[str | None, "how it failed, null if it did not"]
    sentence: Annotated[str, "the failure in a sentence"]
    alone: Annotated[bool, "whether memory deviated at these lines alone"]


class SynchronisingInstruction(TypedDict):
    """An instruction that a cure changes, or a fence that it moves."""

    what: Annotated[str, "`load`, `store`, `atomic` or `fence`"]
    place: Annotated[str, "line of the source"]
    calls: Annotated[list[str], "places of the calls that lead there, the innermost first"]
    pc: Annotated[int, "its program counter"]


class RaceObject(TypedDict):
    """A variable or an allocation that is raced over."""

    name: Annotated[str, "its name in the source"]
    element: Annotated[str, "part of it, such as `[3]`, or nothing"]
    origin: Annotated[str, "what made it, in words"]
    place: Annotated[str | None, "line of its declaration or of the call that allocated it"]
    bytes: Annotated[int, "its bytes"]
    space: Annotated[str, "`global` or `shared`"]


class LineFinding(TypedDict):
    """All races of a pair of source lines, reached by one path of calls."""

    sentence: Annotated[str, "the first race in one sentence"]
    earlier: Annotated[NotRequired[LineAccess], "access of the first race that came first"]
    later: Annotated[NotRequired[LineAccess], "the other"]
    one: Annotated[NotRequired[LineAccess], "as `earlier`, where no order is known"]
    other: Annotated[NotRequired[LineAccess], "as `later`, where no order is known"]
    space: Annotated[NotRequired[str], "memory of the first race: `global` or `shared`"]
    address: Annotated[NotRequired[int], "byte address of the first race"]
    launch: Annotated[NotRequired[int], "launch of the first race, from 0"]
    instances: Annotated[int, "races of these lines"]
    block_pairs: Annotated[int, "pairs of different blocks that they belong to; 0 inside a block"]
    kinds: Annotated[dict[str, int], "races by kind"]
    classes: Annotated[dict[str, int], "races by how their threads are related"]
    schedules: Annotated[list[int], "schedules in which they were found"]
    outcomes: Annotated[dict[str, int], "what the detector made of distinct races of the lines"]
    exposure: Annotated[Exposure | None, "null without `--memory`"]


class CureReplacement(TypedDict):
    """A part of a source that a cure replaces; lines and columns from 1, as SARIF counts them."""

    file: Annotated[str, "the source"]
    line: Annotated[int, "line of the first character that is replaced"]
    column: Annotated[int, "its column"]
    end_line: Annotated[int, "line of the character behind the last; the same if none is replaced"]
    end_column: Annotated[int, "its column"]
    text: Annotated[str, "what stands there afterwards"]


class RaceCure(TypedDict):
    """The edits that end a bug."""

    edits: Annotated[list[str], "instructions, one for each edit; none if no cure was found"]
    replacements: Annotated[list[CureReplacement], "the edits, in the order of the sources"]
    diff: Annotated[str | None, "the edits as a unified diff, null if there are none"]
    reason: Annotated[str | None, "why none was found"]


class RaceFinding(TypedDict):
    """A bug: races of one cause, or of one cause on one object."""

    code: Annotated[str, "its code, such as `RT101`, for `racetrap explain`"]
    level: Annotated[Level, "how bad it is: `race`"]
    kind: Annotated[str, "what is missing, `late-fence`, or a detector's kind of race"]
    sentence: Annotated[str, "the first race in one sentence"]
    object: Annotated[RaceObject | None, "what is raced over, null if it is not known"]
    missing: Annotated[
        str | None,
        "what would have ordered the accesses: `barrier`, `warp-barrier`, `release`, `acquire`, "
        "`scope` and others; null if the judge is a detector",
    ]
    changes: Annotated[
        list[SynchronisingInstruction], "instructions that lack it, as far as they are known"
    ]
    late_fence: Annotated[
        SynchronisingInstruction | None, "a fence that stands behind the write it should precede"
    ]
    cure: Annotated[RaceCure | None, "null unless a patch was asked for"]
    instances: Annotated[int, "races"]
    pairs: Annotated[list[LineFinding], "its pairs of lines, the most instances first"]


class BarrierDivergence(TypedDict):
    """A barrier that not all threads of a block came to."""

    code: Annotated[str, "its code"]
    level: Annotated[Level, "how bad it is: `fault`"]
    place: Annotated[str, "line of the source"]
    grid_block: Annotated[int, "index of the block in the grid"]
    thread: Annotated[int, "the first thread missing"]


class ScordReport(TypedDict):
    """A report without a race of the exact analysis."""

    place: Annotated[str, "line of the source"]
    kind: Annotated[str, "kind of the report"]


class DetectorVerdict(TypedDict):
    """What the detector made of the races."""

    preset: Annotated[str, "its preset"]
    counters: Annotated[
        dict[str, int],
        "by the names of its registers, summed over the banks (so a fence counts once in each)",
    ]
    shared_accesses: Annotated[int, "accesses of warps to shared memory, which it does not watch"]
    missed: Annotated[int, "races that it missed"]
    not_confirmed: Annotated[list[ScordReport], "reports that the exact analysis does not confirm"]
    imposed_by_method: Annotated[
        list[ScordReport], "those that the method imposes on pairs which are no race"
    ]


class GpuVerdict(TypedDict):
    """The verdict on a GPU."""

    rule: Annotated[str | None, "rule of the exact analysis; null if the detector alone judges"]
    independent_threads: Annotated[bool, "whether the lanes of a warp were scheduled independently"]
    findings: Annotated[list[RaceFinding], "one for each bug"]
    known: Annotated[list[RaceFinding], "the same for races of the baseline"]
    unordered_strong: Annotated[
        list[LineFinding],
        "pairs of lines that are unordered, but allowed to conflict: no races, but advice",
    ]
    ordered_by_lockstep: Annotated[
        list[LineFinding], "advice: pairs of lines that a warp's lockstep alone orders"
    ]
    barrier_divergences: Annotated[
        list[BarrierDivergence], "barriers that not all threads of a block came to"
    ]
    detector: Annotated[DetectorVerdict | None, "null if none ran"]


class DetectorRace(TypedDict):
    """A race that the detector reports."""

    sequence: Annotated[int, "number of the race, from 0"]
    address: Annotated[
        int, "byte address of the word (loads and stores: the first word of the metadata unit)"
    ]
    pc: Annotated[int, "PC of the access that found the race"]
    kind: Annotated[
        str,
        "kind of race: of ScoRD what is missing, such as `missing-block-fence`, of other detectors "
        "in their own words",
    ]
    scope: Annotated[
        Literal["block", "device"], "`block` if both accesses come from one block slot"
    ]
    table_iv: Annotated[
        NotRequired[str], "of ScoRD: letter of the condition in Table IV of its paper"
    ]
    state: Annotated[NotRequired[str], "of a state machine: the location's state before the access"]
    missing: Annotated[
        NotRequired[str], "of causality: what would have ordered the accesses, such as `release`"
    ]
    access: Annotated[Access, "the access that found the race"]
    earlier: Annotated[
        Access, "the access that the detector's metadata remembered as the location's owner"
    ]
    sentence: Annotated[str, "the race in one sentence"]


class OracleParty(TypedDict):
    """An access of a race of the exact analysis."""

    event: Annotated[int, "number of the event in the trace, from 0"]
    kind: Annotated[str, "what it is"]
    pc: Annotated[int, "its program counter"]
    location: Annotated[str | None, "line of the source, null if the trace does not know it"]
    grid_block: Annotated[int, "index of its block in the grid"]
    thread: Annotated[int, "its thread in the block"]


#: A pair of accesses of the exact analysis; one of its keys is a word of Python.
OraclePair = TypedDict(
    "OraclePair",
    {
        "kind": Annotated[str, "kind of the pair"],
        "class": Annotated[str, "how the threads are related"],
        "space": Annotated[str, "memory: `global` or `shared`"],
        "address": Annotated[int, "byte address"],
        "earlier": Annotated[OracleParty, "the access that came first"],
        "later": Annotated[OracleParty, "the other"],
        "reason": Annotated[str, "why it is a race, or none"],
    },
)


class OracleRace(OraclePair):
    """A race of the exact analysis beside the detector's reports."""

    outcome: Annotated[str, "how the detector treated it"]
    missed: Annotated[bool, "whether it missed a race that it looks for"]


class Oracle(TypedDict):
    """Each different race of the exact analysis of the first schedule."""

    races: Annotated[list[OracleRace], "races"]
    unordered_strong: Annotated[list[OraclePair], "unordered pairs that are no races"]
    ordered_by_lockstep: Annotated[list[OraclePair], "pairs ordered by lockstep alone"]
