"""What the generator has to know of a detector: one description each, nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from amaranth.lib import wiring
from systemrdl.node import AddrmapNode

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = ["Params", "System"]

#: Parameters of any detector.
Params: TypeAlias = ScordParams | SigraceParams


@dataclass(frozen=True)
class System:
    """A detector, as the generator sees it.

    Parameters
    ----------
    name : str
        Name, as in the headers of traces.
    params : type
        Class of its parameters.
    top : callable
        The whole system, given the parameters.
    parts : mapping of str to callable
        Parts that are written as tops of their own, by name.
    layouts : callable
        Packed words by name, given the parameters.
    trace_ports : callable
        Prefixes of the trace ports by name of their payload's layout, given the parameters.
    registers : callable
        The elaborated register description.
    register_source : Path
        The SystemRDL file that it is elaborated from.
    state_kinds : mapping of str to str
        Kinds of state, each with a regular expression for the paths of the modules that hold it;
        the first that matches counts.
    method_bits : callable
        State bits that the paper counts, by kind, given the parameters.
    """

    name: str
    params: type
    top: Callable[[Any], wiring.Component]
    parts: Mapping[str, Callable[[Any], wiring.Component]]
    layouts: Callable[[Any], dict[str, Layout]]
    trace_ports: Callable[[Any], dict[str, list[str]]]
    registers: Callable[[], AddrmapNode]
    register_source: Path
    state_kinds: Mapping[str, str]
    method_bits: Callable[[Any], dict[str, int]]
