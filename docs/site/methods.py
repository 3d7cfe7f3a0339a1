"""Parts of each method with the sections of the papers that they follow, from the modules."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docs.site.markdown import table
from racetrap import golden_model, rtl
from racetrap.generators.systems import SYSTEM_NAMES

#: Methods that follow a paper or a specification.
METHODS = (*SYSTEM_NAMES, "barracuda", "happens_before", "ptx_memory_model", "reenact")
_REFERENCE = re.compile(r"^Ref: (.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)


def _docstring(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def method_table(method: str) -> str:
    """Each module of a method's golden model: what it is, whose section, and its hardware."""
    rows = []
    for file in sorted(Path(golden_model.__path__[0], method).glob("[!_]*.py")):
        text = _docstring(file)
        found = _REFERENCE.search(text)
        rows.append((
            f"`{method}/{file.name}`",
            text.partition("\n")[0],
            " ".join(found[1].split()) if found else "",
            "yes" if Path(rtl.__path__[0], method, file.name).is_file() else "",
        ))  # fmt: skip
    return table(("module", "what it is", "follows", "in hardware"), rows)
