"""Parser of PTX: text to a module.

Ref: PTX ISA 9.0.
"""

from __future__ import annotations

from typing import Any

from lark import Token

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.function_builder import build_function
from racetrap.sim.gpu.ptx.locations import DebugStrings, Sources
from racetrap.sim.gpu.ptx.module import CallTarget, Function, Module, Symbol, Variable
from racetrap.sim.gpu.ptx.nodes import DeclarationNode, FileNode, FunctionNode, HeaderNode
from racetrap.sim.gpu.ptx.scopes import Scope
from racetrap.sim.gpu.ptx.syntax import parse_syntax
from racetrap.sim.gpu.ptx.variables import declared_variables


def _header(items: list[Any], name: str) -> dict[str, Token]:
    header = {item.directive: item.value for item in items if isinstance(item, HeaderNode)}
    for directive in ("version", "target", "address_size"):
        if directive not in header:
            raise PtxError(name, 1, f"PTX has no .{directive}")
    size = header["address_size"]
    if size != "64":
        raise PtxError(name, size.line or 0, f"Address size must be 64, not {size}")
    return header


def _module_variables(items: list[Any], name: str, scope: Scope) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    for item in items:
        if not isinstance(item, DeclarationNode):
            continue
        for declarator, variable in zip(
            item.declarators, declared_variables(item, name), strict=True
        ):
            token = declarator.name
            if variable.space in ("param", "local"):
                raise scope.fail(
                    token,
                    f"Variable of the module must be .global, .shared or .const, "
                    f"not .{variable.space}",
                )
            earlier = variables.get(variable.name)
            if earlier and not (earlier.extern or variable.extern):
                raise scope.fail(token, f"Variable {token} is defined twice")
            if earlier is None or earlier.extern:
                variables[variable.name] = variable
            scope.define_global(variable.name, Symbol(variable.name))
    return variables


def _functions(
    items: list[Any], name: str, scope: Scope, first: int, strings: DebugStrings
) -> dict[str, Function]:
    nodes = [item for item in items if isinstance(item, FunctionNode)]
    files = {item.number: item.path for item in items if isinstance(item, FileNode)}
    for node in nodes:
        scope.define_global(str(node.name), CallTarget(str(node.name)))
    functions: dict[str, Function] = {}
    for node in nodes:
        earlier = functions.get(node.name)
        if earlier is not None and earlier.defined:
            if node.body is not None:
                raise scope.fail(node.name, f"Function {node.name} is defined twice")
            continue
        function = build_function(node, name, scope, Sources(files, strings), first)
        functions[function.name] = function
        first += len(function.instructions)
    return functions


def parse_ptx(text: str, name: str, first: int = 0) -> Module:
    """Read a PTX text.

    Parameters
    ----------
    text : str
        The PTX, as nvcc, NVRTC or a person wrote it.
    name : str
        Name of its file, for messages.
    first : int
        Number of the first instruction; modules of one device have different ones.

    Returns
    -------
    Module
        Its variables and functions, names resolved.  Instructions are numbered over all
        functions in the order of the text.  Of debug sections only strings are read.

    Raises
    ------
    PtxError
        If the text breaks a rule; names file, line and rule.
    """
    try:
        return _module(parse_syntax(text, name), name, first, text)
    except RecursionError:
        raise PtxError(name, 1, "Braces are nested too deeply") from None


def _module(items: list[Any], name: str, first: int, text: str) -> Module:
    header = _header(items, name)
    scope = Scope(name)
    variables = _module_variables(items, name, scope)
    functions = _functions(items, name, scope, first, DebugStrings(text))
    return Module(
        name=name,
        version=str(header["version"]),
        target=str(header["target"]),
        variables=variables,
        functions=functions,
        text=text,
    )
