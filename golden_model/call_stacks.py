"""Call stacks of a trace: frames by number, each with its caller.

Ref: ``docs/trace-format.md``, section on headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple, TypeAlias

from racetrap.golden_model.checks import check_integer, check_printable

#: Place of an instruction, and of the calls that lead there, the innermost first.
Chain: TypeAlias = tuple[str, ...]
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


#: Headers whose functions are instructions, such as ``atomicAdd``.
_INSTRUCTIONS = re.compile(
    r"(device_atomic|device_double|device|vector|common|math)_functions\.hpp?"
    r"|sm_\d+_(atomic_functions|intrinsics|rt)\.hpp?"
)
#: Folders of system and library headers: where they begin, and parts of their paths.
_LIBRARY_ROOTS = ("/usr", "/opt")
_LIBRARY_PARTS = frozenset(("site-packages", "dist-packages", "cccl"))


def is_instruction_header(file: str) -> bool:
    """Whether a file is a header of the CUDA compiler whose functions are instructions."""
    return _INSTRUCTIONS.fullmatch(PurePath(file).name) is not None


def chain_of(place: str, frames: Mapping[int, Frame], number: int) -> Chain:
    """A place and those of the calls that lead there, as far as they are known."""
    calls = (frame.place for frame in call_stack(frames, number))
    return place, *filter(None, calls)


def own_place(places: Sequence[str]) -> tuple[int, str]:
    """The first place outside system and library headers, with its number; the last if all are
    inside."""
    for number, place in enumerate(places):
        if place and not is_library(place.rpartition(":")[0]):
            return number, place
    return len(places) - 1, places[-1]


def is_library(file: str) -> bool:
    """Whether a file is a system or library header."""
    path = PurePath(file)
    return not _LIBRARY_PARTS.isdisjoint(path.parts) or (
        path.is_absolute() and f"/{path.parts[1]}" in _LIBRARY_ROOTS
    )
