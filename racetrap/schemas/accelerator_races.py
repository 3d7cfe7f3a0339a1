"""JSON of races with accelerators: by the detector, by the exact machine, by the bus monitor."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict


class OperationParty(TypedDict):
    """An operation of a race."""

    operation: Annotated[int, "number of the operation in the trace, from 0"]
    kind: Annotated[str, "what it is"]
    engine: Annotated[int | None, "engine of the operation; null for the CPU"]
    pc: Annotated[int | None, "program counter; null if unknown"]
    location: Annotated[str | None, "line of the source; null if unknown"]


class AcceleratorRace(TypedDict):
    """A race, with the number of similar races."""

    rule: Annotated[str, "rule that is broken"]
    instances: Annotated[int, "number of similar races"]
    first: Annotated[int, "first byte concerned"]
    last: Annotated[int, "last byte concerned"]
    overlap: Annotated[str, "overlap of both operations: `bytes`, `granule`, `line`"]
    false_sharing: Annotated[bool, "whether the race is harmless on its own"]
    overwritten: Annotated[bool, "whether the lost data is never read"]
    earlier: Annotated[OperationParty, "the operation that came first"]
    later: Annotated[OperationParty, "the other"]
    sentence: Annotated[str, "the rule as a sentence"]
    cure: Annotated[str, "what to do"]


class ByteRange(TypedDict):
    """Bytes that race on the exact machine."""

    first: Annotated[int, "the first"]
    last: Annotated[int, "the last"]
    operation: Annotated[int, "number of the operation at which they first race"]


class AcceleratorOracle(TypedDict):
    """What the exact machine finds in the same trace."""

    first_operation: Annotated[int | None, "first operation that races; null if none does"]
    first_reported: Annotated[
        int | None, "first operation that the mode reports; null if there is none"
    ]
    bytes: Annotated[list[ByteRange], "bytes that race"]


class WithoutPlace(TypedDict):
    """Cache operations and waits of a place, and what happens without them."""

    pc: Annotated[int, "program counter of the place"]
    location: Annotated[str | None, "line of the source; null if unknown"]
    kinds: Annotated[list[str], "what they are"]
    operations: Annotated[int, "how many"]
    harm: Annotated[str, "what shows that the place is needed; empty: nothing does"]
    racy: Annotated[
        bool | None,
        "with `--compare`: whether more bytes race on the exact machine; null if it was not asked, "
        "or the run is too long for it",
    ]
    needless: Annotated[bool, "whether nothing shows that the place is needed"]


class MonitorRaceDocument(TypedDict):
    """A race that the bus monitor reports."""

    rule: Annotated[str, "rule that is broken"]
    definite: Annotated[bool, "whether the race is certain, not only possible"]
    first: Annotated[int, "first byte of the later operation"]
    last: Annotated[int, "last byte of the later operation"]
    earlier: Annotated[OperationParty, "the operation that came first"]
    other_earlier: Annotated[
        bool, "whether operations other than `earlier` have put bytes into the entry"
    ]
    later: Annotated[OperationParty, "the other"]
    sentence: Annotated[str, "the rule as a sentence"]
