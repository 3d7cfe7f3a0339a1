"""Ports of a submodule that its parent exposes."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Member


def ports_like(part: Any, *names: str) -> dict[str, Member]:
    """Members of a component that exposes ports of a submodule."""
    return {name: part.signature.members[name] for name in names}


def forward_ports(m: Module, whole: Any, part: Any, *names: str) -> None:
    """Connect ports of a submodule to its parent's ports of the same names."""
    for name in names:
        outer, inner = getattr(whole, name), getattr(part, name)
        is_input = part.signature.members[name].flow is In
        m.d.comb += inner.eq(outer) if is_input else outer.eq(inner)
