"""Compiler of a kernel, with the functions that it calls, to Python functions.

Each basic block becomes a function of the warp, once for warps whose living lanes are all active
and once for others.

Ref: PTX ISA 9.0; ScoRD (ISCA'20) Section II (SIMT execution).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from racetrap.golden_model.checks import unknown_name
from racetrap.sim.gpu.executor.codegen.basic_blocks import BlockCode, basic_blocks
from racetrap.sim.gpu.executor.codegen.emitter import Emitter
from racetrap.sim.gpu.executor.codegen.flow import Flow, place_of
from racetrap.sim.gpu.executor.codegen.layout import ProgramLayout, reachable
from racetrap.sim.gpu.executor.codegen.row_table import RowTable
from racetrap.sim.gpu.executor.machine import collectives
from racetrap.sim.gpu.executor.machine.device_functions import call_device_function
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.lanes import mask_of
from racetrap.sim.gpu.executor.machine.program import BasicBlock, CompiledFunction, KernelProgram
from racetrap.sim.gpu.ptx.module import Function, Module

_CACHED_KERNELS = 256

#: Names in the code that mean a function.
_FUNCTIONS = {
    **{
        name: each
        for name, each in vars(collectives).items()
        if getattr(each, "__module__", "") == collectives.__name__
    },
    "call_device_function": call_device_function,
    "copyto": np.copyto,
    "mask_of": mask_of,
}


def _build(
    blocks: dict[int, BlockCode], namespace: dict[str, Any], size: int, name: str
) -> list[BasicBlock | None]:
    """Compile the code of the basic blocks."""
    text = [
        f"def b{number}(w):\n    " + "\n    ".join(lines) for number, (lines, _) in blocks.items()
    ]
    local = dict(namespace)
    exec(compile("\n".join(text), name, "exec"), local)
    table: list[BasicBlock | None] = [None] * size
    for number, (_, count) in blocks.items():
        table[number] = local[f"b{number}"], count
    return table


def _compile(module: Module, kernel: str, weak: bool, clustered: bool) -> KernelProgram:
    functions = reachable(module, kernel)
    first_end = 1 + max(
        (i.index for f in module.functions.values() for i in f.instructions), default=-1
    )
    size = first_end + len(functions)
    layout = ProgramLayout(module, functions)
    layout.namespace.update(_FUNCTIONS)
    tables = {function.name: RowTable(function) for function in functions}
    compiled = {
        function.name: CompiledFunction(
            function.name,
            function.instructions[0].index if function.instructions else end,
            end,
            layout.local_sizes[function.name],
            tables[function.name].frame,
        )
        for end, function in enumerate(functions, first_end)
    }
    variants: list[dict[int, BlockCode]] = [{}, {}]
    for function in functions:
        flow = Flow(module, function, compiled)
        for masked, blocks in enumerate(variants):
            emitter = Emitter(
                function, tables[function.name], layout, bool(masked), weak, clustered
            )
            blocks.update(basic_blocks(emitter, flow))
    full, masked_blocks = (
        _build(blocks, layout.namespace, size, f"<{module.name} {kernel}>") for blocks in variants
    )
    return KernelProgram(
        compiled[kernel], full, masked_blocks, layout.symbols, layout.specials,
        layout.access_count, layout.static_shared, layout.shared_objects, functions[0].parameters,
        _places(module, functions, compiled), functions[0].max_threads, module,
        tuple(compiled),
    )  # fmt: skip


def _places(
    module: Module, functions: list[Function], compiled: dict[str, CompiledFunction]
) -> dict[int, str]:
    places = {i.index: place_of(module, i) for f in functions for i in f.instructions}
    return places | {function.end: f"end of {function.name}" for function in compiled.values()}


@lru_cache(_CACHED_KERNELS)
def compile_kernel(
    module: Module, kernel: str, weak: bool = False, clustered: bool = False
) -> KernelProgram:
    """Compile a kernel, or return what an earlier call has compiled.

    Parameters
    ----------
    module, kernel : Module, str
        Where the kernel is, and its name.
    weak : bool
        Whether its accesses go to a weak memory.
    clustered : bool
        Whether it is launched in clusters of several blocks.

    Raises
    ------
    ExecutionError
        If there is no such kernel.
    PtxError
        If it, or a function that it calls, has an instruction that the executor does not support.
    """
    kernel_named(module, kernel)
    return _compile(module, kernel, weak, clustered)


def kernel_named(module: Module, name: str) -> Function:
    """The kernel of a name.

    Raises
    ------
    ExecutionError
        If there is none.
    """
    function = module.functions.get(name)
    if function is None or not function.is_kernel or not function.defined:
        names = [each.name for each in module.functions.values() if each.is_kernel]
        raise ExecutionError(unknown_name(f"kernel of {module.name}", name, names))
    return function
