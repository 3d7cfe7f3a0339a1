"""Scalar types of PTX as NumPy types.

Ref: PTX ISA 9.0, Section 5.2 (types).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction


class Scalar(NamedTuple):
    """A fundamental type: its name, its NumPy type and its kind.

    The kind is ``i`` for integers and untyped bits, ``f`` for floats, ``p`` for predicates.
    """

    name: str
    dtype: np.dtype
    kind: str

    @property
    def bits(self) -> int:
        """Width in bits; of a predicate that of the byte that holds it."""
        return 8 * self.dtype.itemsize


def _scalars() -> dict[str, Scalar]:
    found = {"pred": Scalar("pred", np.dtype(bool), "p")}
    for letter, code, kind in (("b", "u", "i"), ("u", "u", "i"), ("s", "i", "i"), ("f", "f", "f")):
        for size in (1, 2, 4, 8):
            name = f"{letter}{8 * size}"
            if name != "f8":
                found[name] = Scalar(name, np.dtype(f"{code}{size}"), kind)
    return found


#: Every type that the executor computes with, by its PTX name.
SCALARS = _scalars()


def scalar(name: str) -> Scalar:
    """The type called ``name``; raises `UnknownInstruction` if there is none."""
    if name not in SCALARS:
        raise UnknownInstruction(f"Type must be a scalar type, not {name!r}")
    return SCALARS[name]


def unsigned(dtype: np.dtype) -> np.dtype:
    """Unsigned integers, or booleans, as wide as ``dtype``."""
    return dtype if dtype == np.bool_ else np.dtype(f"u{dtype.itemsize}")


def wider(dtype: np.dtype, size: int) -> np.dtype:
    """Integers like ``dtype``, signed or not, of ``size`` bytes."""
    return np.dtype(f"{'i' if dtype.kind == 'i' else 'u'}{size}")
