"""The points of a grid, in the order of its file: the last parameter changes fastest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from racetrap.evaluation.sweep.spec import Spec
from racetrap.generators.system import Params


@dataclass(frozen=True)
class Point:
    """A point of the grid.

    Parameters
    ----------
    number : int
        Its number, from 0.
    values : mapping of str to value
        Its value of each key of the grid.
    params : Params or None
        Its configuration; ``None`` if there is none.
    refused : str
        Why its parameters are no configuration; empty if they are one.
    """

    number: int
    values: Mapping[str, Any]
    params: Params | None
    refused: str = ""

    @property
    def label(self) -> str:
        """Its values for people."""
        return ", ".join(f"{name}={value}" for name, value in self.values.items())


def points_of(spec: Spec) -> list[Point]:
    """Every point; one whose parameters are in conflict is there, with the reason."""
    points = []
    for number, values in enumerate(product(*spec.grid.values())):
        chosen = dict(zip(spec.grid, values, strict=True))
        changes = dict(spec.fixed)
        for key, value in chosen.items():
            changes |= dict.fromkeys(key.split("+"), value)
        try:
            points.append(Point(number, chosen, replace(spec.base, **changes)))
        except (TypeError, ValueError) as error:
            points.append(Point(number, chosen, None, str(error)))
    return points
