"""Results with a GPU as the subject: kept, so that the comparison needs no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: What is kept.
KEPT = Path(__file__).with_name("kept.json")


def kept() -> dict[str, Any]:
    """The results that are kept: ``machine``, ``kernels`` and ``programs``."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def keep(results: dict[str, Any]) -> None:
    """Keep results, an entry a line."""
    parts = [f'"machine":{json.dumps(results["machine"])}']
    for part in ("kernels", "programs"):
        entries = ",\n".join(
            f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}"
            for name, each in results[part].items()
        )
        parts.append(f'"{part}":{{\n{entries}\n}}')
    KEPT.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
