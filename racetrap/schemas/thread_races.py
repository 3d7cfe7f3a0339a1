"""JSON of races between threads: SigRace's result, the oracle's, and that of the exact check."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from racetrap.schemas.values import StackFrame


class ThreadParty(TypedDict):
    """An access of a thread."""

    thread: Annotated[int, "its thread"]
    epoch: Annotated[int, "synchronisation steps of its thread before it"]
    kind: Annotated[Literal["load", "store"], "what it is"]
    pc: Annotated[int, "its program counter"]
    location: Annotated[str | None, "line of the source; null if unknown"]


class StaticVariable(TypedDict):
    """A static variable with bytes in a granule."""

    address: Annotated[int, "first address"]
    size: Annotated[int, "its bytes"]
    name: Annotated[str, "its name"]


class ThreadRaceDocument(TypedDict):
    """A race between threads."""

    address: Annotated[int, "the 4-byte granule"]
    variables: Annotated[list[StaticVariable], "static variables with bytes in it"]
    first: Annotated[ThreadParty, "one access"]
    second: Annotated[ThreadParty, "the other"]
    sentence: Annotated[str, "the race in one sentence"]


class Lost(TypedDict):
    """Messages of a thread that found no predecessor in the full queue of another."""

    thread: Annotated[int, "the thread"]
    other: Annotated[int, "the other"]
    windows: Annotated[int, "how many"]


class FirstRaceDocument(TypedDict):
    """Instructions until the first race was analysed."""

    committed: Annotated[int, "committed by all threads"]
    repeated: Annotated[int, "executed again"]
    repeated_for_nothing: Annotated[int, "those of rollbacks that found no race"]
    overhead: Annotated[float, "`repeated` as a fraction of `committed`"]


class SigraceStatisticsDocument(TypedDict):
    """Cost of a run with SigRace."""

    instructions: Annotated[int, "committed by all threads, without what was executed again"]
    blocks: Annotated[int, "blocks that were not empty"]
    message_bytes: Annotated[int, "bytes of their Summary messages"]
    messages: Annotated[int, "messages that the RDM processed"]
    comparisons: Annotated[int, "timestamps compared"]
    intersections: Annotated[int, "unordered pairs of blocks"]
    hits: Annotated[int, "searches of a queue that ended at a predecessor"]
    lost: Annotated[list[Lost], "searches of a full queue that found none"]
    conflicts_dropped: Annotated[int, "conflicts lost because the log was full"]
    conflicts_ignored: Annotated[int, "those whose addresses had been analysed for the same epochs"]
    conflicts_dismissed: Annotated[int, "those of blocks that rings show to share no address"]
    conflicts_unheld: Annotated[int, "those analysed because a ring no longer held a block"]
    ring_reads: Annotated[int, "entries read from the address rings"]
    ring_writes: Annotated[int, "entries written to the address rings"]
    checkpoints: Annotated[int, "checkpoints after the start"]
    rollbacks: Annotated[
        dict[str, int],
        "number of rollbacks by cause: `full`, `blocks`, `sync`, `checkpoint`, `end`",
    ]
    passes: Annotated[int, "Re-executions with Analysis"]
    reexecuted: Annotated[int, "instructions executed in Re-execution mode"]
    analysed: Annotated[int, "instructions executed in Analysis mode"]
    repeated_for_nothing: Annotated[int, "those of both in rollbacks that found no race"]
    overhead: Annotated[float, "`reexecuted` and `analysed` as a fraction of `instructions`"]
    first_race: Annotated[
        FirstRaceDocument | None, "the same until the first race was analysed; null: there was none"
    ]


class SigraceFigures(TypedDict):
    """Results and cost of a run with SigRace."""

    conflicts: Annotated[int, "pairs of unordered blocks whose signatures have common bits"]
    false_positives: Annotated[int, "conflicts for which Analysis found no race"]
    static: Annotated[int, "number of racing pairs of instructions"]
    dynamic: Annotated[int, "number of distinct races"]
    false_sharing: Annotated[
        int, "reports that Analysis has cleared: accesses to different bytes of one granule"
    ]
    statistics: Annotated[SigraceStatisticsDocument, "cost of the run"]


class ThreadOracleRace(ThreadRaceDocument):
    """A race of the oracle beside SigRace's reports."""

    outcome: Annotated[str, "SigRace's outcome for this race, in words"]
    missed: Annotated[bool, "whether it was not reported"]


class ThreadOracle(TypedDict):
    """The exact analysis of the same run."""

    dynamic: Annotated[int, "number of dynamic races"]
    static: Annotated[int, "number of static races"]
    outcomes: Annotated[
        dict[str, int],
        "races by SigRace's outcome: `reported`, `atomic`, `checkpoint`, `overflow`, "
        "`log_full`, `overflow_or_log_full`",
    ]
    ideal: Annotated[int, "dynamic races found by Ideal SigRace"]
    false_sharing: Annotated[
        int, "unordered pairs of accesses to different bytes of one granule, which are no races"
    ]
    races: Annotated[list[ThreadOracleRace], "the races"]
    unconfirmed: Annotated[list[ThreadRaceDocument], "reports that are not races of this run"]


#: A lock that a thread held; one of its keys is a word of Python.
Lock = TypedDict(
    "Lock",
    {
        "address": Annotated[int, "address of the lock"],
        "class": Annotated[str, "class of the lock, such as `mutex`"],
        "pc": Annotated[int, "program counter of the acquisition"],
        "place": Annotated[str | None, "place of the acquisition; null if unknown"],
    },
)


class HeapBlock(TypedDict):
    """A block of the heap."""

    address: Annotated[int, "first address"]
    size: Annotated[int, "its bytes"]
    thread: Annotated[int, "thread that allocated it"]
    pc: Annotated[int, "program counter of the allocation"]
    place: Annotated[str | None, "place of the allocation; null if unknown"]


class ExactRace(ThreadRaceDocument):
    """First instance of the races of a pair of instructions, with its context."""

    addresses: Annotated[int, "granules at which they race"]
    stacks: Annotated[
        list[list[StackFrame]],
        "of both accesses: functions, the innermost first; empty if unknown",
    ]
    locks: Annotated[list[list[Lock]], "locks that each thread held, a list for each access"]
    allocation: Annotated[HeapBlock | None, "block that both access; null if there is none"]


class LockOrder(TypedDict):
    """An acquisition of a lock-order inversion; the next one holds what this one acquires."""

    thread: Annotated[int, "its thread"]
    held: Annotated[int, "address of the lock that it held"]
    acquired: Annotated[int, "address of the lock that it acquired"]
    held_pc: Annotated[int, "program counter at which it had acquired the former"]
    held_place: Annotated[str | None, "place of the instruction; null if unknown"]
    acquired_pc: Annotated[int, "program counter at which it acquired the latter"]
    acquired_place: Annotated[str | None, "place of the instruction; null if unknown"]


class ThreadWaiting(TypedDict):
    """A thread of a deadlock."""

    thread: Annotated[int, "the thread"]
    pc: Annotated[int, "program counter of its last event"]
    place: Annotated[str | None, "place of the instruction; null if unknown"]
    address: Annotated[int, "address of the object for which it waits"]
    address_text: Annotated[NotRequired[str], "the same with the name of the variable, if known"]
    holder: Annotated[int | None, "if that is a lock, the thread that holds it; else null"]
    holder_pc: Annotated[int | None, "program counter at which the holder acquired it"]
    holder_place: Annotated[NotRequired[str | None], "its place"]
