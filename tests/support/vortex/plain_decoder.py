"""Plain decoder of the packed word of an instruction of Vortex, by the numbers of its bits.

It shares nothing with the golden model: the numbers are those of the core's Verilog, the windows
those of the documentation, and what an instruction becomes is a list of fields for a front end.
"""

from __future__ import annotations

from typing import Any

LOAD, STORE, ATOMIC, FENCE, BARRIER, ARRIVE, EXIT = 0, 1, 2, 3, 4, 5, 12
_CAS, _EXCH, _OTHER = 0, 1, 2


def bits(word: int, high: int, low: int) -> int:
    """Bits of a word, as Verilog counts them."""
    return word >> low & (1 << high - low + 1) - 1


def lane_word(word: int, low: int, lane: int) -> int:
    """Operand of a lane, given where that of lane 0 begins."""
    return bits(word, low + 32 * lane + 31, low + 32 * lane)


def expected(word: int) -> list[dict[str, Any]] | str | None:
    """What a front end must get for an instruction: the fields that are not 0.

    A sentence if the instruction is not supported, None if it concerns nobody.
    """
    lanes = [lane for lane in range(4) if bits(word, 465, 462) >> lane & 1]
    place = {"warp": bits(word, 470, 469), "slot": bits(word, 468, 467), "pc": bits(word, 461, 430)}
    unit, operation = bits(word, 429, 428), bits(word, 427, 424)
    if unit == 1:
        if operation >= 12:
            return [{"kind": FENCE, "scope": 1, **place}]
        return _accesses(word, lanes, place, operation)
    if unit != 2 or not lanes:
        return None
    one, other = lane_word(word, 258, lanes[-1]), lane_word(word, 130, lanes[-1])
    if operation == 0:
        return [{"kind": EXIT, **place, "lanes": 15}] if one % 16 == 0 else None
    if operation == 1:
        return "warps spawn"
    if operation == 10:
        return [{"kind": FENCE, "scope": 0, **place}]
    if operation == 4:
        waits, arrives = bits(word, 400, 400), bits(word, 399, 399)
        if one >= 1 << 31 or other >= 1 << 31 or not (waits or arrives):
            return "barrier"
        mask = sum(1 << lane for lane in lanes)
        number, count = one // 256 % 8, other % 8
        kind = BARRIER if waits else ARRIVE
        return [{"kind": kind, **place, "number": number, "warps": count, "lanes": mask}]
    return None


def _accesses(
    word: int, lanes: list[int], place: dict[str, int], operation: int
) -> list[dict[str, Any]] | str:
    size, is_store = operation % 4, operation >= 8
    groups: dict[int, list[tuple[int, int, int]]] = {}
    for lane in lanes:
        offset = bits(word, 410, 399)
        if bits(word, 414, 413):
            step = lane_word(word, 130, lane)
            offset = (offset % 2) * step + (offset // 2 % 2) * 2 * step
        elif offset >= 2048:
            offset -= 4096
        address = (lane_word(word, 258, lane) + offset) % 2**32
        value = lane_word(word, 130, lane) % 2 ** min(8 * 2**size, 32)
        groups.setdefault(address >> 28, []).append((lane, address, value))
    found = []
    for window, some in groups.items():
        if window not in (3, 4, 5, 9, 10, 11, 12, 13):
            continue
        if window % 8 == 5 and not is_store and len(lanes) > 1:
            return "lanes take a lock"
        addresses = tuple(address % 2**28 + 9 * 2**28 for _, address, _ in some)
        mask = sum(1 << lane for lane, *_ in some)
        fields = {**place, "size": size, "lanes": mask, "addresses": addresses}
        if window >= 11 or window < 8:
            frees = is_store and window % 8 != 4
            takes = not is_store and window % 8 == 5
            zeros = sum(1 << lane for lane, _, value in some if not value)
            found.append({
                "kind": ATOMIC, "strong": 1, "scope": window // 8,
                "op": _EXCH if frees else _CAS if takes else _OTHER,
                "marks": zeros if frees else mask if takes else 0, **fields,
            })  # fmt: skip
            continue
        first: dict[int, int] = {}
        marks = 0
        for lane, address, value in some:
            marks |= (first.setdefault(address, value) != value) << lane
        strong = int(window == 10)
        found.append({
            "kind": STORE if is_store else LOAD, "strong": strong, "scope": strong,
            "marks": marks if is_store else 0, **fields,
        })  # fmt: skip
    return found
