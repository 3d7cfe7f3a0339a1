"""Identification number of a device's configuration, which the host checks."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields
from typing import Any

__all__ = ["configuration_hash"]


def configuration_hash(params: Any) -> int:
    """Hash of the parameters of a system: 32 bits, the same in every process.

    Parameters
    ----------
    params : dataclass
        Parameters; their class's name and their fields count, in the order of their names.
    """
    values = {field.name: getattr(params, field.name) for field in fields(params)}
    text = json.dumps([type(params).__name__, values], sort_keys=True)
    return zlib.crc32(text.encode("utf-8"))
