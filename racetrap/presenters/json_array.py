"""Array of a JSON document, stored on disk once long, so that memory is bounded."""

from __future__ import annotations

import json
import shutil
import tempfile
from typing import Any, Protocol

#: Maximum size in memory.
_MOST_BYTES = 1 << 16


class SupportsWrite(Protocol):
    """Object to which text can be written."""

    def write(self, text: str, /) -> object: ...


class JsonArray:
    """An array at a document's top level, one element per line."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115, as long as self
            _MOST_BYTES, "w+", encoding="utf-8"
        )
        self._count = 0

    def append(self, element: Any) -> None:
        """Add a JSON-compatible element."""
        self._file.write(",\n" if self._count else "\n")
        self._file.write(f"    {json.dumps(element)}")
        self._count += 1

    def write(self, target: SupportsWrite) -> None:
        """Write the whole array."""
        self._file.seek(0)
        target.write("[")
        shutil.copyfileobj(self._file, target)
        target.write("\n  ]" if self._count else "]")


def write_document(target: SupportsWrite, data: Any) -> None:
    """Write a JSON document; its top level may have arrays of this module."""
    if not isinstance(data, dict) or not data:
        target.write(json.dumps(data, indent=2) + "\n")
        return
    for number, (key, value) in enumerate(data.items()):
        target.write(f"{',' if number else '{'}\n  {json.dumps(key)}: ")
        if isinstance(value, JsonArray):
            value.write(target)
        else:
            target.write(json.dumps(value, indent=2).replace("\n", "\n  "))
    target.write("\n}\n")
