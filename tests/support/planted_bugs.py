"""Planted bugs: those that `make test` has time for, and modules with a bug in them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support import REPOSITORY
from tests.support.campaign import later_but


def one_for_each_file(files: Mapping[str, str], step: int = 1) -> list[Any]:
    """Bugs, given with the file of each, as parameters: the first of each file, or of each
    ``step``-th one where a bug takes a build of the whole system; the others as a campaign."""
    first = {file: name for name, file in reversed(files.items())}
    kept = {first[file] for file in list(dict.fromkeys(files.values()))[::step]}
    return later_but(kept.__contains__, files)


def module_with(file: str, bug: tuple[str, str] | None) -> ModuleType:
    """A module of the RTL made anew: ``bug`` is what stands in its source, and what instead."""
    return modules_with([file], None if bug is None else Patch(file, *bug))[file]


def modules_with(
    files: Sequence[str], bug: Patch | None, folder: str = "rtl/"
) -> dict[str, ModuleType]:
    """Modules of the RTL made anew, with a bug in one of them.

    Parameters
    ----------
    files : sequence of str
        Source files relative to the folder of the RTL, each after those that it uses: what it
        uses of one of them then comes from there.
    bug : Patch or None
        Change of one of these files.
    folder : str
        Another folder that the files are relative to, with a slash; empty is the whole tree.
    """
    assert bug is None or bug.file in files, f"no bug can be planted in {bug.file}"
    modules: dict[str, ModuleType] = {}
    known: dict[str, ModuleType] = {}
    try:
        for file in files:
            path = f"{folder}{file}"
            text = (REPOSITORY / path).read_text(encoding="utf-8")
            if bug is not None and bug.file == file:
                text = bug.changed(text)
            name = ".".join(("racetrap", *path.removesuffix(".py").split("/")))
            known[name] = import_module(name)
            # What comes later and imports it gets this one, also as the base of a class.
            sys.modules[name] = modules[file] = ModuleType(name)
            exec(compile(text, file, "exec", dont_inherit=True), vars(modules[file]))
    finally:
        sys.modules.update(known)
    return modules
