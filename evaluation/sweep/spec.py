"""Specification of a sweep: a TOML file, checked as a whole before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from enum import Enum
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from racetrap.evaluation.sweep.parameters import resolve, swept_of
from racetrap.generators.presets import PRESETS
from racetrap.generators.system import Params
from racetrap.generators.systems import blocks_of, system_of
from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml, rule_error

#: Family that stands for counting state bits: no tool runs.
STATE = "state"

_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")


def _word(word: str) -> str:
    if not _WORD.fullmatch(word):
        raise ValueError("a word of lower-case letters, digits, - and _")
    return word


def _different(values: Any) -> Any:
    if not values or len(set(map(repr, values))) != len(values):
        raise ValueError("a list of at least one value, all different")
    return values


def _scalar(value: Any) -> Any:
    if not isinstance(value, int | str):
        raise ValueError("a whole number, true, false or a word")
    return value


_Words = Annotated[tuple[str, ...], Field(strict=False), AfterValidator(_different)]
_Scalar = Annotated[Any, AfterValidator(_scalar)]


class CostSpec(Table):
    """Measurement of a point's cost.

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
    blocks: _Words = ()
    seeds: Annotated[int, Field(ge=0, le=64)] = 0
    constraint_mhz: Annotated[int, Field(ge=1, le=1000)] = 100
    elaborate: bool = False

    @model_validator(mode="after")
    def _check_family(self) -> CostSpec:
        if self.family == STATE:
            for key in self.model_fields_set & {"blocks", "seeds", "constraint_mhz"}:
                raise rule_error(key, f"absent with family {STATE}", getattr(self, key))
            return self
        families = _families()
        if self.family not in families:
            raise rule_error("family", f"one of {STATE}, {', '.join(families)}", self.family)
        if not self.blocks:
            raise rule_error("blocks", f"given with family {self.family}", list(self.blocks))
        if self.seeds and families[self.family].place_tool is None:
            raise rule_error(
                "seeds", f"0 with family {self.family}, which is not placed", self.seeds
            )
        return self


class QualitySpec(Table):
    """Measurement of a point's detection quality.

    Parameters
    ----------
    workloads : tuple of str
        Workloads of the detector (``Swept.workloads``).
    size : str
        Size of the runs of applications and programs.
    schedules : int
        ScoRD: schedules of each program, the fixed ones of the micro-benchmarks not counted;
        SigRace: runs of each program without one of its synchronisations; absent for the bus
        monitor, whose programs run with each of their omissions.
    seed : int
        Seed of inputs, schedules and of what is taken out; others follow it.
    region_log2 : int
        ScoRD: log2 of the bytes of an application that are monitored at least.
    """

    workloads: _Words
    size: str = "tiny"
    schedules: Annotated[int, Field(ge=1, le=100)] = 1
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] = 1
    region_log2: Annotated[int, Field(ge=7, le=30)] = 20


class Spec(TomlFile):
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
    most_points : int
        Points that the grid may have.
    """

    name: Annotated[str, AfterValidator(_word)]
    preset: Annotated[str, one_of(PRESETS)]
    fixed: dict[str, _Scalar] = Field(default_factory=dict)
    grid: Annotated[
        dict[str, Annotated[list[_Scalar], AfterValidator(_different)]], AfterValidator(_different)
    ]
    cost: CostSpec = CostSpec()
    quality: QualitySpec
    most_points: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000

    @model_validator(mode="after")
    def _check_points(self) -> Spec:
        points = prod(map(len, self.grid.values()))
        if points > self.most_points:
            raise rule_error("grid", f"of at most {self.most_points} points (most_points)", points)
        return self

    @property
    def base(self) -> Params:
        """Parameters of the preset."""
        return PRESETS[self.preset].params

    @field_validator("fixed")
    @classmethod
    def _name_fixed(cls, fixed: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        named = _named(fixed, _params(info), set())
        return {name: fixed[key] for key, names in named.items() for name in names}

    @field_validator("grid")
    @classmethod
    def _name_grid(cls, grid: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        named = _named(grid, _params(info), set(info.data.get("fixed", ())))
        return {"+".join(names): tuple(grid[key]) for key, names in named.items()}

    @field_validator("cost")
    @classmethod
    def _check_cost(cls, cost: CostSpec, info: ValidationInfo) -> CostSpec:
        known = _block_names(_params(info)) if cost.blocks else ()
        for block in cost.blocks:
            if block not in known:
                raise rule_error("blocks", f"a list of {', '.join(known)}", block)
        return cost

    @field_validator("quality")
    @classmethod
    def _check_quality(cls, quality: QualitySpec, info: ValidationInfo) -> QualitySpec:
        system, swept = system_of(_params(info)), swept_of(_params(info))
        for workload in quality.workloads:
            if workload not in swept.workloads:
                raise rule_error("workloads", f"a list of {', '.join(swept.workloads)}", workload)
        if quality.size not in swept.sizes:
            raise rule_error("size", f"one of {', '.join(swept.sizes)}", quality.size)
        for key in quality.model_fields_set & set(swept.absent):
            raise rule_error(key, f"absent for {system.title}", getattr(quality, key))
        return quality


def _params(info: ValidationInfo) -> Params:
    """Parameters of the preset, which is checked before."""
    if "preset" not in info.data:
        raise ValueError("that of a known preset")
    return PRESETS[info.data["preset"]].params


def _named(table: Mapping[str, Any], params: Params, taken: set[str]) -> dict[str, tuple[str, ...]]:
    """The parameters that each key names, none of them twice."""
    found = {}
    for key in table:
        try:
            found[key] = resolve(params, key)
        except ValueError as error:
            raise rule_error(key, str(error), key) from None
        for name in found[key]:
            if name in taken:
                raise rule_error(key, "a parameter that is named once", name)
            taken.add(name)
    return found


def read_spec(path: Path) -> Spec:
    """Read and check a file.

    Parameters
    ----------
    path : Path
        TOML file.

    Raises
    ------
    TomlError
        If it is no TOML or breaks a rule; the sentence names file, key and rule.
    OSError
        If it cannot be read.
    """
    return read_toml(path, Spec)


def _families() -> Mapping[str, Any]:
    from racetrap.fpga.flow.families import FAMILIES

    return FAMILIES


def _block_names(params: Params) -> tuple[str, ...]:
    names = (block.name for each in _variants(params) for block in blocks_of(each))
    return tuple(dict.fromkeys(names))


def _variants(params: Params) -> Iterator[Params]:
    """A configuration, and those with another word where it has a choice of words, which may
    decide which of two blocks there is."""
    yield params
    for name, value in asdict(params).items():
        for word in type(value) if isinstance(value, Enum) else ():
            with suppress(ValueError):  # the word needs other parameters, too
                yield replace(params, **{name: word})
