"""Classic shapes of litmus tests, from cycles of relations, in all mixes of strength, scope,
fence and place.

A cycle names what leads from one access to the next: ``Rfe``, ``Fre`` and ``Wse`` are read-from,
from-read and coherence of one location between two threads; ``RR``, ``RW``, ``WR`` and ``WW`` are
program order of two locations.  The condition is met by the execution that has the cycle.

Ref: Alglave, Maranget, Sarkar, Sewell: Fences in Weak Memory Models (CAV 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest, parse_litmus


class Shape(NamedTuple):
    """A shape.

    Parameters
    ----------
    cycle : str
        Its relations, beginning behind a communication.
    fences : str
        Weakest fence that each program order needs for the cycle to be forbidden: A(cq_rel) or
        S(c).  Derived by hand: a read-from joins two fences as patterns, and a from-read or
        coherence joins nothing, so the fences at both ends of it must be sc.
    """

    cycle: str
    fences: str


SHAPES = {
    "MP": Shape("WW Rfe RR Fre", "AA"),
    "S": Shape("WW Rfe RW Wse", "AA"),
    "LB": Shape("RW Rfe RW Rfe", "AA"),
    "SB": Shape("WR Fre WR Fre", "SS"),
    "R": Shape("WW Wse WR Fre", "SS"),
    "2+2W": Shape("WW Wse WW Wse", "SS"),
    "WRC": Shape("Rfe RW Rfe RR Fre", "AA"),
    "WWC": Shape("Rfe RW Rfe RW Wse", "AA"),
    "RWC": Shape("Rfe RR Fre WR Fre", "SS"),
    "WRW+WR": Shape("Rfe RW Wse WR Fre", "SS"),
    "WRR+2W": Shape("Rfe RR Fre WW Wse", "SS"),
    "IRIW": Shape("Rfe RR Fre Rfe RR Fre", "SS"),
    "IRRWIW": Shape("Rfe RR Fre Rfe RW Wse", "SS"),
    "ISA2": Shape("WW Rfe RW Rfe RR Fre", "AAA"),
    "Z6.2": Shape("WW Rfe RW Rfe RW Wse", "AAA"),
    "Z6.3": Shape("WW Wse WW Rfe RR Fre", "SAS"),
    "W+RWC": Shape("WW Rfe RR Fre WR Fre", "ASS"),
    "3.SB": Shape("WR Fre WR Fre WR Fre", "SSS"),
    "3.LB": Shape("RW Rfe RW Rfe RW Rfe", "AAA"),
    "3.2W": Shape("WW Wse WW Wse WW Wse", "SSS"),
}


class _Access(NamedTuple):
    kind: str
    location: str
    value: int


def _threads(cycle: str) -> list[list[_Access]]:
    """Accesses of each thread, with the values of the execution that has the cycle."""
    edges = cycle.split()
    kinds = {"Rfe": "WR", "Fre": "RW", "Wse": "WW"}
    starts = [kinds.get(edge, edge)[0] for edge in edges]
    locations = iter("xyzw")
    location, steps = next(locations), []
    changes = sum(edge not in kinds for edge in edges)
    for edge, kind in zip(edges, starts, strict=True):
        steps.append((kind, location, edge))
        if edge not in kinds:
            changes -= 1
            # The last accesses close the cycle, so they have the location of the first.
            location = next(locations) if changes else "x"
    return _with_values(steps, kinds)


def _with_values(steps: list[tuple[str, str, str]], kinds: dict[str, str]) -> list[list[_Access]]:
    """Values along the accesses of one location, which follow each other in the cycle."""
    count = len(steps)
    begin = next(n for n in range(count) if steps[n - 1][2] not in kinds)
    values: dict[int, int] = {}
    for number in (*range(begin, count), *range(begin)):
        kind, _, _ = steps[number]
        before = steps[number - 1][2]
        if before not in kinds:
            values[number] = int(kind == "W")
        else:
            values[number] = values[(number - 1) % count] + (before != "Rfe")
    threads: list[list[_Access]] = []
    for number, (kind, location, _) in enumerate(steps):
        if steps[number - 1][2] in kinds:
            threads.append([])
        threads[-1].append(_Access(kind, location, values[number]))
    return threads


def _test(
    name: str, threads: Sequence[Sequence[_Access]], places: Sequence[str],
    columns: Sequence[Sequence[str]],
) -> LitmusTest:  # fmt: skip
    length = max(map(len, columns))
    rows = [
        " | ".join(column[row] if row < len(column) else "" for column in columns) + " ;"
        for row in range(length)
    ]
    reads = [
        f"{thread}:%r{number} = {access.value}"
        for thread, accesses in enumerate(threads)
        for number, access in enumerate(accesses)
        if access.kind == "R"
    ]
    accesses = [access for thread in threads for access in thread]
    finals = []
    for location in sorted({access.location for access in accesses}):
        written = [a.value for a in accesses if a.location == location and a.kind == "W"]
        if len(written) > 1:
            finals.append(f"{location} = {max(written)}")
    locations = sorted({access.location for access in accesses})
    heads = " | ".join(f"P{thread}@{place}" for thread, place in enumerate(places))
    condition = " /\\ ".join([*reads, *finals])
    text = "\n".join(
        [
            f"PTX {name}", "{", "".join(f"{location} = 0; " for location in locations), "}",
            f"{heads} ;", *rows, f"exists ({condition})",
        ]
    )  # fmt: skip
    return parse_litmus(text, name)


def fenced(name: str, fences: Sequence[str]) -> LitmusTest:
    """A shape of relaxed accesses in CTAs of its own, with one fence for each program order: an
    opcode, or nothing."""
    threads = _threads(SHAPES[name].cycle)
    left = iter(fences)
    columns = []
    for accesses in threads:
        column = []
        for number, access in enumerate(accesses):
            if number:
                column += [fence for fence in [next(left)] if fence]
            column.append(_plain(access, number, "relaxed.gpu"))
        columns.append(column)
    places = [f"cta {number}" for number in range(len(threads))]
    return _test(f"{name}+{'+'.join(fence or 'po' for fence in fences)}", threads, places, columns)


def _plain(access: _Access, number: int, how: str) -> str:
    if access.kind == "R":
        return f"ld.{how} %r{number}, [{access.location}]"
    return f"st.{how} [{access.location}], {access.value}"


def decorated(name: str, seed: int) -> LitmusTest:
    """A shape with accesses, fences and places drawn from a seed."""
    random = Random(f"{name} {seed}")
    threads = _threads(SHAPES[name].cycle)
    level = random.choice(("cta", "cluster", "gpu", "sys"))
    places = [_place(random, thread, level) for thread in range(len(threads))]
    together = len(set(places)) == 1
    scopes = random.choice((("gpu", "sys"), ("cta", "cluster", "gpu", "sys"), ("cta", "gpu")))
    columns = []
    for accesses in threads:
        column = []
        for number, access in enumerate(accesses):
            if number:
                column += _between(random, scopes)
            column.append(_access(random, access, number, scopes))
        columns.append(column)
    if together and random.random() < 0.3:
        columns = [[*column[:1], "bar.sync 0", *column[1:]] for column in columns]
    return _test(f"{name}-{seed}", threads, places, columns)


def _place(random: Random, thread: int, level: str) -> str:
    """Threads that are at most ``level`` apart, and often in pairs that are nearer."""
    own = thread // 2 if random.random() < 0.3 else thread
    return {
        "cta": "cta 0,cluster 0,gpu 0",
        "cluster": f"cta {own},cluster 0,gpu 0",
        "gpu": f"cta {own},cluster {own},gpu 0",
        "sys": f"cta {own},cluster {own},gpu {own}",
    }[level]


def _between(random: Random, scopes: Sequence[str]) -> list[str]:
    kind = random.choice(("", "", "acq_rel", "acq_rel", "sc", "sc", "acquire", "release"))
    return [f"fence.{kind}.{random.choice(scopes)}"] if kind else []


def _access(random: Random, access: _Access, number: int, scopes: Sequence[str]) -> str:
    order = "acquire" if access.kind == "R" else "release"
    kind = random.choice(("weak", "relaxed", "relaxed", order, order, "volatile", "atomic"))
    scope = random.choice(scopes)
    if kind in ("weak", "volatile"):
        return _plain(access, number, kind)
    if kind != "atomic":
        return _plain(access, number, f"{kind}.{scope}")
    how = random.choice(("relaxed", order, "acq_rel"))
    if access.kind == "R":
        return f"atom.{how}.{scope}.add.u32 %r{number}, [{access.location}], 0"
    return f"atom.{how}.{scope}.exch.b32 %r{number}, [{access.location}], {access.value}"
