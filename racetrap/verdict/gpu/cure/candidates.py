"""Changes that may cure a race, by the relation of its threads: the usual ones first.

Whether one does is not decided here: each is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from racetrap.golden_model.barracuda.race import Missing, RaceClass
from racetrap.sim.gpu.editing.edits import Change, Edit, text_of
from racetrap.sim.gpu.editing.source_unit import Slot, SourceUnit
from racetrap.verdict.cause import Cause
from racetrap.verdict.gpu.cure.atomics import atomics

#: Scopes that leave out threads of other blocks, and what includes them.
_SCOPES = (
    (re.compile(rb"\b(atomic\w+)_block\b"), rb"\1"),
    (re.compile(rb"\b__threadfence_block\b"), b"__threadfence"),
    (re.compile(rb"\bthread_scope_(?:block|thread)\b"), b"thread_scope_device"),
    (re.compile(rb"(?<!barrier)\.(?:cta|cluster)\b(?=[^\"\n]*\")"), b".gpu"),
)
#: Orders to put instead of another, the weakest first.
_ORDERS = (b"release", b"acquire", b"acq_rel")
#: An order of the C++ library or of PTX.
_ORDER = re.compile(
    rb"(?:(?<=memory_order_)|(?<=memory_order::))(?:relaxed|consume|acquire|release)\b"
    rb"|(?<=[\".])(?:relaxed|acquire|release|weak)\b(?=[^\"\n]*\")"
)
#: A weak access by an instruction of PTX.
_WEAK = re.compile(rb"(?<=[\".])weak\b(?=[^\"\n]*\")")
#: Type of an access by an instruction of PTX.
_TYPE = re.compile(rb"(?<=\.)[usb](8|16|32|64)\b(?=[^\"\n]*\")")
#: A barrier of some lanes of a warp.
_PART_OF_WARP = re.compile(rb"\b__syncwarp\((?:[^();]|\([^();]*\))+\)")
#: A call that does not wait.
_TRYING = re.compile(rb"(?<=[.>])try_((?:acquire|lock|wait)\w*)\b(?=\s*\()")
#: The mask of lanes of a call.
_MASK = re.compile(rb"\b__(?:syncwarp|\w+_sync)\(\s*((?:[^,()]|\([^()]*\))+)[,)]")
#: A statement that synchronises: rather a fence or barrier is moved than an atomic.
_SYNCHRONISING = (
    re.compile(rb"(?i)\b\w*(?:fence|arrive|sync)\w*\s*\(|\"(?:fence|membar|bar)"),
    re.compile(rb"\batomic\w+\s*\("),
    # What a macro makes is not known.
    re.compile(rb"^[A-Z_][A-Z0-9_]*;?$"),
)
#: Branch or loop with statements in braces: it is not moved as a whole.
_BODY = re.compile(rb"(?:if|for|while|do|switch)\b[^{]*\{\s*[^\s}]")


#: Strategies that are tried first, by the cause of a race.
_FIRST = {
    "late-fence": ("another place for what synchronises",),
    "scope": ("a wider scope", "a wider scope of a type"),
    "strong-access": ("an atomic",),
    "unequal-store": ("an atomic",),
}  # fmt: skip


class Strategy(NamedTuple):
    """Changes of one sort.

    Parameters
    ----------
    name : str
        What they bring, in words.
    changes : list of Change
        The changes.
    most : int
        How many of them are made together at most.
    """

    name: str
    changes: list[Change]
    most: int = 1


def strategies(
    units: Sequence[SourceUnit], files: Sequence[SourceUnit], relation: RaceClass,
    cause: Cause | None = None,
) -> list[Strategy]:  # fmt: skip
    """Strategies for a race: those that its cause tells first, then the most usual ones.

    Parameters
    ----------
    units : sequence of SourceUnit
        The different functions around its accesses, called ones before their callers.
    files : sequence of SourceUnit
        The whole files of these: a scope may be named where a type is declared.
    relation : RaceClass
        Relation of its threads.
    cause : Cause, optional
        What the accesses lack, with places as the units have them.
    """
    usual = list(_usual(units, files, relation))
    if cause is None:
        return usual
    first = _FIRST.get(cause.kind, ())
    if cause.missing is Missing.RELEASE and not cause.changes:
        # The judge has tried all fences: they do not help threads that do not communicate.
        first, usual = ("an atomic",), [each for each in usual if each.name != "a fence"]
    if cause.missing is Missing.CLUSTER_BARRIER:
        call = "cooperative_groups::this_cluster().sync()"
        return [Strategy("a barrier of the cluster", _put(call, units, is_between=True), 3), *usual]
    near = [*_named(units, cause), *([_beside(units, cause)] if cause.changes else [])]
    usual.sort(key=lambda each: first.index(each.name) if each.name in first else len(first))
    return [*near, *usual]


def _usual(
    units: Sequence[SourceUnit], files: Sequence[SourceUnit], relation: RaceClass
) -> Iterator[Strategy]:
    is_local = relation in (RaceClass.DIVERGENCE, RaceClass.INTRA_BLOCK)
    # Of what a macro makes it is not known where threads part.
    several = 1 if any(unit.is_macro for unit in units) else 3
    if relation is RaceClass.DIVERGENCE:
        for mask in ("", *_masks(units)):
            warp = _put(f"__syncwarp({mask})", units, is_between=True)
            yield Strategy("a barrier of the warp", warp, several)
        whole = list(_replacing(units, _PART_OF_WARP, b"__syncwarp()"))
        yield Strategy("a barrier of more lanes", whole)
    if is_local:
        block = _put("__syncthreads()", units, is_between=True)
        yield Strategy("a barrier of the block", block, several)
    yield Strategy("another place for what synchronises", [
        change for unit in units for change in _swapped(unit)
    ])  # fmt: skip
    yield Strategy("a wider scope", list(_wider(units)), 99)
    yield Strategy("a wider scope of a type", list(_wider(files)))
    yield Strategy("waiting", list(_replacing(units, _TRYING, rb"\1")))
    yield Strategy("an order of memory", list(_ordered(units)), 2)
    fence = "__threadfence_block()" if is_local else "__threadfence()"
    yield Strategy("a fence", _put(fence, units), 99)
    strong = [each for unit in units for each in atomics(unit)]
    yield Strategy("an atomic", [*strong, *_replacing(units, _WEAK, b"relaxed.gpu")], 2)
    yield Strategy("one size", list(_sized(units)))


def _named(units: Sequence[SourceUnit], cause: Cause) -> Iterator[Strategy]:
    """Changes of the instructions that lack something, where they are written."""
    places = set(cause.places)

    def at_places(changes: Iterable[Change], units: Sequence[SourceUnit]) -> list[Change]:
        starts = {unit.file: unit for unit in units}
        return [
            change for change in changes
            if any(starts[edit.file].place(edit.start) in places for edit in change)
        ]  # fmt: skip

    if cause.fence:
        moved = (change for unit in units for change in _swapped(unit))
        yield Strategy("another place for what synchronises", at_places(moved, units))
    elif cause.missing is Missing.SCOPE:
        yield Strategy("a wider scope", at_places(_wider(units), units), 99)
    elif cause.changes:
        yield Strategy("an order of memory", at_places(_ordered(units), units), 2)


def _beside(units: Sequence[SourceUnit], cause: Cause) -> Strategy:
    """Fences before what should release, and behind what should acquire."""
    changes: list[Change] = []
    for unit in units:
        for each in cause.changes:
            file, _, line = each.chain[0].rpartition(":")
            if file != unit.file or unit.is_macro or not (chain := unit.chain(int(line))):
                continue
            before, behind = unit.before(chain[-1]), unit.behind(chain[-1])
            places = {"store": (before,), "load": (behind,)}.get(each.what, (before, behind))
            changes += [place.put("__threadfence();") for place in places]
    return Strategy("a fence", list(dict.fromkeys(changes)), 99)


def _masks(units: Sequence[SourceUnit]) -> list[str]:
    """Masks of lanes that other calls have."""
    found = [text_of(each[1]) for unit in units for each in _MASK.finditer(unit.text)]
    return list(dict.fromkeys(found))


def _put(call: str, units: Sequence[SourceUnit], *, is_between: bool = False) -> list[Change]:
    """A call at each place, or at those between two accesses."""
    changes = []
    for unit in units:
        if unit.is_macro:
            slots, end = unit.in_arguments(), ""
        else:
            slots, end = (_between(unit) if is_between else _everywhere(unit)), ";"
        changes += [slot.put(f"{call}{end}") for slot in slots]
    return changes


def _between(unit: SourceUnit) -> list[Slot]:
    """Places between two accesses, the outermost first; then those at the ends of loops around
    both. None is in a branch that holds one access alone."""
    chains = [chain for line in unit.lines if (chain := unit.chain(line))]
    if not chains:
        return []
    first, last = chains[0], chains[-1]
    common = sum(1 for one, other in zip(first, last, strict=False) if one == other)
    slots = [
        slot
        for depth in range(common, max(len(first), len(last)))
        for slot in (
            *(unit.before(each) for each in last[depth : depth + 1]),
            *(unit.behind(each) for each in first[depth : depth + 1]),
        )
    ]
    for outer in reversed(first[:common]):
        slots += [*unit.in_loop(outer), unit.before(outer), unit.behind(outer)]
    held = [unit.arms_around(chain[-1].start_byte + 1) for chain in (first, last)]
    return [
        slot for slot in dict.fromkeys(slots)
        if all(arm in held[0] and arm in held[1] for arm in unit.arms_around(slot))
    ]  # fmt: skip


def _everywhere(unit: SourceUnit) -> list[Slot]:
    """All places of a function."""
    return [
        slot for each in unit.statements
        for slot in (unit.before(each), *([unit.behind(each)] if unit.ends_block(each) else []))
    ]  # fmt: skip


def _swapped(unit: SourceUnit) -> Iterator[Change]:
    """Neighbours of which one synchronises, in the other order."""
    for first, second in unit.neighbours:
        texts = unit.text_between(*first), unit.text_between(*second)
        moved = next(
            (
                number for pattern in _SYNCHRONISING for number, text in enumerate(texts)
                if pattern.search(text) and not _BODY.match(text)
            ), None,
        )  # fmt: skip
        if moved is None or texts[0] == texts[1]:
            continue
        side = f"{('after', 'before')[moved]} {unit.place((second, first)[moved][0])}"
        yield (
            Edit(unit.file, *first, text_of(texts[1]), f"move `{text_of(texts[moved])}` {side}"),
            Edit(unit.file, *second, text_of(texts[0])),
        )


def _replacing(
    units: Sequence[SourceUnit], pattern: re.Pattern[bytes], text: bytes
) -> Iterator[Change]:
    for unit in units:
        for found in pattern.finditer(unit.text):
            yield _replaced(unit, found, found.expand(text))


def _wider(units: Sequence[SourceUnit]) -> Iterator[Change]:
    for pattern, text in _SCOPES:
        yield from _replacing(units, pattern, text)


def _ordered(units: Sequence[SourceUnit]) -> Iterator[Change]:
    for unit in units:
        for found in _ORDER.finditer(unit.text):
            for order in _ORDERS:
                if order != found[0]:
                    yield _replaced(unit, found, order + b".gpu" * (found[0] == b"weak"))


def _sized(units: Sequence[SourceUnit]) -> Iterator[Change]:
    """Accesses of PTX of the size of another one."""
    found = [(unit, each) for unit in units for each in _TYPE.finditer(unit.text)]
    for size in dict.fromkeys(each[1] for _, each in found):
        for unit, each in found:
            if each[1] != size:
                yield _replaced(unit, each, each[0][:1] + size)


def _replaced(unit: SourceUnit, found: re.Match[bytes], text: bytes) -> Change:
    start, old, new = unit.start + found.start(), text_of(found[0]), text_of(text)
    words = f"change `{old}` to `{new}` at {unit.place(start)}"
    return (Edit(unit.file, start, unit.start + found.end(), new, words),)
