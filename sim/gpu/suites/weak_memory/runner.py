"""Runs of the programs on the sequentially consistent executor, and the oracle's verdict on them.

Ref: PTX ISA 9.0, Section 8.9.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from racetrap.sim.gpu.launch.capture import Capture, capture
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import Program, Variant

_PACKAGE = "racetrap.sim.gpu.suites.weak_memory"


def kernels_of(program: Program) -> Module:
    """Kernels of all variants of a program."""
    return load_kernels(_PACKAGE, program.name)


def with_kernels(module: Module, kernels: Collection[str]) -> Module:
    """A module reduced to some kernels, with all device functions."""
    return replace(module, functions={
        name: function for name, function in module.functions.items()
        if not function.is_kernel or name in kernels
    })  # fmt: skip


def variant_module(program: Program, variant: Variant) -> Module:
    """Kernels of one variant: the others, of the same lines, are other programs."""
    launches = launch_of(program, variant).launches
    return with_kernels(kernels_of(program), [table.kernel for _, table in launches])


def run_variant(
    program: Program, variant: Variant, schedule: int = 0,
    blocks: int | None = None, threads: int | None = None,
) -> Capture:  # fmt: skip
    """Run a variant; schedule 0 is round robin, others are random.

    Parameters
    ----------
    program, variant : Program, Variant
        What to run.
    schedule : int
        Number of the schedule.
    blocks, threads : int, optional
        Shape, if not the default one.
    """
    launch = launch_of(program, variant, blocks, threads)
    return capture(kernels_of(program), launch, schedule)
