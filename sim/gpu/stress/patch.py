"""Advice as a patch of the source: a unified diff, where lines and their fences are plain.

Names in it are relative, so that both `patch -p1` and `git apply` take it.

A fence is put before a line only where a statement ends before it, so that no loop or condition
without braces takes the fence for its body.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from racetrap.sim.gpu.stress.advice import AdvisedChange

_BLOCK, _DEVICE = "__threadfence_block()", "__threadfence()"
#: A fence of either scope as a statement.
_STATEMENT = re.compile(r"__threadfence(_block)?\(\);[ \t]*")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")


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
    by_file: dict[Path, list[tuple[int, AdvisedChange]]] = defaultdict(list)
    left_out = []
    for change in changes:
        name, _, number = change.place.rpartition(":")
        if name and number.isdecimal() and (folder / name).is_file():
            # One file may be named in several ways.
            by_file[(folder / name).resolve()].append((int(number), change))
        else:
            left_out.append(change)
    root = _root(by_file, root.resolve())
    diffs: list[str] = []
    for file, own in by_file.items():
        before = _lines(file)
        after = list(before)
        # From the end, so that numbers of lines before stay.
        for line, change in sorted(own, key=lambda pair: -pair[0]):
            changed = _changed(after, line - 1, change)
            if changed is None:
                left_out.append(change)
            else:
                after[line - 1 : line] = changed
        name = file.relative_to(root).as_posix()
        # A name with a space in it ends at a tab.
        tab = "\t" * (" " in name)
        diffs += _ended(unified_diff(before, after, f"a/{name}{tab}", f"b/{name}{tab}"))
    return Patch("".join(diffs), left_out, root)


def _root(files: Collection[Path], root: Path) -> Path:
    """The root, or the folder that files have in common if one does not lie in the root."""
    if all(file.is_relative_to(root) for file in files):
        return root
    return Path(os.path.commonpath([file.parent for file in files]))


def _lines(file: Path) -> list[str]:
    """Lines of a source as the compiler counts them, with their ends."""
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as text:
        return re.findall(r"[^\n]*\n|[^\n]+", text.read())


def _ended(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a diff, the last of a source with the mark that it has no end."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _changed(lines: Sequence[str], number: int, change: AdvisedChange) -> list[str] | None:
    """What replaces a line; nothing if that is unclear."""
    if number >= len(lines):
        return None
    line = lines[number]
    if change.action == "insert":
        if not _ends_statement(lines[:number]):
            return None
        indent = line[: len(line) - len(line.lstrip())]
        fence = _BLOCK if change.what.endswith(".cta") else _DEVICE
        end = "\r\n" if line.endswith("\r\n") else "\n"
        return [f"{indent}{fence};{end}", line]
    if change.action == "remove" and len(_STATEMENT.findall(line)) == 1:
        rest = _STATEMENT.sub("", line)
        return [rest] if _COMMENT.sub("", rest).strip() else []
    old, new = {"widen": (_BLOCK, _DEVICE), "narrow": (_DEVICE, _BLOCK)}.get(
        change.action, ("", "")
    )
    if old and line.count(old) == 1:
        return [line.replace(old, new)]
    return None


def _ends_statement(lines: Sequence[str]) -> bool:
    """Whether a statement may follow some lines."""
    for line in reversed(lines):
        code = _COMMENT.sub("", line).strip()
        if code:
            return code.endswith((";", "{", "}"))
    return False
