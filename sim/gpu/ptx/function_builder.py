"""Functions from their syntax: statements flattened first, then every operand resolved.

Two steps, since branches may name later labels.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from lark import Token

from racetrap.sim.gpu.ptx.locations import LocationTracker, Sources
from racetrap.sim.gpu.ptx.module import (
    ClusterLimits,
    Function,
    Instruction,
    Location,
    Register,
    Symbol,
    Variable,
)
from racetrap.sim.gpu.ptx.nodes import (
    BodyNode,
    BranchTargetsNode,
    DeclarationNode,
    FunctionNode,
    InstructionNode,
    LabelNode,
    LocationNode,
    NegatedNode,
    RegistersNode,
)
from racetrap.sim.gpu.ptx.operands import resolve_operands
from racetrap.sim.gpu.ptx.scopes import Scope
from racetrap.sim.gpu.ptx.variables import declared_variables

#: Registers of a function: several times what the largest kernels of compilers have.
_MOST_REGISTERS = 1 << 17


class _Pending(NamedTuple):
    """An instruction whose operands are not resolved yet."""

    node: InstructionNode
    scope: Scope
    location: Location | None


class _Flattener:
    """First step: names of all scopes, and the instructions in one row."""

    def __init__(self, module: str, sources: Sources, outer: Scope):
        self._module = module
        self._locations = LocationTracker(sources)
        #: Names that an inner variable cannot have: the module's and the parameters'.
        self._taken = outer.names()
        self.scope = Scope(module, outer)
        self.registers: dict[str, Register] = {}
        self.variables: dict[str, Variable] = {}
        self.pending: list[_Pending] = []

    def declare_formals(self, nodes: tuple[DeclarationNode, ...]) -> tuple[Variable, ...]:
        """Declare parameters or returned values."""
        for node in nodes:
            for declarator in node.declarators:
                name = str(declarator.name)
                self.scope.define(name, declarator.name, Symbol(name))
                self._taken.add(name)
        return tuple(v for node in nodes for v in declared_variables(node, self._module))

    def walk(self, statements: tuple[Any, ...], scope: Scope) -> None:
        """Go through the statements between two braces."""
        label: Token | None = None
        for statement in statements:
            match statement:
                case InstructionNode():
                    self.pending.append(_Pending(statement, scope, self._locations.current))
                case LocationNode():
                    self._locations.enter(statement)
                case LabelNode():
                    label = statement.name
                    scope.define_label(label, len(self.pending))
                case RegistersNode():
                    self._declare_registers(statement, scope)
                case DeclarationNode():
                    self._declare_variables(statement, scope)
                case BodyNode():
                    self.walk(statement.statements, Scope(self._module, scope))
                case BranchTargetsNode():
                    if label is None:
                        raise scope.fail(
                            statement.names[0],
                            "Branch table has no label before it",
                        )
                    scope.define_table(label, statement.names)

    def _declare_registers(self, node: RegistersNode, scope: Scope) -> None:
        for token, count in node.ranges:
            if (count or 1) > _MOST_REGISTERS - len(self.registers):
                raise scope.fail(
                    token,
                    f"Function has more than {_MOST_REGISTERS} registers with {token}<{count}>",
                )
            names = [str(token)] if count is None else [f"{token}{n}" for n in range(count)]
            for name in names:
                register = Register(self._unique(name, self.registers), node.type)
                self.registers[register.name] = register
                scope.define(name, token, register)

    def _declare_variables(self, node: DeclarationNode, scope: Scope) -> None:
        variables = declared_variables(node, self._module)
        for declarator, variable in zip(node.declarators, variables, strict=True):
            name = self._unique(variable.name, self._taken)
            self._taken.add(name)
            self.variables[name] = replace(variable, name=name)
            scope.define(variable.name, declarator.name, Symbol(name))

    @staticmethod
    def _unique(name: str, taken: Container[str]) -> str:
        number, result = 1, name
        while result in taken:
            number += 1
            result = f"{name}#{number}"
        return result


def _instruction(pending: _Pending, index: int) -> Instruction:
    node, scope, location = pending
    opcode, *modifiers = node.opcode.split(".")
    negated = isinstance(node.guard, NegatedNode)
    name = node.guard.name if isinstance(node.guard, NegatedNode) else node.guard
    return Instruction(
        index=index,
        opcode=opcode,
        modifiers=tuple(modifiers),
        operands=resolve_operands(node, scope),
        guard=None if name is None else scope.predicate(name),
        guard_negated=negated,
        line=node.opcode.line or 0,
        location=location,
    )


def build_function(
    node: FunctionNode, module: str, outer: Scope, sources: Sources, first: int
) -> Function:
    """Function of a syntax node.

    Parameters
    ----------
    node : FunctionNode
        Its syntax.
    module : str
        Name of the PTX file, for messages.
    outer : Scope
        Names of the module.
    sources : Sources
        Names of source files and of inlined functions.
    first : int
        Number in the module of the function's first instruction.

    Raises
    ------
    PtxError
        If a name is not declared, or an operand cannot be what it is.
    """
    flattener = _Flattener(module, sources, outer)
    returns = flattener.declare_formals(node.returns)
    parameters = flattener.declare_formals(node.parameters)
    if node.body is not None:
        flattener.walk(node.body.statements, flattener.scope)
    limits = [prod(values) for name, values in node.limits if name in ("maxntid", "reqntid")]
    return Function(
        name=str(node.name),
        is_kernel=node.is_kernel,
        parameters=parameters,
        returns=returns,
        registers=flattener.registers,
        variables=tuple(flattener.variables.values()),
        instructions=tuple(
            _instruction(pending, first + n) for n, pending in enumerate(flattener.pending)
        ),
        defined=node.body is not None,
        max_threads=min(limits, default=None),
        cluster=_cluster_limits(dict(node.limits)),
    )


def _cluster_limits(limits: Mapping[str, tuple[int, ...]]) -> ClusterLimits:
    shape = limits.get("reqnctapercluster")
    width, height, depth = (*(shape or ()), 1, 1, 1)[:3]
    most = limits.get("maxclusterrank")
    return ClusterLimits(
        (width, height, depth) if shape else None, most[0] if most else None,
        "explicitcluster" in limits, "blocksareclusters" in limits,
    )  # fmt: skip
