"""Subscriber that hands what it is sent to a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyuvm import uvm_component, uvm_subscriber

__all__ = ["Tap"]


class Tap(uvm_subscriber):
    """Subscriber that hands everything to ``write``."""

    def __init__(self, name: str, parent: uvm_component, write: Callable[[Any], None]):
        self._write = write
        super().__init__(name, parent)

    def write(self, datum: Any) -> None:
        self._write(datum)
