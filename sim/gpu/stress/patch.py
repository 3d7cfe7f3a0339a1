"""Advice as a patch of the source: a unified diff, where lines and their fences are plain.

A fence is put before a line only where a statement ends before it, so that no loop or condition
without braces takes the fence for its body.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from racetrap.sim.gpu.stress.advice import AdvisedChange

__all__ = ["Patch", "make_patch"]

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
    """

    text: str
    left_out: list[AdvisedChange]


def make_patch(changes: Sequence[AdvisedChange], folder: Path) -> Patch:
    """Patch of the sources in a folder.

    Parameters
    ----------
    changes : sequence of AdvisedChange
        The advice.
    folder : Path
        Where sources are looked for that the advice names without a folder.
    """
    by_file: dict[str, list[tuple[int, AdvisedChange]]] = defaultdict(list)
    left_out = []
    for change in changes:
        name, _, number = change.place.rpartition(":")
        if name and number.isdecimal() and (folder / name).is_file():
            by_file[name].append((int(number), change))
        else:
            left_out.append(change)
    diffs: list[str] = []
    for name, own in by_file.items():
        before = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
        after = list(before)
        # From the end, so that numbers of lines before stay.
        for line, change in sorted(own, key=lambda pair: -pair[0]):
            changed = _changed(after, line - 1, change)
            if changed is None:
                left_out.append(change)
            else:
                after[line - 1 : line] = changed
        diffs += unified_diff(before, after, f"a/{name}", f"b/{name}")
    return Patch("".join(diffs), left_out)


def _changed(lines: Sequence[str], number: int, change: AdvisedChange) -> list[str] | None:
    """What comes in the place of a line; nothing if it is not plain what."""
    if number >= len(lines):
        return None
    line = lines[number]
    if change.action == "insert":
        if not _ends_statement(lines[:number]):
            return None
        indent = line[: len(line) - len(line.lstrip())]
        fence = _BLOCK if change.what.endswith(".cta") else _DEVICE
        return [f"{indent}{fence};\n", line]
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
