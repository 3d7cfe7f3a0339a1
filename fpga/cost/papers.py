"""Cost figures of a paper, and the same counted from parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from racetrap.generators.system import Params
from racetrap.generators.systems import system_of


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Parameters
    ----------
    name, unit : str
        Its name and unit.
    value : float
        The paper's value.
    reference : str
        Its place in the paper.
    count : callable
        The same, given parameters.
    decimals : int
        Decimals in the paper.
    """

    name: str
    unit: str
    value: float
    reference: str
    count: Callable[[Any], float]
    decimals: int = 0

    def counted(self, params: Params) -> float:
        """The figure for ``params``, unrounded."""
        return self.count(params)

    def agrees(self, params: Params) -> bool:
        """Whether the figure for ``params`` equals the paper's, to its decimals."""
        return round(self.count(params), self.decimals) == self.value


@dataclass(frozen=True)
class Paper:
    """A paper's cost figures.

    Parameters
    ----------
    title : str
        Citation.
    params : Params
        The configuration of its figures.
    figures : tuple of Figure
        Its figures.
    """

    title: str
    params: Params
    figures: tuple[Figure, ...]


def paper_of(params: Params) -> Paper:
    """The paper of the detector that parameters belong to."""
    paper: Paper = system_of(params).own("fpga", "paper").PAPER
    return paper
