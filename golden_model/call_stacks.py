"""Call stacks of a trace: frames by number, each with its caller.

Ref: ``docs/trace-format.md``, section on headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from racetrap.golden_model.checks import check_integer, check_printable

_MOST_FRAMES = (1 << 32) - 1


class Frame(NamedTuple):
    """A running function, called or inlined; stacks with a common beginning share frames.

    Parameters
    ----------
    caller : int
        Number of the calling frame, below its own; 0 if unknown.
    function : str
        Its name in the source.
    place : str
        Place of the call in the source; empty if unknown.
    """

    caller: int
    function: str
    place: str


def check_frames(frames: Mapping[int, Frame]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless every frame leads to an outermost one."""
    for number, (caller, function, place) in frames.items():
        check_integer("Number of a frame", number, 1, _MOST_FRAMES)
        check_integer(f"Caller of frame {number}", caller, 0, number - 1)
        if caller and caller not in frames:
            raise ValueError(f"Caller of frame {number} must be a frame, not {caller}")
        check_printable(f"Function of frame {number}", function)
        check_printable(f"Place of frame {number}", place)


def call_stack(frames: Mapping[int, Frame], number: int) -> Iterator[Frame]:
    """Frames from the numbered one, the innermost, outwards; none for 0 or an unknown number."""
    while number in frames:
        yield frames[number]
        number = frames[number].caller
