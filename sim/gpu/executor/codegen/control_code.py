"""Code of branches, calls and ends.

Ref: PTX ISA 9.0, Section 9.7.12.
"""

from __future__ import annotations

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.device_functions import DEVICE_FUNCTIONS
from racetrap.sim.gpu.executor.machine.program import CallSite, function_address
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import (
    CallTarget,
    Instruction,
    Operand,
    Symbol,
    Variable,
    Vector,
)


def _jump(flow: Flow, instruction: Instruction, target: int) -> Lines:
    """Code of a branch that all active lanes take."""
    lines = [f"w.pc = {target}"]
    if target <= instruction.index and target != flow.end:
        lines.append("return w.branch_back()")
    return lines


def _branch_if(e: Emitter, flow: Flow, instruction: Instruction, target: int) -> Lines:
    """Code of a branch to ``target`` that the lanes take for which the guard holds."""
    following, point = flow.following(instruction), flow.reconvergence(instruction)
    lines, mask = e.mask_guard(instruction)
    lines += [
        f"if not {mask}: w.pc = {following}; return",
        f"if {mask} == w.mask: w.pc = {target}",
        f"else: w.diverge({mask}, {target}, {following}, {point}, {event_pc(instruction.index)})",
    ]
    if target <= instruction.index:
        lines.append("return w.branch_back()")
    return lines


def _branch(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    target = flow.target(instruction.operands[0])
    if instruction.guard is None:
        return _jump(flow, instruction, target)
    return _branch_if(e, flow, instruction, target)


def _branch_indexed(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    index, table = instruction.operands
    assert isinstance(table, Vector)
    if instruction.guard is not None:
        raise UnknownInstruction(f"Branch {instruction.name} cannot have a guard")
    targets = tuple(flow.target(target) for target in table.elements)
    name = e.bind(targets, ("targets", instruction.index))
    row = e.source(index, np.dtype("u4"))
    point = flow.reconvergence(instruction)
    lines = [f"branch_indexed(w, {row}, {name}, {point}, {event_pc(instruction.index)})"]
    if any(target <= instruction.index for target in targets):
        lines.append("return w.branch_back()")
    return lines


def _exit(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    lines, mask = e.mask_guard(instruction)
    pc = event_pc(instruction.index)
    if instruction.guard is None:
        return [f"return w.exit(w.mask, {pc})"]
    return [*lines, f"w.pc = {flow.following(instruction)}", f"if g: return w.exit({mask}, {pc})"]


def _return(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    if flow.function.is_kernel:
        return _exit(e, flow, instruction)
    if instruction.guard is None:
        return [f"w.pc = {flow.end}"]
    return _branch_if(e, flow, instruction, flow.end)


def _trap(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    place = e.bind(flow.place(instruction), ("place", instruction.index))
    sentence = f"Kernel reached {instruction.name}"
    return [
        f"w.pc = {flow.following(instruction)}",
        *e.when_any(instruction, f"raise w.trapped({place}, {sentence!r}, {{mask}})"),
    ]


def _names(operand: Operand) -> list[str]:
    assert isinstance(operand, Vector)
    names = [element.name for element in operand.elements if isinstance(element, Symbol)]
    if len(names) != len(operand.elements):
        raise UnknownInstruction("Argument of a call is a value, not a parameter variable")
    return names


def _pairs(
    what: str, names: list[str], formals: tuple[Variable, ...]
) -> tuple[tuple[str, str], ...]:
    if len(names) != len(formals):
        raise UnknownInstruction(f"{what} of a call must be {len(formals)}, not {len(names)}")
    return tuple(zip(names, (formal.name for formal in formals), strict=True))


def _site(flow: Flow, instruction: Instruction, name: str) -> CallSite:
    """Call of a function by an instruction."""
    results, _, arguments = instruction.operands
    function = flow.module.functions[name]
    return CallSite(
        flow.functions[name],
        _pairs("Arguments", _names(arguments), function.parameters),
        tuple((b, a) for a, b in _pairs("Results", _names(results), function.returns)),
        flow.following(instruction),
        flow.place(instruction),
    )


def _call_indirect(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Code of a call of a function that each lane has the address of."""
    results, callee, arguments = instruction.operands
    counts = len(_names(results)), len(_names(arguments))
    sites = {
        function_address(flow.module, name): _site(flow, instruction, name)
        for name in flow.functions
        for function in [flow.module.functions[name]]
        if function.defined and not function.is_kernel
        and (len(function.returns), len(function.parameters)) == counts
    }  # fmt: skip
    name = e.bind(sites, ("sites", instruction.index))
    row = e.source(callee, np.dtype("u8"))
    own, following = instruction.index, flow.following(instruction)
    place = e.bind(flow.place(instruction), ("place", own))
    return [
        f"w.pc = {own}",
        f"call_indirect(w, {row}, {name}, {own}, {following}, {event_pc(own)}, {place})",
    ]


def _call(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    results, callee, arguments = instruction.operands
    if instruction.guard is not None:
        raise UnknownInstruction(f"Call {instruction.name} cannot have a guard")
    if not isinstance(callee, CallTarget):
        return _call_indirect(e, flow, instruction)
    function = flow.module.functions[callee.name]
    if not function.defined and function.name in DEVICE_FUNCTIONS:
        names = tuple(_names(arguments)), tuple(_names(results))
        pc = event_pc(instruction.index)
        return [
            f"w.pc = {flow.following(instruction)}",
            f"call_device_function(w, {function.name!r}, {pc}, *{names!r})",
        ]
    if function.name.startswith(_LAUNCHES_FROM_KERNELS):
        raise UnknownInstruction(
            f"Instruction {instruction.name} {function.name} (dynamic parallelism) is not supported"
        )
    if not function.defined:
        raise UnknownInstruction(
            f"Called function {function.name} is only declared: define it in the same module, "
            "or link the file that does, with -rdc=true"
        )
    site = _site(flow, instruction, callee.name)
    return [f"w.call({e.bind(site, ('call', instruction.index))})"]


#: Functions of CUDA's device runtime by which a kernel launches another.
_LAUNCHES_FROM_KERNELS = (
    "__cudaCDP2GetParameterBuffer", "__cudaCDP2LaunchDevice", "cudaGetParameterBuffer",
    "cudaLaunchDevice",
)  # fmt: skip

CONTROL_HANDLERS: dict[str, Handler] = {
    "bra": _branch,
    "brx": _branch_indexed,
    "exit": _exit,
    "ret": _return,
    "trap": _trap,
    "brkpt": _trap,
    "call": _call,
}
