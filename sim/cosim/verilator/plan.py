"""Plan of a cocotb run, and notes of its tests, inside the simulator's process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

#: Environment variable that names the plan file.
PLAN = "RACETRAP_PLAN"
#: File beside the plan to which tests append one JSON document a line.
NOTES = "notes.jsonl"


@cache
def read_plan() -> dict[str, Any]:
    """The plan of this process's run."""
    return json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))


def note(document: Mapping[str, Any]) -> None:
    """Send a note to the process that started the simulator, at once."""
    with Path(os.environ[PLAN]).with_name(NOTES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(document) + "\n")
