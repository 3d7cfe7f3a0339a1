"""Random issue streams: blocks that start and end, barriers of all kinds, accesses of any shape."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from racetrap.golden_model.events import AtomicOp, MemoryOrder, lanes_of
from racetrap.golden_model.gpu.barrier_counter import BarrierCounter
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.gpu.params import GpuParams

KIND, ORDER = IssueKind, MemoryOrder
#: How often each kind is drawn.
_KINDS = {
    KIND.LOAD: 12, KIND.STORE: 12, KIND.ATOMIC: 14, KIND.FENCE: 3, KIND.BARRIER: 6, KIND.ARRIVE: 2,
    KIND.BLOCK_START: 1, KIND.BLOCK_END: 1, KIND.IF: 1, KIND.ELSE: 1, KIND.FI: 1,
    KIND.WARP_BARRIER: 1, KIND.EXIT: 2,
}  # fmt: skip
_ACCESSES = (KIND.LOAD, KIND.STORE, KIND.ATOMIC)
_ORDERS = {
    KIND.LOAD: (ORDER.IMPLIED, ORDER.IMPLIED, ORDER.RELAXED, ORDER.ACQUIRE),
    KIND.STORE: (ORDER.IMPLIED, ORDER.IMPLIED, ORDER.RELAXED, ORDER.RELEASE),
    KIND.ATOMIC: (ORDER.IMPLIED, ORDER.ACQUIRE, ORDER.RELEASE, ORDER.ACQ_REL),
    KIND.FENCE: (ORDER.IMPLIED, ORDER.ACQUIRE, ORDER.RELEASE, ORDER.ACQ_REL),
}


class RandomIssue:
    """An endless stream of instructions of one SM, with the outcomes of its CAS.

    No warp that waits at a barrier issues anything; a block of which all warps wait ends.  The
    program counter is the instruction's number.

    Attributes
    ----------
    bins : Counter of str
        How often each thing was drawn.
    """

    def __init__(self, params: GpuParams, seed: object):
        self._params = params
        self._rng = random.Random(f"issue {seed}")
        self._counter = BarrierCounter(params)
        self._blocks: dict[int, list[int]] = {}
        self._living: dict[int, int] = {}
        self._number = 0
        self.bins: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Instruction]:
        while True:
            instruction = self._instruction()
            if instruction is not None:
                self._follow(instruction)
                self._number += 1
                yield instruction

    def _instruction(self) -> Instruction | None:
        rng = self._rng
        kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
        if not self._blocks or kind == KIND.BLOCK_START:
            return self._start()
        slot = rng.choice(list(self._blocks))
        warp, lanes = self._ready(slot)
        if not lanes or kind == KIND.BLOCK_END:
            return Instruction(KIND.BLOCK_END, slot)
        where = {"slot": slot, "warp": warp, "pc": self._number % (1 << self._params.pc_bits)}
        if kind in _ACCESSES:
            return self._access(kind, where, self._some(lanes))
        if kind == KIND.FENCE:
            order = rng.choice(_ORDERS[kind])
            return Instruction(kind, **where, scope=rng.getrandbits(1), order=order)
        if kind in (KIND.BARRIER, KIND.ARRIVE):
            count = rng.choice([0, 0, 0, rng.randint(1, len(self._blocks[slot]))])
            number = rng.choice([0, 0, 0, 1, 15])
            if self._params.independent_threads and rng.random() < 0.4:
                lanes = self._some(lanes)
            return Instruction(kind, **where, number=number, warps=count, lanes=lanes)
        if kind == KIND.EXIT:
            lanes = self._some(lanes) if rng.random() < 0.3 else lanes
            return Instruction(kind, slot, warp, lanes=lanes)
        lanes = 0 if kind == KIND.WARP_BARRIER and rng.random() < 0.5 else self._some(lanes)
        return Instruction(kind, **where, lanes=lanes)

    def _start(self) -> Instruction | None:
        """A block in a free slot, in free warps that follow one another."""
        rng, params = self._rng, self._params
        slots = [slot for slot in range(params.blocks_per_sm) if slot not in self._blocks]
        taken = {warp for warps in self._blocks.values() for warp in warps}
        first, most = rng.randrange(params.warps_per_sm), rng.randint(1, params.warps_per_sm)
        warps = []
        while len(warps) < most and first + len(warps) < params.warps_per_sm:
            if first + len(warps) in taken:
                break
            warps.append(first + len(warps))
        if not slots or not warps:
            return None
        lanes = rng.choice([(1 << params.lanes) - 1, (1 << rng.randint(1, params.lanes)) - 1])
        mask = sum(1 << warp for warp in warps)
        return Instruction(KIND.BLOCK_START, rng.choice(slots), first, warps=mask, lanes=lanes)

    def _ready(self, slot: int) -> tuple[int, int]:
        """A warp of a block, and its lanes that have not ended and do not wait."""
        warps = [*self._blocks[slot]]
        self._rng.shuffle(warps)
        for warp in warps:
            lanes = self._living[warp]
            if self._params.independent_threads:
                lanes = sum(
                    1 << lane
                    for lane in lanes_of(lanes)
                    if not self._counter.waits(slot, warp, 1 << lane)
                )
            elif self._counter.waits(slot, warp, lanes):
                lanes = 0
            if lanes:
                return warp, lanes
        return 0, 0

    def _some(self, lanes: int) -> int:
        """Some of the lanes, at least one."""
        rng = self._rng
        number = rng.choice(lanes_of(lanes))
        return rng.choice([lanes, lanes, lanes & rng.getrandbits(32), 0]) & lanes or 1 << number

    def _access(self, kind: IssueKind, where: dict[str, int], lanes: int) -> Instruction:
        rng = self._rng
        op = rng.choice([AtomicOp.CAS, AtomicOp.CAS, AtomicOp.EXCH, AtomicOp.OTHER])
        if kind != KIND.ATOMIC:
            op = AtomicOp.CAS
        order = rng.choice(_ORDERS[kind])
        named = order != ORDER.IMPLIED
        size = rng.choice([1, 2, 2, 3] if kind == KIND.ATOMIC else [0, 1, 2, 2, 2, 3, 4])
        is_strong = kind == KIND.ATOMIC or named or rng.random() < 0.3
        instruction = Instruction(
            kind, **where, scope=rng.getrandbits(1) if is_strong else 0, strong=int(is_strong),
            op=op, order=order, shared=int(rng.random() < 0.1), size=size, lanes=lanes,
            addresses=self._addresses(lanes, size),
        )  # fmt: skip
        if kind == KIND.STORE and order != ORDER.RELEASE:
            return instruction._replace(marks=self._unequal(instruction))
        if kind == KIND.LOAD:
            return instruction
        some = [0, lanes, *[rng.getrandbits(32) & lanes for _ in range(3)]]
        success = rng.choice(some) if instruction.is_cas else 0
        return instruction._replace(marks=rng.getrandbits(32) & lanes, success=success)

    def _addresses(self, lanes: int, size: int) -> tuple[int, ...]:
        """Addresses of the active lanes, of one of the shapes that kernels have, or of none."""
        rng, bits = self._rng, self._params.address_bits
        top = (1 << bits) - (1 << size)
        base = rng.getrandbits(bits)
        span = rng.choice([1 << size, 16, 128, 512, 1 << 14])
        shape = rng.choice(["row", "strided", "one", "word", "near", "far"])
        self.bins[f"addresses {shape}"] += 1
        stride = rng.choice([2, 3, 32, 33]) << size
        shapes: dict[str, Callable[[int], int]] = {
            "row": lambda lane: base + (lane << size),
            "strided": lambda lane: base + lane * stride,
            "one": lambda lane: base,
            "word": lambda lane: base + rng.randrange(8),
            "near": lambda lane: base + rng.randrange(span),
            "far": lambda lane: rng.getrandbits(bits),
        }
        return tuple(shapes[shape](lane) % (1 << bits) & top for lane in lanes_of(lanes))

    def _unequal(self, store: Instruction) -> int:
        """Lanes that store another value than the lowest lane with the same address."""
        chance, seen, marks = self._rng.choice([0, 0.5]), set(), 0
        for lane, address in zip(lanes_of(store.lanes), store.addresses, strict=True):
            if address in seen and self._rng.random() < chance:
                marks |= 1 << lane
            seen.add(address)
        return marks

    def _follow(self, instruction: Instruction) -> None:
        """Keep what blocks and warps there are, and count what was drawn."""
        slot = instruction.slot
        if instruction.kind == KIND.BLOCK_START:
            warps = lanes_of(instruction.warps & 0xFFFFFFFF)
            warps += tuple(32 + warp for warp in lanes_of(instruction.warps >> 32))
            self._blocks[slot] = [*warps]
            self._living.update(dict.fromkeys(warps, (1 << self._params.lanes) - 1))
            self._living[warps[-1]] = instruction.lanes
        if instruction.kind == KIND.BLOCK_END:
            del self._blocks[slot]
        if instruction.kind == KIND.EXIT:
            self._living[instruction.warp] &= ~instruction.lanes
        given = self._counter.step(instruction)
        self._count(instruction, given)

    def _count(self, instruction: Instruction, given: list[Instruction]) -> None:
        kind = IssueKind(instruction.kind)
        self.bins[kind.name.lower()] += 1
        if kind in _ACCESSES:
            self.bins[f"size {1 << instruction.size}"] += 1
            self.bins[f"order {ORDER(instruction.order).name.lower()}"] += 1
            self.bins["shared memory"] += instruction.shared
        if instruction.is_cas:
            ends = instruction.success, instruction.lanes & ~instruction.success
            outcome = {(True, False): "stores", (False, True): "fails"}.get(
                (bool(ends[0]), bool(ends[1])), "stores in some lanes"
            )
            self.bins[f"cas {outcome}"] += 1
        for each in given:
            if each.kind in (KIND.BARRIER, KIND.PARTIAL_BARRIER):
                name = IssueKind(each.kind).name.lower().replace("_", " ")
                self.bins[f"passes {name} by {kind.name.lower()}"] += 1
        self.bins["several barriers by an exit"] += kind == KIND.EXIT and len(given) > 1


def packed(params: GpuParams, instruction: Instruction) -> int:
    """An instruction as the stream has it, without its outcome.

    Lanes that are not active have the address of one that is: nothing may be made of it.
    """
    addresses, bits = 0, params.address_bits
    if instruction.addresses:
        by_lane = dict(zip(lanes_of(instruction.lanes), instruction.addresses, strict=True))
        for lane in range(params.lanes):
            addresses |= by_lane.get(lane, instruction.addresses[0]) << lane * bits
    fields: dict[str, Any] = instruction._asdict() | {"addresses": addresses}
    del fields["success"]
    return params.instruction_layout.pack(fields)
