"""Verilator build of the links of the bench, cached by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from racetrap.sim import verilator
from racetrap.sim.build_cache import cache_folder, source_hash
from racetrap.sim.verilator import BuiltModel, build_component
from racetrap.tb.link import loopback
from racetrap.tb.link.loopback import LinkLoops, LoopParams

__all__ = ["build_links"]

_MODULE = "link"


@dataclass(frozen=True)
class _LinkModel(BuiltModel):
    """A simulator of links."""

    @property
    def facts(self) -> dict[str, Any]:
        links: Any = self.params
        return {"links": [asdict(link) for link in links]}


def build_links(links: Sequence[LoopParams]) -> BuiltModel:
    """Verilate ``LinkLoops``, or find it in the cache.

    Parameters
    ----------
    links : sequence of LoopParams
        The links.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    sources = source_hash(
        [Path(file) for file in (__file__, loopback.__file__, verilator.__file__)]
    )
    options = json.dumps([sources, [asdict(link) for link in links]])
    key = hashlib.sha256(options.encode()).hexdigest()[:16]
    folder = cache_folder() / "verilator" / f"{_MODULE}-{key}"
    params: Any = tuple(links)
    model = _LinkModel(_MODULE, params, folder, waves=False)
    build_component(model, lambda: LinkLoops(links))
    return model
