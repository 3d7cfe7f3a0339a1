"""Advice as a patch of the source: a unified diff, where lines and their fences are plain.

Names in it are relative, so that both `patch -p1` and `git apply` take it.

A fence before a body without braces is put into braces with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.gpu.editing.edits import Change, Edit, common_folder, diff
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.sim.gpu.stress.advice import AdvisedChange

_BLOCK, _DEVICE = "__threadfence_block()", "__threadfence()"
#: Actions on a fence that is there: what is replaced, and by what.
_FORMS = {
    "widen": (rb"__threadfence_block\(\)", _DEVICE), "narrow": (rb"__threadfence\(\)", _BLOCK),
    "remove": (rb"__threadfence(?:_block)?\(\);[ \t]*", ""),
}  # fmt: skip
_COMMENT = re.compile(rb"//.*|/\*.*?\*/")


@dataclass(frozen=True)
class Patch:
    """Changes to sources.

    Parameters
    ----------
    text : str
        Unified diff; empty if no change can be written.
    left_out : list of AdvisedChange
        Changes that are not in it.
    folder : Path
        Folder that the names in it are relative to.
    """

    text: str
    left_out: list[AdvisedChange]
    folder: Path


def make_patch(changes: Sequence[AdvisedChange], folder: Path, root: Path) -> Patch:
    """Patch of the sources in a folder.

    Parameters
    ----------
    changes : sequence of AdvisedChange
        The advice.
    folder : Path
        Where sources are looked for that the advice names without a folder.
    root : Path
        Folder that the names in the patch are relative to, if all sources lie in it; if not, it
        is the one that they have in common.
    """
    sources: dict[str, bytes] = {}
    edits: list[Edit] = []
    left_out = []
    for change in changes:
        name, _, number = change.place.rpartition(":")
        own: Change = ()
        if name and number.isdecimal() and (folder / name).is_file():
            # One file may be named in several ways.
            file = str((folder / name).resolve())
            source = sources.setdefault(file, Path(file).read_bytes())
            own = _edits(file, source, int(number), change)
        edits += own
        left_out += [] if own else [change]
    files = [Path(file) for file in sources]
    root = _root(files, root.resolve())
    names = {str(file): file.relative_to(root).as_posix() for file in files}
    return Patch(diff(sources, edits, names), left_out, root)


def _root(files: Collection[Path], root: Path) -> Path:
    """The root, or the folder that files have in common if one does not lie in the root."""
    if all(file.is_relative_to(root) for file in files):
        return root
    return common_folder(files)


def _edits(file: str, source: bytes, number: int, change: AdvisedChange) -> Change:
    """Edits that make a change; none if it is unclear how."""
    if change.action == "insert":
        unit = SourceUnit(file, source, number)
        here = [each for each in unit.chain(number) if each.start_point[0] + 1 == number]
        fence = _BLOCK if change.what.endswith(".cta") else _DEVICE
        return unit.before(here[0]).put(f"{fence};") if here else ()
    lines = re.findall(rb"[^\n]*\n|[^\n]+", source)
    if number > len(lines) or change.action not in _FORMS:
        return ()
    old, new = _FORMS[change.action]
    start, line = sum(map(len, lines[: number - 1])), lines[number - 1]
    found = list(re.finditer(old, line))
    if len(found) != 1:
        return ()
    first, last = found[0].span()
    if not new and not _COMMENT.sub(b"", line[:first] + line[last:]).strip():
        first, last = 0, len(line)
    return (Edit(file, start + first, start + last, new),)
