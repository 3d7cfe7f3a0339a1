"""Description of a detector: everything in which detectors differ for shared code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from racetrap import rtl

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component
    from systemrdl.node import AddrmapNode

    from racetrap.golden_model.trace import AnyTrace


class Params(Protocol):
    """Parameters of any detector: a frozen dataclass, with what generation asks of it."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def trace_port(self) -> bool:
        """Whether every step of the detector is observable."""

    @property
    def macro_words(self) -> int:
        """Words from which an array is an SRAM macro; 0: none is."""


_Params = TypeVar("_Params", bound=Params, covariant=True)


@dataclass(frozen=True)
class Preset(Generic[_Params]):
    """A named configuration.

    Parameters
    ----------
    name : str
        Name in lower case, words joined by hyphens.
    summary : str
        Its purpose, in one line.
    params : Params
        Its parameters.
    """

    name: str
    summary: str
    params: _Params


def presets_by_name(*presets: Preset[_Params]) -> Mapping[str, Preset[_Params]]:
    """Presets by name, in their order."""
    return MappingProxyType({preset.name: preset for preset in presets})


class MemoryRate(NamedTuple):
    """Rate of a detector with its metadata in a slow memory.

    Parameters
    ----------
    per_cycle : float
        Maximum metadata segments per cycle of a port.
    advice : str
        Problem and remedy, in a sentence; empty if there is none.
    """

    per_cycle: float
    advice: str


def code_words(code: type[IntEnum]) -> str:
    """Name of an enumeration as words in lower case, joined by underscores."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", code.__name__).lower()


def no_memory(params: Any, latency: int) -> MemoryRate:
    """Refuse a latency for a detector without metadata in memory."""
    raise ValueError(
        "Option --latency must come with a preset that has metadata in memory: this one has none"
    )


class Overhead(NamedTuple):
    """A cost besides state bits.

    Parameters
    ----------
    name : str
        Its key in JSON and sweeps, unit included.
    value : float
        Its value.
    sentence : str
        The same in words.
    """

    name: str
    value: float
    sentence: str


#: Back doors of detectors of GPUs: a launch's sweep of metadata is cut short, counters and records
#: written count on from other values, and what is said to be idle is held to it.
GPU_BACK_DOORS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "accessor.init": {"index": "rw", "o_busy": "rd"},
    "registers": {"*_count": "rw", "status__idle": "rd"},
    "report_path.writer": {"o_head": "rw"},
})  # fmt: skip


def metadata_overheads(params: Any, remark: str = "") -> list[Overhead]:
    """Overhead of a detector that keeps metadata of memory, with a remark on it."""
    share = params.metadata_overhead
    sentence = f"Metadata is {share:.1%} of the monitored data{remark}."
    return [Overhead("metadata_percent", 100 * share, sentence)]


def _module(room: str, name: str, part: str) -> str:
    return ".".join(filter(None, ("racetrap", room, name, part)))


@dataclass(frozen=True)
class System(Generic[_Params]):
    """A detector.

    Its code in a package is in a folder or module of its name, found by shared code with
    :meth:`own`; data that several packages need are members.

    Parameters
    ----------
    name : str
        Name, also of its folders.
    title : str
        Name in sentences.
    params : type
        Class of its parameters.
    trace : type
        Class of the traces that it reads.
    presets : mapping of str to Preset
        Named configurations.
    choices : mapping of str to sequence
        Values from which each parameter of a random configuration is drawn.
    top : callable
        The whole system, given the parameters.
    parts : mapping of str to callable
        Parts with their own top, by name.
    layouts : tuple of str
        Packed words, each a property ``<name>_layout`` of the parameters.
    traces : mapping of str to str
        Trace ports of the top by name of their payload's layout.
    state_kinds : mapping of str to str
        Kinds of state, each with a regular expression for the paths of the modules that hold it;
        the first that matches counts.
    method_bits : callable
        State bits that the paper counts, by kind, given the parameters.
    random_prefix : str
        Beginning of the names of its random configurations.
    large_presets : mapping of str to Preset
        Presets of the size of real chips, slow to generate and simulate.
    memory_rate : callable
        Its rate, given parameters and the memory latency in cycles; raises ``ValueError`` without
        metadata in memory.
    overheads : callable
        Costs besides state bits, given the parameters.
    inputs : mapping of str to str
        Input streams of the top by name of their payload's layout.
    codes : mapping of str to type of IntEnum
        Enumerations of the fields that are codes, each by layout, dot and field; parts of a nested
        field's name are joined by underscores.
    register_parameters : callable
        Parameters of the register description, given those of an instance.
    back_doors : mapping of str to mapping of str to str
        Registers accessible to a testbench, by the suffix of their modules' names: ``rd`` to read,
        ``rw`` to change.  The latter slow down every cycle of a simulation.
    """

    name: str
    title: str
    params: type[_Params]
    trace: type[AnyTrace]
    presets: Mapping[str, Preset[_Params]]
    choices: Mapping[str, Sequence[Any]]
    top: Callable[[Any], Component]
    parts: Mapping[str, Callable[[Any], Component]]
    layouts: tuple[str, ...]
    traces: Mapping[str, str]
    state_kinds: Mapping[str, str]
    method_bits: Callable[[Any], dict[str, int]]
    random_prefix: str
    large_presets: Mapping[str, Preset[_Params]] = field(default_factory=dict)
    memory_rate: Callable[[Any, int], MemoryRate] = no_memory
    overheads: Callable[[Any], Sequence[Overhead]] = lambda params: ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, type[IntEnum]] = field(default_factory=dict)
    register_parameters: Callable[[Any], Mapping[str, int]] = lambda params: {}
    back_doors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def own(self, room: str, part: str = "") -> ModuleType:
        """The detector's folder or module in a top folder, or a part of it.

        Parameters
        ----------
        room : str
            Package below ``racetrap``, such as ``sim.cosim``.
        part : str
            Module in the detector's folder; empty for the folder or module of its name.
        """
        return import_module(_module(room, self.name, part))

    def reads(self, kind: type[AnyTrace]) -> bool:
        """Whether it reads traces of a kind."""
        return self.trace is kind

    def has(self, room: str, part: str = "") -> bool:
        """Whether :meth:`own` finds something: not every detector is in every package."""
        try:
            return find_spec(_module(room, self.name, part)) is not None
        except ModuleNotFoundError:
            return False

    def random(self, number: int) -> _Params:
        """Random configuration ``number``, reproducible by its number.

        Each parameter is drawn from its choices; a draw that breaks a rule between parameters is
        drawn again.
        """
        random = Random(f"configuration {number}")
        while True:
            drawn = {name: random.choice(some) for name, some in self.choices.items()}
            try:
                return self.params(**drawn)
            except ValueError:
                continue

    @property
    def register_source(self) -> Path:
        """The SystemRDL file of the registers."""
        return Path(rtl.__path__[0]) / self.name / f"{self.name}.rdl"

    def registers(self, params: Any = None) -> AddrmapNode:
        """The elaborated register description, of an instance if its parameters are given."""
        # Its compiler is imported only for generation: other users need only the parameters.
        from racetrap.rtl.common.register_description import compile_description

        given = {} if params is None else self.register_parameters(params)
        return compile_description(self.register_source, **given)
