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
        int,
        "column of the expression, of one around all that may make the access, or of the line's "
        "first statement, from 1; 0 if unknown",
    ]
    stack: Annotated[list[StackFrame], "functions that contain the access, the innermost first"]
    kind: Annotated[NotRequired[str], "such as `load`, `store` or `atomic`"]
    pc: Annotated[NotRequired[int], "its program counter"]
    grid_block: Annotated[NotRequired[int], "index of its block in the grid"]
    thread: Annotated[NotRequired[int], "its thread in the block"]
    event: Annotated[NotRequired[int], "number of the event in the trace, from 0"]


class Exposure(TypedDict):
    """Effect of a race in runs under weak memory."""

    memory: Annotated[str, "`--memory`"]
    runs: Annotated[int, "runs made"]
    seed: Annotated[int, "seed of the last"]
    failure: Annotated[str | None, "kind of failure; null if no run failed"]
    sentence: Annotated[str, "the failure in a sentence"]
    alone: Annotated[bool, "whether memory deviated only at these lines"]


class SynchronisingInstruction(TypedDict):
    """An instruction that a cure changes, or a fence that it moves."""

    what: Annotated[str, "`load`, `store`, `atomic` or `fence`"]
    place: Annotated[str, "line of the source"]
    calls: Annotated[list[str], "places of the calls that lead there, the innermost first"]
    pc: Annotated[int, "its program counter"]


class RaceObject(TypedDict):
    """A variable or an allocation on which threads race."""

    name: Annotated[str, "its name in the source"]
    element: Annotated[str, "element of the object, such as `[3]`; empty if there is none"]
    origin: Annotated[str, "origin of the object, in words"]
    place: Annotated[str | None, "line of its declaration or of the call that allocated it"]
    bytes: Annotated[int, "its size in bytes"]
    space: Annotated[str, "`global` or `shared`"]


class LineFinding(TypedDict):
    """All races of a pair of source lines, reached by one path of calls."""

    sentence: Annotated[str, "the first race in one sentence"]
    earlier: Annotated[NotRequired[LineAccess], "earlier access of the first race"]
    later: Annotated[NotRequired[LineAccess], "the other"]
    one: Annotated[NotRequired[LineAccess], "as `earlier`, where no order is known"]
    other: Annotated[NotRequired[LineAccess], "as `later`, where no order is known"]
    space: Annotated[NotRequired[str], "memory of the first race: `global` or `shared`"]
    address: Annotated[NotRequired[int], "byte address of the first race"]
    launch: Annotated[NotRequired[int], "launch of the first race, from 0"]
    owner: Annotated[
        NotRequired[int],
        "block in the grid whose shared memory it is, in a cluster of several; `address` then has "
        "its rank in bits 24 and up",
    ]
    instances: Annotated[int, "races of these lines"]
    block_pairs: Annotated[
        int, "pairs of different blocks to which the races belong; 0 inside a block"
    ]
    is_least: Annotated[
        bool, "whether there may have been more, since a location had more accesses than are kept"
    ]
    kinds: Annotated[dict[str, int], "races by kind"]
    classes: Annotated[dict[str, int], "races by relation of their threads"]
    schedules: Annotated[list[int], "schedules in which they were found"]
    outcomes: Annotated[dict[str, int], "distinct races of the lines by the detector's outcome"]
    exposure: Annotated[Exposure | None, "null without `--memory`"]


class CureReplacement(TypedDict):
    """A part of a source that a cure replaces; lines and columns from 1, as SARIF counts them."""

    file: Annotated[str, "the source"]
    line: Annotated[int, "line of the first character that is replaced"]
    column: Annotated[int, "its column"]
    end_line: Annotated[
        int, "line of the character after the last one replaced; the same if none is replaced"
    ]
    end_column: Annotated[int, "its column"]
    text: Annotated[str, "text that replaces it"]


class RaceCure(TypedDict):
    """The edits that end a bug."""

    edits: Annotated[list[str], "instructions, one for each edit; none if no cure was found"]
    replacements: Annotated[list[CureReplacement], "the edits, in the order of the sources"]
    diff: Annotated[str | None, "the edits as a unified diff, null if there are none"]
    reason: Annotated[str | None, "reason if no edit was found"]


