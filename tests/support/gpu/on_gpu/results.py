"""Results with a GPU as the subject: kept, so that the comparison needs no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: What is kept.
KEPT = Path(__file__).with_name("kept.json")
#: What is measured: kernels of suites, forms of whole programs, and what was cured.
PARTS = ("kernels", "programs", "cured")


def kept() -> dict[str, Any]:
    """The results that are kept: ``machine``, and what is measured, by name."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def results_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Results that processes have written to files in a folder, a line each."""
    found: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            part, name, row = json.loads(line)
            found[part][name] = row
    return found


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Older results with new ones of the same machine; those of another take their place."""
    if old["machine"] != new["machine"]:
        return new
    return new | {
        part: dict(sorted((old.get(part, {}) | new.get(part, {})).items())) for part in PARTS
    }


def keep(results: dict[str, Any]) -> None:
    """Keep results beside those that are kept, an entry a line."""
    whole = merged(kept(), results)
    parts = [f'"machine":{json.dumps(whole["machine"])}']
    for part in PARTS:
        entries = ",\n".join(
            f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}"
            for name, each in whole[part].items()
        )
        parts.append(f'"{part}":{{\n{entries}\n}}')
    KEPT.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
