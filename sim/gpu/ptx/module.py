"""PTX modules as data: result of the parser, input of the executor.

Names are resolved as far as PTX alone allows: registers and variables of nested scopes have
names of their own, labels are indices of instructions, ``.loc`` lines belong to instructions.

Ref: PTX ISA 9.0, Sections 4 (syntax), 5 (state spaces and types) and 6 (operands).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Bytes of each fundamental type; a predicate has no place in memory.
TYPE_BYTES = {f"{kind}{bits}": bits // 8 for kind in "bsu" for bits in (8, 16, 32, 64)} | {
    "f16": 2,
    "f16x2": 4,
    "bf16": 2,
    "bf16x2": 4,
    "f32": 4,
    "f64": 8,
    "b128": 16,
}


@dataclass(frozen=True, slots=True)
class Register:
    """A register of each thread; ``type`` is that of its declaration, such as ``b32``.

    A name that several scopes of a function declare ends in ``#n`` from the second on.  The
    name ``_`` (type ``b64``) is the destination of a result that is discarded.
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: an integer as written, or a float (``0f3F800000`` is 1.0)."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable of the function or else of the module, or a function; where no address is
    expected it stands for its address."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """A special register with its component, such as ``%tid.x`` or ``%laneid``."""

    name: str


@dataclass(frozen=True, slots=True)
class Negated:
    """A predicate read as its opposite: ``!%p``."""

    register: Register


@dataclass(frozen=True, slots=True)
class Address:
    """Memory operand ``[base+offset]``; without base ``offset`` is the whole address.

    As operand of ``mov`` it is the value ``symbol+offset``.
    """

    base: Register | Symbol | None
    offset: int


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a branch: an index in the function, or its length for the end."""

    name: str
    index: int


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The function that a direct call calls."""

    name: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Several operands in one.

    ``{%r1,%r2}``, the two destinations of ``%p1|%p2``, the targets of ``brx.idx``, or the
    arguments or return values of a call.
    """

    elements: tuple[Operand, ...]


Operand = Register | Negated | Immediate | Symbol | Special | Address | Target | CallTarget | Vector


def registers_of(operand: Operand) -> Iterator[str]:
    """Names of the registers in an operand."""
    match operand:
        case Register(name=name) | Negated(register=Register(name=name)):
            yield name
        case Address(base=Register(name=name)):
            yield name
        case Vector(elements=elements):
            for element in elements:
                yield from registers_of(element)


@dataclass(frozen=True, slots=True)
class InlinedCall:
    """A call whose function was inlined: its name as in the PTX, and the place of the call."""

    function: str
    place: str


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the source of the PTX; lines and columns count from 1.

    ``calls`` has the calls, the innermost first, by which the code of the place was inlined.
    """

    file: str
    line: int
    column: int
    calls: tuple[InlinedCall, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def own(self) -> str:
        """The innermost place in the file of the function that the code stands in: a change in a
        header would change other functions, too."""
        places = [str(self), *(call.place for call in self.calls)]
        files = [place.rpartition(":")[0] for place in places]
        return places[files.index(files[-1])]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Parameters
    ----------
    index : int
        Number of the instruction in the module, over all its functions.
    opcode : str
        First part of its name, such as ``ld``.
    modifiers : tuple of str
        The other parts, such as ``("volatile", "global", "u32")``.
    operands : tuple of Operand
        As written, destination first.  ``call`` always has three: returned values (Vector),
        function (CallTarget, or Register for an indirect call), arguments (Vector).
    guard : Register, optional
        Predicate of ``@%p``.
    guard_negated : bool
        Whether the guard is ``@!%p``.
    line : int
        Line of the PTX text, from 1.
    location : Location, optional
        Line of the source, when the PTX names it.
    """

    index: int
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    guard_negated: bool
    line: int
    location: Location | None

    @property
    def name(self) -> str:
        """Full name, such as ``ld.volatile.global.u32``."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory, or a parameter.

    Parameters
    ----------
    name : str
        Name; unique in its table.
    space : str
        ``global``, ``shared``, ``local``, ``param`` or ``const``.
    type : str
        Type of an element, such as ``u64``.
    size : int
        Bytes in all; 0 for an array without a size (dynamic shared memory).
    align : int
        Alignment in bytes.
    initial : bytes, optional
        Contents at the start, ``size`` bytes; ``None`` stands for zeros.
    addresses : tuple of (int, str, int)
        Places of ``initial`` to be filled with addresses: byte offset, variable or function
        named, bytes to add.  Eight bytes each.
    extern : bool
        Whether it is declared ``.extern``.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    initial: bytes | None = None
    addresses: tuple[tuple[int, str, int], ...] = ()
    extern: bool = False


class ClusterLimits(NamedTuple):
    """What a kernel says of the clusters in which it is launched.

    Parameters
    ----------
    shape : (int, int, int), optional
        Blocks of a cluster in each dimension (``.reqnctapercluster``).
    most : int, optional
        Blocks of a cluster at most (``.maxclusterrank``).
    is_explicit : bool
        Whether the launch must have clusters (``.explicitcluster``).
    counts_grid : bool
        Whether a grid is of clusters, not of blocks (``.blocksareclusters``).
    """

    shape: tuple[int, int, int] | None = None
    most: int | None = None
    is_explicit: bool = False
    counts_grid: bool = False


#: Limits of a kernel that says nothing.
NO_CLUSTERS = ClusterLimits()


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel (``.entry``) or a device function (``.func``).

    Parameters
    ----------
    name : str
        Name as in the PTX.
    is_kernel : bool
        Whether it can be launched.
    parameters, returns : tuple of Variable
        Formal parameters in order, see `parameter_layout`; all of space ``param``.
    registers : dict of str to Register
        Every register that is declared, nested scopes included.
    variables : tuple of Variable
        Shared, local and call-parameter variables declared inside.
    instructions : tuple of Instruction
        The body; empty for a function that is only declared.
    defined : bool
        Whether the PTX has a body for it.
    max_threads : int, optional
        Threads of a block at most (``.maxntid`` or ``.reqntid``).
    cluster : ClusterLimits
        What it says of its clusters.
    """

    name: str
    is_kernel: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    registers: dict[str, Register]
    variables: tuple[Variable, ...]
    instructions: tuple[Instruction, ...]
    defined: bool = True
    max_threads: int | None = None
    cluster: ClusterLimits = NO_CLUSTERS


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A PTX file; no two are equal.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    version, target : str
        As in ``.version 9.0`` and ``.target sm_90``.
    variables : dict of str to Variable
        Variables of the module.
    functions : dict of str to Function
        Kernels and device functions.
    text : str
        The PTX; empty for a module that was linked.
    parts : tuple of Module
        Modules that it was linked from.
    """

    name: str
    version: str
    target: str
    variables: dict[str, Variable]
    functions: dict[str, Function]
    text: str = ""
    parts: tuple[Module, ...] = ()


def parameter_layout(parameters: Sequence[Variable]) -> tuple[tuple[int, ...], int]:
    """Byte offset of each parameter in parameter memory, and the bytes of all together."""
    offsets, end = [], 0
    for parameter in parameters:
        begin = -(-end // parameter.align) * parameter.align
        offsets.append(begin)
        end = begin + parameter.size
    return tuple(offsets), end