class RaceFinding(TypedDict):
    """A bug: all races with one cause, or with one cause on one object."""

    code: Annotated[str, "its code, such as `RT101`, for `racetrap explain`"]
    level: Annotated[Level, "level of the code: `race`"]
    kind: Annotated[str, "what is missing, `late-fence`, or a detector's kind of race"]
    sentence: Annotated[str, "the first race in one sentence"]
    object: Annotated[RaceObject | None, "object on which the threads race; null if unknown"]
    missing: Annotated[
        str | None,
        "what would have ordered the accesses: `barrier`, `warp-barrier`, `release`, `acquire`, "
        "`scope` and others; null if the judge is a detector",
    ]
    changes: Annotated[list[SynchronisingInstruction], "instructions that lack it, as far as known"]
    late_fence: Annotated[
        SynchronisingInstruction | None, "a fence that follows the write that it should precede"
    ]
    cure: Annotated[RaceCure | None, "null if no cure was searched for"]
    instances: Annotated[int, "races"]
    pairs: Annotated[list[LineFinding], "its pairs of lines, the most instances first"]


class BarrierDivergence(TypedDict):
    """A barrier that not all threads of a block reach."""

    code: Annotated[str, "its code"]
    level: Annotated[Level, "level of the code: `fault`"]
    place: Annotated[str, "line of the source"]
    grid_block: Annotated[int, "index of the block in the grid"]
    thread: Annotated[int, "the first thread missing"]


class ScordReport(TypedDict):
    """A report without a race of the exact analysis."""

    place: Annotated[str, "line of the source"]
    kind: Annotated[str, "kind of the report"]


class DetectorVerdict(TypedDict):
    """Result of the detector on the races."""

    preset: Annotated[str, "its preset"]
    counters: Annotated[
        dict[str, int],
        "by the names of its registers, summed over the banks (so a fence counts once in each)",
    ]
    shared_accesses: Annotated[
        int, "accesses of warps to shared memory, which the detector does not monitor"
    ]
    missed: Annotated[int, "races that it missed"]
    not_confirmed: Annotated[list[ScordReport], "reports that the exact analysis does not confirm"]
    imposed_by_method: Annotated[
        list[ScordReport], "reports that the method imposes on pairs that do not race"
    ]


class GpuVerdict(TypedDict):
    """The verdict on a GPU."""

    rule: Annotated[str | None, "rule of the exact analysis; null if the detector alone judges"]
    independent_threads: Annotated[bool, "whether the lanes of a warp were scheduled independently"]
    findings: Annotated[list[RaceFinding], "one for each bug"]
    known: Annotated[list[RaceFinding], "the same for races of the baseline"]
    unordered_strong: Annotated[
        list[LineFinding],
        "advice: pairs of lines that are unordered, but may conflict",
    ]
    ordered_by_lockstep: Annotated[
        list[LineFinding], "advice: pairs of lines that only a warp's lockstep orders"
    ]
    barrier_divergences: Annotated[
        list[BarrierDivergence], "barriers that not all threads of a block reach"
    ]
    partly_judged: Annotated[
        int,
        "locations, in all schedules, with accesses that were not compared with all earlier ones: "
        "more were unordered than are kept",
    ]
    detector: Annotated[DetectorVerdict | None, "null if no detector ran"]


class DetectorRace(TypedDict):
    """A race that the detector reports."""

    sequence: Annotated[int, "number of the race, from 0"]
    address: Annotated[
        int, "byte address of the word (loads and stores: the first word of the metadata unit)"
    ]
    pc: Annotated[int, "PC of the access at which the race was found"]
    kind: Annotated[
        str,
        "kind of race: for ScoRD what is missing, such as `missing-block-fence`; other detectors "
        "have their own words",
    ]
    scope: Annotated[
        Literal["block", "device"], "`block` if both accesses come from one block slot"
    ]
    table_iv: Annotated[NotRequired[str], "ScoRD: letter of the condition in Table IV of its paper"]
    state: Annotated[NotRequired[str], "HiRace: the location's state before the access"]
    missing: Annotated[
        NotRequired[str], "causality: what would have ordered the accesses, such as `release`"
    ]
    access: Annotated[Access, "the access at which the race was found"]
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
