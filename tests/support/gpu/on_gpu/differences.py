"""Differences between a GPU as the subject and the executor: each needs a sentence that says why.

The sentences are in ``explanations.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.gpu.comparison.comparing import Disagreement, explanations
from tests.support.gpu.comparison.results import kept as compared

Row = Mapping[str, Any]
Pair = tuple[str, str]


def known() -> dict[tuple[str, str], str]:
    """Sentences by what they are about and by name."""
    return explanations(Path(__file__).with_name("explanations.toml"))


def pairs_of(found: Any) -> list[list[str]]:
    """Pairs of lines on the executor; none of a kernel that it could not run to its end."""
    return [] if isinstance(found, str) else found


def shared_pairs(row: Row, hazards: list[list[str]]) -> tuple[set[Pair], set[Pair]]:
    """Pairs of lines that race in shared memory in a kernel: ours, and those that racecheck
    reports, which checks no other memory."""
    ours = {(first, second) for first, second, space in pairs_of(row["ours"]) if space == "shared"}
    return ours, {(first, second) for first, second, level in hazards if level != "info"}


def differences(results: Row) -> list[Disagreement]:
    """All of the kept results, also with racecheck's in the kernels."""
    hazards = racecheck_hazards()
    return [
        *(
            each
            for name, row in results["kernels"].items()
            for each in of_racecheck(name, row, hazards[name])
        ),
        *(each for name, row in results["kernels"].items() for each in of_kernel(name, row)),
        *(each for name, row in results["programs"].items() for each in of_program(name, row)),
        *(each for name, row in results["cured"].items() for each in of_cured(name, row)),
    ]


def racecheck_hazards() -> dict[str, list[list[str]]]:
    """What racecheck reports of each kernel, from the comparison with a GPU's tools."""
    return {name: found["hazards"] for name, found in compared()["gpu"]["kernels"].items()}


def of_racecheck(name: str, row: Row, hazards: list[list[str]]) -> Iterator[Disagreement]:
    """Those of racecheck, in shared memory."""
    ours, theirs = shared_pairs(row, hazards)
    for about, pairs in (
        ("racecheck does not report", ours - theirs), ("racecheck alone reports", theirs - ours),
    ):  # fmt: skip
        if pairs:
            yield Disagreement(about, name, ", ".join(" and ".join(each) for each in sorted(pairs)))


def _of_lines(name: str, ours: list[Any], theirs: list[Any], when: str) -> Iterator[Disagreement]:
    for about, own, other in (
        (f"pairs not seen on the GPU{when}", ours, theirs),
        (f"pairs only on the GPU{when}", theirs, ours),
    ):
        if missing := [" and ".join(each[:2]) for each in own if each not in other]:
            yield Disagreement(about, name, ", ".join(missing))


def of_kernel(name: str, row: Row) -> Iterator[Disagreement]:
    """Those of a kernel of a suite."""
    if "refused" in row["gpu"]:
        yield Disagreement("kernel not run on the GPU", name)
    else:
        yield from _of_lines(name, pairs_of(row["ours"]), row["gpu"]["lines"], "")


def of_program(name: str, row: Row) -> Iterator[Disagreement]:
    """Those of a form of a whole program."""
    if "not_done" in row["gpu"]:
        yield Disagreement("program not run to its end on the GPU", name)
    else:
        yield from _of_lines(name, row["ours"]["lines"], row["gpu"]["lines"], "")
        if "printed" in row:
            yield Disagreement("other output", name)


def of_cured(name: str, row: Row) -> Iterator[Disagreement]:
    """Those of a kernel or program, before an edit ended its races and behind it."""
    if "before" in row:
        ours, gpu = row["before"]["ours"], row["before"]["gpu"]
        if "not_done" in gpu:
            yield Disagreement("program not run to its end on the GPU", name)
        else:
            yield from _of_lines(name, ours["lines"], gpu["lines"], " before the edit")
    if "refused" in row.get("gpu", {}):
        yield Disagreement("edited kernel not run on the GPU", name)
    elif "gpu" in row and (row["gpu"]["lines"] or row["gpu"].get("wrong")):
        yield Disagreement("races or wrong results with the edit", name)
