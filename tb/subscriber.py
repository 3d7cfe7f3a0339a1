"""Subscriber that hands everything it is sent to a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyuvm import uvm_component, uvm_subscriber


class Subscriber(uvm_subscriber):
    """Subscriber whose ``write`` is a given function."""

    def __init__(self, name: str, parent: uvm_component, write: Callable[[Any], None]):
        self._write = write
        super().__init__(name, parent)

    def write(self, datum: Any) -> None:
        self._write(datum)
