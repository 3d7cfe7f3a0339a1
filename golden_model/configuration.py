"""Identification number of a device's configuration, which the host checks."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields
from types import MappingProxyType
from typing import Any

#: Metadata of a field added later: configurations in which it has its default keep their hash.
HASHED_IF_SET = MappingProxyType({"hashed_if_set": True})


def configuration_hash(params: Any) -> int:
    """Hash of the parameters of a system: 32 bits, the same in every process.

    Parameters
    ----------
    params : dataclass
        Parameters; the hash covers their class's name and their fields in the order of their names,
        except fields ``HASHED_IF_SET`` that have their default.
    """
    values = {
        field.name: getattr(params, field.name)
        for field in fields(params)
        if getattr(params, field.name) != field.default or not field.metadata.get("hashed_if_set")
    }
    text = json.dumps([type(params).__name__, values], sort_keys=True)
    return zlib.crc32(text.encode("utf-8"))
