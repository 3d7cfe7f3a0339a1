"""JSON of the commands that look after racetrap itself."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict


class CacheHolding(TypedDict):
    """A kind of content of the cache."""

    version: Annotated[str, "version of racetrap that made it"]
    kind: Annotated[str, "what it is"]
    bytes: Annotated[int, "its size"]


class CacheInfo(TypedDict):
    """`racetrap cache info`."""

    folder: Annotated[str, "folder of the cache"]
    bytes: Annotated[int, "size of the whole cache"]
    holdings: Annotated[list[CacheHolding], "by version and kind"]


class CacheClear(TypedDict):
    """`racetrap cache clear`."""

    removed_bytes: Annotated[int, "bytes that were freed"]


class Doctor(TypedDict):
    """`racetrap doctor`."""

    missing: Annotated[
        list[str],
        "one sentence for each tool that checks lack, or the extra `hardware` if it is installed",
    ]
    missing_extras: Annotated[
        list[str], "the same for what only recording or another extra of the package needs"
    ]


class ReaderCount(TypedDict):
    """Files of a reader."""

    reader: Annotated[str, "the reader"]
    inputs: Annotated[int, "files read"]
    findings: Annotated[int, "files that crash a reader, or take too long to read"]


class FuzzFinding(TypedDict):
    """A file that crashes a reader, or takes too long to read."""

    reader: Annotated[str, "the reader"]
    number: Annotated[int, "number of the file"]
    problem: Annotated[str, "what is wrong, in a sentence"]


class Fuzz(TypedDict):
    """`racetrap fuzz`."""

    seed: Annotated[int, "`--seed`"]
    seconds: Annotated[float, "time limit for a file, in seconds"]
    memory_bytes: Annotated[int, "memory limit for a file, in bytes"]
    readers: Annotated[list[ReaderCount], "of each reader"]
    findings: Annotated[list[FuzzFinding], "files that crash a reader, or take too long to read"]
