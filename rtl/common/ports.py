"""Ports of a submodule that its parent has as well."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Member


def ports_like(part: Any, *names: str) -> dict[str, Member]:
    """Members of a component that has ports as those of a part of it."""
    return {name: part.signature.members[name] for name in names}


def forward_ports(m: Module, whole: Any, part: Any, *names: str) -> None:
    """Connect ports of a part with those of the same names of the whole around it."""
    for name in names:
        outer, inner = getattr(whole, name), getattr(part, name)
        is_input = part.signature.members[name].flow is In
        m.d.comb += inner.eq(outer) if is_input else outer.eq(inner)
