"""Cost figures of a paper, beside the same counted from parameters."""

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
        What it is.
    value : float
        What the paper says.
    reference : str
        Where it says so.
    count : callable
        The same, given parameters.
    decimals : int
        Decimals that the paper gives.
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
        """Whether the figure for ``params`` is the paper's, to the decimals that it gives."""
        return round(self.count(params), self.decimals) == self.value


@dataclass(frozen=True)
class Paper:
    """A paper's cost figures.

    Parameters
    ----------
    title : str
        How it is cited.
    params : Params
        The configuration that its figures are for.
    figures : tuple of Figure
        What it says.
    """

    title: str
    params: Params
    figures: tuple[Figure, ...]


def paper_of(params: Params) -> Paper:
    """The paper of the detector that parameters belong to."""
    paper: Paper = system_of(params).own("fpga", "paper").PAPER
    return paper
