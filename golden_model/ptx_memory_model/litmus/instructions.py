"""Instructions of a litmus test; ``str`` of one is its PTX.

Ref: PTX ISA 9.0, Sections 9.7.9 (Data Movement) and 9.7.13 (Parallel Synchronization).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.events import Order
from racetrap.golden_model.ptx_memory_model.scopes import Scope

#: A register, by its name with ``%``, or a constant.
Operand = str | int


class DataType(NamedTuple):
    """Scalar type of an instruction, as PTX names it: ``u32``, ``b64`` and so on."""

    name: str

    @property
    def bits(self) -> int:
        """Width."""
        return int(self.name[1:])

    @property
    def size(self) -> int:
        """Width in bytes."""
        return self.bits // 8

    @property
    def is_signed(self) -> bool:
        """Whether comparisons are signed."""
        return self.name[0] == "s"


class Address(NamedTuple):
    """Place in memory: a variable, and an offset in bytes from its beginning."""

    variable: str
    offset: int = 0

    def __str__(self) -> str:
        return f"[{self.variable}+{self.offset}]" if self.offset else f"[{self.variable}]"


class Predicate(NamedTuple):
    """Predicate register, or its negation."""

    register: str
    negated: bool = False


class Guard(Predicate):
    """Predicate under which an instruction is executed."""

    def __str__(self) -> str:
        return f"@{'!' * self.negated}{self.register} "


class Access(NamedTuple):
    """Qualifiers of a memory access.

    Parameters
    ----------
    order : Order
        Ordering semantics.
    scope : Scope, optional
        Scope of a strong access.
    volatile : bool
        Whether it is ``.volatile``.
    space : str
        State space as written: empty (generic), ``global``, ``shared``, ``shared::cluster``.
    """

    order: Order = Order.WEAK
    scope: Scope | None = None
    volatile: bool = False
    space: str = ""

    def __str__(self) -> str:
        space = f".{self.space}" if self.space else ""
        if self.volatile:
            return f".volatile{space}"
        scope = "" if self.scope is None else f".{self.scope.name.lower()}"
        return f".{self.order.value}{scope}{space}"


@dataclass(frozen=True)
class Load:
    """``ld``: into one register, or one for each element of a vector."""

    access: Access
    type: DataType
    destinations: tuple[str, ...]
    address: Address

    def __str__(self) -> str:
        vector, registers = _vector(self.destinations)
        return f"ld{self.access}{vector}.{self.type.name} {registers}, {self.address}"


@dataclass(frozen=True)
class Store:
    """``st``: of one operand, or one for each element of a vector."""

    access: Access
    type: DataType
    sources: tuple[Operand, ...]
    address: Address

    def __str__(self) -> str:
        vector, operands = _vector(self.sources)
        return f"st{self.access}{vector}.{self.type.name} {self.address}, {operands}"


@dataclass(frozen=True)
class Atomic:
    """``atom`` or, if ``is_reduction``, ``red``, which has no destination."""

    access: Access
    operation: str
    type: DataType
    destination: str
    address: Address
    operands: tuple[Operand, ...]
    is_reduction: bool = False

    def __str__(self) -> str:
        opcode = f"{self.access}.{self.operation}.{self.type.name}"
        operands = ", ".join(map(str, self.operands))
        if self.is_reduction:
            return f"red{opcode} {self.address}, {operands}"
        return f"atom{opcode} {self.destination}, {self.address}, {operands}"


@dataclass(frozen=True)
class Fence:
    """``fence``, and ``membar``, which is ``fence.sc``."""

    order: Order
    scope: Scope

    def __str__(self) -> str:
        return f"fence.{self.order.value}.{self.scope.name.lower()}"


@dataclass(frozen=True)
class CtaBarrier:
    """``bar`` or ``barrier`` of a CTA.

    Parameters
    ----------
    action : str
        ``sync``, ``arrive``, ``red.popc``, ``red.and`` or ``red.or``.
    barrier : Operand
        Number of the barrier.
    count : Operand, optional
        Number of threads that take part, in whole warps; by default all of the CTA.
    destination : str
        Register of the result of a reduction.
    predicate : Predicate, optional
        Operand of the reduction.
    """

    action: str
    barrier: Operand
    count: Operand | None = None
    destination: str = ""
    predicate: Predicate | None = None

    def __str__(self) -> str:
        operands = [str(self.barrier)] + ([] if self.count is None else [str(self.count)])
        type_name = ""
        if self.predicate is not None:
            type_name = ".u32" if self.action == "red.popc" else ".pred"
            operands.insert(0, self.destination)
            operands.append(f"{'!' * self.predicate.negated}{self.predicate.register}")
        return f"barrier.cta.{self.action}{type_name} {', '.join(operands)}"


@dataclass(frozen=True)
class WarpBarrier:
    """``bar.warp.sync`` of the lanes in ``mask``."""

    mask: int

    def __str__(self) -> str:
        return f"bar.warp.sync {self.mask:#x}"


@dataclass(frozen=True)
class ClusterBarrier:
    """``barrier.cluster.arrive`` or ``.wait``; only a release and an acquire one synchronise."""

    action: str
    order: Order

    def __str__(self) -> str:
        return f"barrier.cluster.{self.action}.{self.order.value}"


@dataclass(frozen=True)
class AsyncCopy:
    """``cp.async`` of 4, 8 or 16 bytes from global to shared memory."""

    destination: Address
    source: Address
    size: int

    def __str__(self) -> str:
        return f"cp.async.ca.shared.global {self.destination}, {self.source}, {self.size}"


@dataclass(frozen=True)
class CommitGroup:
    """``cp.async.commit_group``."""

    def __str__(self) -> str:
        return "cp.async.commit_group"


@dataclass(frozen=True)
class WaitGroup:
    """``cp.async.wait_group`` down to ``pending`` groups; without it ``cp.async.wait_all``."""

    pending: int | None = None

    def __str__(self) -> str:
        if self.pending is None:
            return "cp.async.wait_all"
        return f"cp.async.wait_group {self.pending}"


@dataclass(frozen=True)
class MbarrierArrive:
    """``mbarrier.arrive``, once: ``state`` receives the state before it."""

    order: Order
    scope: Scope
    state: str
    address: Address

    def __str__(self) -> str:
        opcode = f"mbarrier.arrive.{self.order.value}.{self.scope.name.lower()}.b64"
        return f"{opcode} {self.state}, {self.address}"


@dataclass(frozen=True)
class MbarrierWait:
    """``mbarrier.test_wait`` or ``try_wait``, once: whether the phase has completed.

    Parameters
    ----------
    action : str
        ``test_wait`` or ``try_wait``.
    order, scope : Order, Scope
        ACQUIRE or RELAXED, and its scope; it acquires only if the phase has completed.
    destination : str
        Predicate that receives the answer.
    address : Address
        The mbarrier object.
    phase : Operand
        State from before the phase completed, or its parity.
    by_parity : bool
        Whether ``phase`` is a parity.
    """

    action: str
    order: Order
    scope: Scope
    destination: str
    address: Address
    phase: Operand
    by_parity: bool

    def __str__(self) -> str:
        parity = ".parity" * self.by_parity
        opcode = f"mbarrier.{self.action}{parity}.{self.order.value}.{self.scope.name.lower()}"
        return f"{opcode}.b64 {self.destination}, {self.address}, {self.phase}"


@dataclass(frozen=True)
class CopyArrive:
    """``cp.async.mbarrier.arrive.noinc``: arrives when all earlier copies have completed."""

    address: Address

    def __str__(self) -> str:
        return f"cp.async.mbarrier.arrive.noinc.shared.b64 {self.address}"


@dataclass(frozen=True)
class Arithmetic:
    """Instruction on registers alone, such as ``add`` or ``mov``."""

    name: str
    type: DataType
    destination: str
    sources: tuple[Operand, ...]

    def __str__(self) -> str:
        sources = ", ".join(map(str, self.sources))
        return f"{self.name}.{self.type.name} {self.destination}, {sources}"


@dataclass(frozen=True)
class Comparison:
    """``setp`` of two operands."""

    name: str
    type: DataType
    destination: str
    sources: tuple[Operand, Operand]

    def __str__(self) -> str:
        first, second = self.sources
        return f"setp.{self.name}.{self.type.name} {self.destination}, {first}, {second}"


#: Operation of an instruction.
Operation = (
    Load | Store | Atomic | Fence | CtaBarrier | WarpBarrier | ClusterBarrier | AsyncCopy
    | CommitGroup | WaitGroup | MbarrierArrive | MbarrierWait | CopyArrive | Arithmetic | Comparison
)  # fmt: skip


class Instruction(NamedTuple):
    """One cell of a litmus test.

    Parameters
    ----------
    operation : Operation
        Operation.
    guard : Guard, optional
        Predicate under which it is executed.
    line : int
        Line of the file, for messages.
    """

    operation: Operation
    guard: Guard | None = None
    line: int = 0

    def __str__(self) -> str:
        return f"{self.guard or ''}{self.operation}"


def _vector(operands: tuple[Operand, ...]) -> tuple[str, str]:
    """Suffix and operand of a vector, or of a scalar."""
    if len(operands) == 1:
        return "", str(operands[0])
    return f".v{len(operands)}", f"{{{', '.join(map(str, operands))}}}"
