"""Walks of commands through the rooms of the house, each in a process of its own.

A room is a folder of second level, such as ``golden_model/scord``, or a top folder with the files
that lie in it.  A walk has the modules of a command in the order in which each is first called, not
counting what runs while a module is imported.  Caches that one walk fills would shorten the next.

As a program it reads walks as JSON, arguments by name, and writes the steps of each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import groupby
from types import FrameType
from typing import Any, NamedTuple

from tests.support import REPOSITORY

_TOP_FOLDERS = ("evaluation", "fpga", "generators", "golden_model", "racetrap", "rtl", "sim", "tb")


class Step(NamedTuple):
    """A module that is called for the first time, and the first function of it that is."""

    room: str
    module: str
    function: str


def room_of(module: str) -> str:
    """Room of a module, given its path in the repository."""
    folders = module.split("/")[:-1]
    return "/".join(folders[:2])


def steps_of(run: Callable[[], object], first: str = "") -> list[Step]:
    """Modules that a call goes through, from the function ``first`` on if one is named."""
    steps: dict[str, Step] = {}
    seen = set()
    root = f"{REPOSITORY.resolve()}/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code in seen or _is_import(frame):
            return
        seen.add(code)
        path = os.path.realpath(code.co_filename)
        module = path.removeprefix(root)
        if module == path or not module.startswith(_TOP_FOLDERS):
            return
        if steps or not first or code.co_name == first:
            steps.setdefault(module, Step(room_of(module), module, code.co_qualname))

    sys.setprofile(note)
    try:
        run()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return list(steps.values())


def _is_import(frame: FrameType | None) -> bool:
    while frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def rooms_in_turn(steps: Sequence[Step]) -> list[str]:
    """Rooms as they are entered, also again."""
    return [room for room, _ in groupby(step.room for step in steps)]


def returns_of(steps: Sequence[Step]) -> int:
    """How often a room is entered that was entered before."""
    rooms = rooms_in_turn(steps)
    return len(rooms) - len(set(rooms))


def walk_text(steps: Sequence[Step]) -> str:
    """A walk for people: rooms with their modules, and which of them are returns."""
    lines, entered = [], set()
    for room, inside in groupby(steps, key=lambda step: step.room):
        lines.append(f"{room}{'  <-- a return' if room in entered else ''}")
        entered.add(room)
        lines += [f"    {step.module}: {step.function}" for step in inside]
    return "\n".join(lines)


def _walk(arguments: Sequence[str]) -> list[Step]:
    """Steps of a command, from its own function on."""
    from racetrap.cli import cli

    return steps_of(lambda: cli(list(arguments), prog_name="racetrap"), "command")


def _walk_in_a_fork(arguments: Sequence[str]) -> list[Step]:
    reader, writer = os.pipe()
    if not os.fork():
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as errors:
            steps = _walk(arguments)
        with open(writer, "w", encoding="utf-8") as result:
            json.dump(steps or errors.getvalue(), result)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as result:
        steps = json.load(result)
    os.wait()
    if isinstance(steps, str):
        raise ValueError(f"Command {' '.join(arguments)} took no walk: {steps}")
    return [Step(*step) for step in steps]


def walks_of(commands: Mapping[str, Sequence[str]]) -> dict[str, list[Step]]:
    """Walks by name."""
    import racetrap.commands.check
    import racetrap.commands.run  # noqa: F401, before the processes part

    return {name: _walk_in_a_fork(arguments) for name, arguments in commands.items()}


if __name__ == "__main__":
    json.dump(walks_of(json.load(sys.stdin)), sys.stdout)
