"""Firmware images: an ELF file, or lines of words that need no compiler.

A text image has comments after ``#``; lines ``line ADDRESS PLACE``, from which address on
instructions are of a source line; and lines ``ADDRESS: WORD ...``, all hexadecimal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.gnu_tools import source_lines
from racetrap.sim.riscv import ELF, elf_segments

_PER_LINE = 8
#: Place of instructions without a known source line.
_UNKNOWN = "-"


@dataclass(frozen=True)
class Image:
    """Contents of memory at reset.

    Parameters
    ----------
    path : Path
        The file.
    words : dict of int to int
        Words that are not 0, by address.
    lines : tuple of (int, str) or None
        Address from which on instructions are of a source line; None: the file has debug
        information.
    """

    path: Path
    words: dict[int, int]
    lines: tuple[tuple[int, str], ...] | None

    def locations(self, pcs: Iterable[int]) -> dict[int, str]:
        """Source line (``"file.c:12"``) of each instruction that has one."""
        if self.lines is None:
            # These are no return addresses, whose call lies before them.
            return source_lines(self.path, {pc: pc + 1 for pc in pcs})
        starts = [start for start, _ in self.lines]
        found = {pc: self.lines[bisect_right(starts, pc) - 1][1] for pc in pcs if pc >= starts[0]}
        return {pc: place for pc, place in found.items() if place != _UNKNOWN}


def read_image(path: Path) -> Image:
    """An image from a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no image.
    """
    data = path.read_bytes()
    if data.startswith(ELF):
        return Image(path, dict(_elf_words(path, data)), None)
    lines: list[tuple[int, str]] = []
    words: dict[int, int] = {}
    for number, line in enumerate(data.decode("ascii", "replace").splitlines(), start=1):
        fields = line.partition("#")[0].split()
        try:
            if fields[:1] == ["line"]:
                lines.append((int(fields[1], 16), fields[2]))
            elif fields:
                start = int(fields[0].removesuffix(":"), 16)
                words |= {start + 4 * at: int(word, 16) for at, word in enumerate(fields[1:])}
        except (ValueError, IndexError):
            raise ValueError(
                f"{path}, line {number}: image must be an ELF file, or lines of an address and "
                f"words, not {line[:60]!r}"
            ) from None
    return Image(path, words, tuple(lines) or ((0, _UNKNOWN),))


def write_image(image: Image, target: Path, comments: Iterable[str]) -> None:
    """Write an image with debug information as text; ``comments`` say where it comes from."""
    text = [f"# {comment}" for comment in comments]
    places = image.locations(sorted(image.words))
    last = _UNKNOWN
    for pc in sorted(image.words):
        place = places.get(pc, _UNKNOWN)
        if place != last:
            text.append(f"line {pc:x} {place}")
        last = place
    row: list[int] = []
    for address in sorted(image.words):
        if row and (address != row[-1] + 4 or len(row) == _PER_LINE):
            text.append(_row(image, row))
            row = []
        row.append(address)
    target.write_text("\n".join([*text, *([_row(image, row)] if row else []), ""]), "ascii")


def _row(image: Image, addresses: list[int]) -> str:
    words = " ".join(f"{image.words[address]:x}" for address in addresses)
    return f"{addresses[0]:x}: {words}"


def _elf_words(path: Path, data: bytes) -> Iterator[tuple[int, int]]:
    """Words of the loaded segments."""
    for start, segment in elf_segments(path, data):
        for at in range(-(start % 4), len(segment), 4):
            piece = segment[max(at, 0) : at + 4]
            word = int.from_bytes(piece.rjust(4, b"\0") if at < 0 else piece, "little")
            if word:
                yield start + at, word
