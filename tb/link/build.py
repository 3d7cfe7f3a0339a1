"""Verilator build of the links of the bench, cached by content."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from amaranth.back import verilog

from racetrap.sim import verilator
from racetrap.sim.build_cache import cache_folder, locked, source_hash
from racetrap.sim.verilator import BuiltModel, verilate
from racetrap.tb.link import loopback
from racetrap.tb.link.loopback import LinkLoops, LoopParams

__all__ = ["build_links"]

_MODULE = "link"
_LINES = ("i_rx", "o_tx", "i_open", "o_link_up")


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
    with locked(folder.with_suffix(".lock")):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _generate(links, folder)
            verilate(model)
            (folder / "done").touch()
    return model


def _generate(links: Sequence[LoopParams], folder: Path) -> None:
    text = verilog.convert(LinkLoops(links), name=_MODULE, emit_src=False)
    (folder / f"{_MODULE}.v").write_text(text, encoding="utf-8")
    names = ["clk", "rst"] + [f"{line}__{n}" for line in _LINES for n in range(len(links))]
    ports = {
        name: {"direction": "output" if name.startswith("o_") else "input", "width": 1}
        for name in names
    }
    description = {"module": _MODULE, "ports": ports}
    (folder / f"{_MODULE}.json").write_text(json.dumps(description), encoding="utf-8")
