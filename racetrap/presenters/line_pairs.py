"""Findings, races by pair of source lines: text, annotations, and what is common to all forms.

A finding begins with ``file:line:``, as compilers' messages do, so that editors find the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from racetrap.golden_model.call_stacks import Chain, Frame
from racetrap.presenters.race_choice import RaceChoice
from racetrap.schemas.values import StackFrame
from racetrap.verdict.line_pairs import LinePair, LineRace, Side
from racetrap.verdict.source_text import marked_line, relative_place

_Found = TypeVar("_Found")
#: Maximum functions of a call stack in text.
_MOST_FRAMES = 8


def number_text(count: int, noun: str) -> str:
    """A number with its noun, in the plural if needed."""
    ending = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{count} {noun}{ending * (count != 1)}"


class Counted(Protocol):
    """What was seen so many times, or at least so many."""

    @property
    def instances(self) -> int: ...
    @property
    def is_least(self) -> bool: ...


def seen_text(*found: Counted) -> str:
    """How often something was seen."""
    least = "at least " * any(each.is_least for each in found)
    return f"seen {least}{times_text(sum(each.instances for each in found))}"


def times_text(count: int) -> str:
    """How often something was seen."""
    return "once" if count == 1 else f"{count} times"


def _sorted(counts: Mapping[str, int]) -> str:
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {kind}" for kind, count in by_count)


def race_sentence(race: LineRace, verb: str = "races with") -> str:
    """The race in one sentence."""
    return (
        f"{race.later.access} {verb} {race.earlier.access} at "
        f"{relative_place(race.earlier.place)}: {race.reason}"
    )


def side_text(side: Side) -> str:
    """Kind, place and thread of an access."""
    return f"{side.access} at {relative_place(side.place)}" + f", {side.actor}" * bool(side.actor)


def stack_text(side: Side) -> str:
    """Call stack of an access, if there are several functions; otherwise empty."""
    return ", ".join(text for text, _ in stack_texts(side))


def stack_texts(side: Side) -> list[tuple[str, str]]:
    """The same, function by function, each with the place of the call that it made."""
    folded = f"{number_text(side.folded, 'library frame')} folded" * bool(side.folded)
    texts = [(folded, "")] if folded else []
    if len(side.stack) < 2:
        return texts
    shown = side.stack[:_MOST_FRAMES]
    texts.append((f"in {shown[0].function}", ""))
    for frame, caller in pairwise(shown):
        place = f" at {relative_place(frame.place)}" * bool(frame.place)
        texts.append((f"called{place} in {caller.function}", frame.place))
    if left := len(side.stack) - len(shown):
        texts.append((f"{number_text(left, 'frame')} more", ""))
    return texts


def chain_text(chain: Chain) -> str:
    """A place and the first of the calls that lead there."""
    called = f" (called at {relative_place(chain[1])})" if len(chain) > 1 else ""
    return relative_place(chain[0]) + called


def stack_to_dict(stack: Sequence[Frame]) -> list[StackFrame]:
    """Functions of a call stack as plain data, the innermost first, with the place of each call."""
    return [
        {"function": frame.function, "called_at": relative_place(frame.place) or None}
        for frame in stack
    ]


def counts_text(pair: LinePair, schedules: int) -> str:
    """Number of races of a finding, and the place of the first.

    Parameters
    ----------
    pair : LinePair
        The finding.
    schedules : int
        Number of runs checked.
    """
    blocks = f", between {number_text(pair.block_pairs, 'pair')} of blocks" * bool(pair.block_pairs)
    detector = f"; detector: {_sorted(pair.outcomes)}" * bool(pair.outcomes)
    found = f", in {len(pair.schedules)} of {schedules} schedules" * (schedules > 1)
    return (
        f"{seen_text(pair)}{blocks}{found} ({_sorted(pair.kinds)}; "
        f"{_sorted(pair.relations)}); first at {pair.first.where}{detector}"
    )


def exposure_text(exposure: Mapping[str, Any]) -> str:
    """Outcome of a race in runs under weak memory."""
    memory, runs, seed = exposure["memory"], exposure["runs"], exposure["seed"]
    if exposure["failure"] is None:
        first = seed - runs + 1
        return f"not exposed by {memory} in {number_text(runs, 'run')}, seeds {first} to {seed}"
    others = "" if exposure["alone"] else ", together with others"
    return (
        f"exposed by {memory}, seed {seed}{others}: {exposure['failure']}: {exposure['sentence']}"
    )


def _advice_text(pair: LinePair, schedules: int, label: str, code: str) -> str:
    sentence = race_sentence(pair.first, "and")
    line = f"{relative_place(pair.first.later.place)}: advice: {label}: {sentence} [{code}]"
    return "\n".join([line, *pair_lines(pair, schedules), ""])


def pair_lines(pair: LinePair, schedules: int) -> list[str]:
    """Both accesses in their sources, how often they were seen, and what came of them under weak
    memory."""
    lines = []
    for name, side in pair.first.sides:
        lines.append(f"  {name}: {side_text(side)}")
        lines += [f"    {line}" for line in marked_line(side.place, side.column, side.width)]
        lines += [f"    {calls}"] if (calls := stack_text(side)) else []
    lines.append(f"  {counts_text(pair, schedules)}")
    return lines + ([f"  {exposure_text(pair.exposure)}"] if pair.exposure else [])


def advice_text(
    pairs: Sequence[LinePair], choice: RaceChoice, schedules: int, label: str, code: str
) -> list[str]:
    """Pairs that are no races, and the number of those omitted.

    Parameters
    ----------
    pairs : sequence of LinePair
        The pairs.
    choice : RaceChoice
        Selection to show.
    schedules : int
        Number of runs checked.
    label, code : str
        What a pair is, and its code.
    """
    return first_texts(pairs, choice, lambda pair: _advice_text(pair, schedules, label, code))


def first_texts(
    found: Sequence[_Found], choice: RaceChoice, text: Callable[[_Found], str]
) -> list[str]:
    """Texts of the first of what was found, and the number of those omitted."""
    shown = found[: choice.most_shown]
    texts = list(map(text, shown))
    if left := len(found) - len(shown):
        texts.append(f"{number_text(left, 'more finding')}: --limit all shows them.\n")
    return texts


def annotation(
    title: str, place: str, column: int, text: str, *, is_advice: bool = False
) -> str:  # fmt: skip
    """A finding as GitHub's workflow command, which marks a line of a change.

    Parameters
    ----------
    title : str
        Its kind, in a word.
    place : str
        Its place; empty if unknown.
    column : int
        Column in the line; 0 if unknown.
    text : str
        What was found.
    is_advice : bool
        Whether it does not count.
    """
    path, colon, line = relative_place(place).rpartition(":")
    file = _escaped(path).replace(":", "%3A").replace(",", "%2C")
    where = f"file={file},line={line}," + f"col={column}," * bool(column) if colon else ""
    return f"::{'notice' if is_advice else 'error'} {where}title={title}::{_escaped(text)}"


def _escaped(text: str) -> str:
    """Text escaped for a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def pair_to_dict(pair: LinePair) -> dict[str, Any]:
    """A finding as plain data."""
    race = pair.first
    return {
        "sentence": race_sentence(race),
        **{
            name: {
                "place": relative_place(side.place),
                "column": side.column,
                "stack": stack_to_dict(side.stack),
                **side.details,
            }
            for name, side in race.sides
        },
        **race.details,
        "instances": pair.instances,
        "block_pairs": pair.block_pairs,
        "is_least": pair.is_least,
        "kinds": dict(pair.kinds),
        "classes": dict(pair.relations),
        "schedules": sorted(pair.schedules),
        "outcomes": dict(pair.outcomes),
        "exposure": dict(pair.exposure) or None,
    }
