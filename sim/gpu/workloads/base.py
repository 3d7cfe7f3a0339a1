"""Workload: an application with its launches, sizes, race switches and expected result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.device import Device


class ResultError(RuntimeError):
    """A race-free run gave a wrong result."""


@dataclass(frozen=True)
class Switch:
    """A deliberate error in the synchronisation of a workload.

    Parameters
    ----------
    name : str
        Name in lower case, words joined by hyphens.
    description : str
        What it breaks, in one line.
    races : int
        Races that it counts for in the paper's Table VI.
    """

    name: str
    description: str
    races: int = 1


@dataclass(frozen=True)
class WorkloadResult:
    """Result of a run and what it should be, as arrays of one shape."""

    found: np.ndarray
    expected: np.ndarray


@dataclass(frozen=True)
class Workload:
    """One application.

    Parameters
    ----------
    name : str
        Short name, as in the paper's tables.
    title : str
        Full name.
    switches : tuple of Switch
        Race switches; any set of them may be on.
    parameters : mapping of str to Any
        By size: what ``play`` takes as its parameters.
    play : callable
        Called with the device, the parameters, a random generator and a mask with bit n set if
        switch n is on; makes the data, launches the kernels and returns the result.

    Ref: ScoRD (ISCA'20) Section III, Tables II and VI.
    """

    name: str
    title: str
    switches: tuple[Switch, ...]
    parameters: Mapping[str, Any]
    play: Callable[[Device, Any, np.random.Generator, int], WorkloadResult]

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the sizes, ascending."""
        return tuple(self.parameters)

    def run(
        self, device: Device, size: str, seed: int, switches: Collection[str] = frozenset()
    ) -> None:
        """Run the application on a device and, if no switch is on, check its result.

        Parameters
        ----------
        device : Device
            Where to run it; a new one for each run.
        size : str
            One of ``sizes``.
        seed : int
            Seed of the input.
        switches : collection of str
            Names of the switches that are on.

        Raises
        ------
        ValueError
            If there is no such size or switch.
        ResultError
            If the result is wrong though no switch is on.
        ExecutionError
            If the run fails.
        """
        if size not in self.parameters:
            raise ValueError(unknown_name(f"size of {self.name}", size, self.sizes))
        generator = np.random.default_rng(seed)
        outcome = self.play(device, self.parameters[size], generator, self._mask(switches))
        if switches:
            return
        wrong = np.count_nonzero(outcome.found != outcome.expected)
        if wrong:
            raise ResultError(
                f"Result of {self.name} must be NumPy's, not different in {wrong} of "
                f"{outcome.expected.size} elements (size {size}, seed {seed})"
            )

    def _mask(self, switches: Collection[str]) -> int:
        bits = {switch.name: 1 << number for number, switch in enumerate(self.switches)}
        for name in switches:
            if name not in bits:
                raise ValueError(unknown_name(f"switch of {self.name}", name, bits))
        return sum(bits[name] for name in set(switches))


def check_resident(device: Device, blocks: int, threads: int) -> None:
    """Raise ``ValueError`` if a device cannot hold ``blocks`` blocks of ``threads`` at once.

    For kernels whose blocks wait for each other: a block that is placed only when another ends
    would be waited for without end.
    """
    geometry = device.geometry
    warps = -(-threads // WARP_SIZE)
    held = geometry.sm_count * min(geometry.blocks_per_sm, geometry.warps_per_sm // warps)
    if held < blocks:
        raise ValueError(f"GPU must hold {blocks} blocks of {threads} threads at once, not {held}")
