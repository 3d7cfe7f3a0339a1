"""JSON of races with accelerators: by the detector, by the exact machine, by the bus monitor."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict


class OperationParty(TypedDict):
    """An operation of a race."""

    operation: Annotated[int, "its number in the trace, from 0"]
    kind: Annotated[str, "what it is"]
    engine: Annotated[int | None, "its engine; null of the CPU's"]
    pc: Annotated[int | None, "its program counter, null if it is not known"]
    location: Annotated[str | None, "line of the source, null if it is not known"]


class AcceleratorRace(TypedDict):
    """A race, and how many are like it."""

    rule: Annotated[str, "rule that is broken"]
    instances: Annotated[int, "races like it"]
    first: Annotated[int, "first byte in question"]
    last: Annotated[int, "last byte in question"]
    overlap: Annotated[str, "overlap of both operations: `bytes`, `granule`, `line`"]
    false_sharing: Annotated[bool, "harmless on its own"]
    overwritten: Annotated[bool, "lost data that is never read"]
    earlier: Annotated[OperationParty, "the operation that came first"]
    later: Annotated[OperationParty, "the other"]
    sentence: Annotated[str, "the rule as a sentence"]
    cure: Annotated[str, "what to do"]


class ByteRange(TypedDict):
    """Bytes that race on the exact machine."""

    first: Annotated[int, "the first"]
    last: Annotated[int, "the last"]
    operation: Annotated[int, "number of the operation at which they race first"]


class AcceleratorOracle(TypedDict):
    """What the exact machine finds in the same trace."""

    first_operation: Annotated[int | None, "the first that is racy; null: none"]
    first_reported: Annotated[int | None, "the first that the mode reports; null: none"]
    bytes: Annotated[list[ByteRange], "bytes that race"]


class MonitorRaceDocument(TypedDict):
    """A race that the bus monitor reports."""

    rule: Annotated[str, "rule that is broken"]
    definite: Annotated[bool, "whether it is certain, not only possible"]
    first: Annotated[int, "first byte of the later operation"]
    last: Annotated[int, "last byte of the later operation"]
    earlier: Annotated[OperationParty, "the operation that came first"]
    other_earlier: Annotated[
        bool, "whether operations besides `earlier` have put bytes into the entry"
    ]
    later: Annotated[OperationParty, "the other"]
    sentence: Annotated[str, "the rule as a sentence"]
