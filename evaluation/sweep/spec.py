"""Specification of a sweep: a TOML file, checked as a whole before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from racetrap.evaluation.scord.programs import applications
from racetrap.evaluation.sweep.parameters import resolve
from racetrap.evaluation.sweep.sections import Section, SpecError
from racetrap.generators.presets import PRESETS
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.programs.catalogue import SIZES as PROGRAM_SIZES

__all__ = ["SUITES", "CostSpec", "QualitySpec", "Spec", "read_spec"]

#: Groups of programs for ScoRD; an application is also one by its own name.
SUITES = ("micro-benchmarks", "concurrency-suite", "applications")
#: Family that stands for counting state bits: no tool runs.
STATE = "state"

_SIZES = ("tiny", "small", "paper")
_MAX_SEEDS = 64
_MAX_SCHEDULES = 100
_MAX_REGION_LOG2 = 30
_MAX_SEED = (1 << 31) - 1
_CONSTRAINT_MHZ = 100


@dataclass(frozen=True)
class CostSpec:
    """How a point's cost is measured.

    Parameters
    ----------
    family : str
        Target of synthesis, or ``state``: only state bits are counted.
    blocks : tuple of str
        Blocks that are synthesised; their figures are added up over their instances.
    seeds : int
        Seeds of place and route for each block; 0 is synthesis alone.
    constraint_mhz : int
        Clock that place and route aims at.
    elaborate : bool
        Whether the state of the elaborated design is counted, too (some seconds a point).
    """

    family: str = STATE
    blocks: tuple[str, ...] = ()
    seeds: int = 0
    constraint_mhz: int = _CONSTRAINT_MHZ
    elaborate: bool = False


@dataclass(frozen=True)
class QualitySpec:
    """How a point's detection quality is measured.

    Parameters
    ----------
    workloads : tuple of str
        ScoRD: of ``SUITES``, or applications by name; SigRace: programs by name.
    size : str
        Size of the runs of applications and programs.
    schedules : int
        ScoRD: schedules of each program, the fixed ones of the micro-benchmarks not counted;
        SigRace: runs of each program without one of its synchronisations.
    seed : int
        Seed of inputs, schedules and of what is taken out; others follow it.
    region_log2 : int
        ScoRD: log2 of the bytes of an application that are monitored at least.
    """

    workloads: tuple[str, ...]
    size: str = "tiny"
    schedules: int = 1
    seed: int = 1
    region_log2: int = 20


@dataclass(frozen=True)
class Spec:
    """A sweep.

    Parameters
    ----------
    name : str
        Name of the sweep.
    preset : str
        Configuration that the grid changes.
    fixed : mapping of str to value
        Parameters that are the same at every point.
    grid : mapping of str to tuple of values
        Values of each parameter, or of several that go together, their names joined by ``+``.
    cost : CostSpec
        How cost is measured.
    quality : QualitySpec
        How detection quality is measured.
    """

    name: str
    preset: str
    fixed: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]
    cost: CostSpec
    quality: QualitySpec

    @property
    def base(self) -> Params:
        """Parameters of the preset."""
        return PRESETS[self.preset].params


def read_spec(path: Path) -> Spec:
    """Read and check a file.

    Parameters
    ----------
    path : Path
        TOML file.

    Raises
    ------
    SpecError
        If it is no TOML or breaks a rule; the sentence names file, key and rule.
    OSError
        If it cannot be read.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: File must be TOML, not text with an error ({error})") from None
    top = Section(str(path), "", data)
    top.only("name", "preset", "fixed", "grid", "cost", "quality")
    name = top.word("name")
    preset = top.choice("preset", PRESETS)
    params = PRESETS[preset].params
    grid = top.section("grid", required=True)
    fixed = top.section("fixed")
    return Spec(
        name=name,
        preset=preset,
        fixed=_fixed(fixed, params),
        grid=_grid(grid, params, fixed),
        cost=_cost(top.section("cost"), params),
        quality=_quality(top.section("quality", required=True), params),
    )


def _fixed(section: Section, params: Params) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.data.items():
        for name in _names(section, key, params):
            if name in found:
                raise section.error(key, "a parameter that is named once", name)
            found[name] = section.scalar(key, value)
    return found


def _grid(section: Section, params: Params, fixed: Section) -> dict[str, tuple[Any, ...]]:
    if not section.data:
        raise section.error("", "a table of at least one parameter", "empty")
    taken = {name for key in fixed.data for name in resolve(params, key)}
    found: dict[str, tuple[Any, ...]] = {}
    for key, values in section.data.items():
        names = _names(section, key, params)
        for name in names:
            if name in taken:
                raise section.error(key, "a parameter that is named once", name)
            taken.add(name)
        if not isinstance(values, list) or not values:
            raise section.error(key, "a list of at least one value", values)
        found["+".join(names)] = tuple(section.scalar(key, value) for value in values)
        if len(set(map(repr, values))) != len(values):
            raise section.error(key, "a list of different values", values)
    return found


def _names(section: Section, key: str, params: Params) -> tuple[str, ...]:
    try:
        return resolve(params, key)
    except ValueError as error:
        raise SpecError(f"{section.where(key)}: {error}") from None


def _cost(section: Section, params: Params) -> CostSpec:
    section.only("family", "blocks", "seeds", "constraint_mhz", "elaborate")
    families = _families()
    family = section.choice("family", (STATE, *families), default=STATE)
    elaborate = section.switch("elaborate")
    if family == STATE:
        for key in ("blocks", "seeds", "constraint_mhz"):
            if key in section.data:
                raise section.error(key, f"absent with family {STATE}", section.data[key])
        return CostSpec(elaborate=elaborate)
    blocks = section.choices("blocks", _block_names(params))
    seeds = section.number("seeds", 0, _MAX_SEEDS, default=0)
    if seeds and families[family].place_tool is None:
        raise section.error("seeds", f"0 with family {family}, which is not placed", seeds)
    constraint = section.number("constraint_mhz", 1, 1000, default=_CONSTRAINT_MHZ)
    return CostSpec(family, blocks, seeds, constraint, elaborate)


def _quality(section: Section, params: Params) -> QualitySpec:
    section.only("workloads", "size", "schedules", "seed", "region_log2")
    is_scord = system_of(params).name == "scord"
    if is_scord:
        known = (*SUITES, *dict.fromkeys(build.program for build in applications()))
    else:
        known = tuple(PROGRAMS)
        if "region_log2" in section.data:
            raise section.error("region_log2", "absent for SigRace", section.data["region_log2"])
    return QualitySpec(
        workloads=section.choices("workloads", known),
        size=section.choice("size", _SIZES if is_scord else PROGRAM_SIZES, default="tiny"),
        schedules=section.number("schedules", 1, _MAX_SCHEDULES, default=1),
        seed=section.number("seed", 0, _MAX_SEED, default=1),
        region_log2=section.number("region_log2", 7, _MAX_REGION_LOG2, default=20),
    )


def _families() -> Mapping[str, Any]:
    from racetrap.fpga.flow.families import FAMILIES

    return FAMILIES


def _block_names(params: Params) -> tuple[str, ...]:
    from racetrap.fpga.flow.blocks import blocks_of

    # What the cores collect decides which of two blocks they have.
    kinds: list[Params] = [params]
    if isinstance(params, SigraceParams):
        kinds = [replace(params, form=form) for form in Form]
    names = (block.name for each in kinds for block in blocks_of(each))
    return tuple(dict.fromkeys(names))
