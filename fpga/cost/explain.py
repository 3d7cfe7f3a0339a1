"""Explanations of figures that differ from the paper's, derived from counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from racetrap.fpga.cost.papers import Figure, paper_of
from racetrap.generators.state import StatePart
from racetrap.generators.system import Params


@dataclass(frozen=True)
class Comparison:
    """A figure of the paper, compared with ours.

    Parameters
    ----------
    name, unit, reference : str
        Its name and unit, and its place in the paper.
    paper, counted : float
        The paper's figure, and ours from the parameters.
    agrees : bool
        Whether they are equal to the paper's decimals.
    explanation : str
        Why they differ, or how they were compared.
    """

    name: str
    unit: str
    reference: str
    paper: float
    counted: float
    agrees: bool
    explanation: str


def compare(params: Params) -> list[Comparison]:
    """The paper's figures, compared with those of ``params``."""
    paper = paper_of(params)
    return [
        Comparison(
            figure.name, figure.unit, f"{paper.title} {figure.reference}", figure.value,
            figure.counted(params), figure.agrees(params), _explanation(figure, params),
        )
        for figure in paper.figures
    ]  # fmt: skip


def _explanation(figure: Figure, params: Params) -> str:
    if figure.agrees(params):
        exact = figure.counted(params) == figure.value
        return "equal" if exact else "equal as the paper rounds"
    causes = (_cause(figure, params, *each) for each in _differences(params))
    return "; ".join(cause for cause in causes if cause)


def _cause(figure: Figure, params: Params, name: str, ours: Any, theirs: Any) -> str:
    """Effect of one parameter on the figure; empty if none.

    It alone is set in the paper's configuration or, if it conflicts with others there, reset in
    ours.
    """
    said = f"{name} is {ours} (paper: {theirs})"
    paper = paper_of(params).params
    try:
        alone = figure.counted(replace(paper, **{name: ours}))
        return f"{said}, alone {alone:,.6g}" if alone != figure.counted(paper) else ""
    except ValueError:
        back = figure.counted(replace(params, **{name: theirs}))
        return said if back != figure.counted(params) else ""


def _differences(params: Params) -> Iterator[tuple[str, Any, Any]]:
    """Parameters that differ from the paper's: name, value, the paper's value."""
    theirs = paper_of(params).params
    for field in fields(params):
        values = getattr(params, field.name), getattr(theirs, field.name)
        if values[0] != values[1]:
            yield field.name, *values


def explain_state(parts: Sequence[StatePart]) -> list[str]:
    """Sentences on state in the elaborated design beyond the method's."""
    method = sum(part.method for part in parts)
    built = sum(_built(part) for part in parts)
    sentences = [
        f"The method needs {method:,} bits of state; the elaborated design has {built:,} "
        f"({built / method:.1f} times): {sum(part.flip_flops for part in parts):,} flip-flops and "
        f"{sum(part.memory_bits for part in parts):,} bits of memory."
    ]
    sentences += [_kept(part) for part in parts if part.method]
    extra = sorted((part for part in parts if not part.method and _built(part)), key=_built)
    if extra:
        held = ", ".join(f"{_words(part.kind)} {_built(part):,}" for part in reversed(extra))
        sentences.append(f"What the papers do not count, in bits: {held}.")
    return sentences


def _kept(part: StatePart) -> str:
    places = f"{part.memory_bits:,} in memory and {part.flip_flops:,} in flip-flops"
    said = f"Of {_words(part.kind)} the method needs {part.method:,} bits; the design has {places}"
    more = _built(part) - part.method
    if not more:
        return f"{said}: exactly those."
    return f"{said}: {abs(more):,} {'more' if more > 0 else 'fewer'}."


def _built(part: StatePart) -> int:
    return part.flip_flops + part.memory_bits


def _words(kind: str) -> str:
    return kind.replace("_", " ")
