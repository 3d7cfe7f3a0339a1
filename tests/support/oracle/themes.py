"""Themes of the random traces for the race oracles."""

from dataclasses import dataclass

_ALL = (1 << 32) - 1


@dataclass(frozen=True)
class Theme:
    """What a trace is mostly about.

    Parameters
    ----------
    blocks, warps, live : tuple of int
        Shapes: blocks, warps of each, and lanes of the last warp.
    idioms : str
        First letters of the idioms: lone access, message, answer, section.
    branches, barriers : tuple of float
        Rates.
    """

    blocks: tuple[int, ...] = (1, 2, 3)
    warps: tuple[int, ...] = (1, 2)
    live: tuple[int, ...] = (0b1, 0b11, 0b111, _ALL)
    idioms: str = "llmmas"
    branches: tuple[float, ...] = (0, 0, 0.2)
    barriers: tuple[float, ...] = (0, 0.03, 0.1)


THEMES = (
    Theme(),
    Theme(blocks=(1,), live=(0b111, 0b1111), idioms="llla", branches=(0.5,)),
    Theme(blocks=(2, 3), live=(0b1, 0b11), idioms="ma", branches=(0, 0.1), barriers=(0,)),
    Theme(live=(0b1, 0b11), idioms="s", branches=(0, 0.1), barriers=(0, 0.03)),
)
