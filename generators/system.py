"""Description of a detector for the generator: one each, nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from racetrap import rtl
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component
    from systemrdl.node import AddrmapNode

__all__ = ["Params", "System"]

#: Parameters of any detector.
Params: TypeAlias = ScordParams | SigraceParams | NoncoherentParams


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
    layouts : tuple of str
        Packed words, each a property ``<name>_layout`` of the parameters.
    traces : mapping of str to str
        Trace ports of the top by name of their payload's layout.
    state_kinds : mapping of str to str
        Kinds of state, each with a regular expression for the paths of the modules that hold it;
        the first that matches counts.
    method_bits : callable
        State bits that the paper counts, by kind, given the parameters.
    inputs : mapping of str to str
        Input streams of the top by name of their payload's layout.
    codes : mapping of str to type of IntEnum
        Enumerations of the fields that are codes, each by layout, dot and field; parts of a nested
        field's name are joined by underscores.
    register_parameters : callable
        Parameters of the register description, given those of an instance.
    back_doors : mapping of str to mapping of str to str
        Registers that a testbench reaches, by the end of their modules' names: ``rd`` those that it
        reads, ``rw`` those that it changes.  A simulation pays for the latter in every cycle.
    """

    name: str
    params: type
    top: Callable[[Any], Component]
    parts: Mapping[str, Callable[[Any], Component]]
    layouts: tuple[str, ...]
    traces: Mapping[str, str]
    state_kinds: Mapping[str, str]
    method_bits: Callable[[Any], dict[str, int]]
    inputs: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, type[IntEnum]] = field(default_factory=dict)
    register_parameters: Callable[[Any], Mapping[str, int]] = lambda params: {}
    back_doors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def register_source(self) -> Path:
        """The SystemRDL file of the registers."""
        return Path(rtl.__path__[0]) / self.name / f"{self.name}.rdl"

    def registers(self, params: Any = None) -> AddrmapNode:
        """The elaborated register description, of an instance if its parameters are given."""
        # Its compiler is for commands that generate: others only ask whose parameters they have.
        from racetrap.rtl.common.registers import compile_description

        given = {} if params is None else self.register_parameters(params)
        return compile_description(self.register_source, **given)
