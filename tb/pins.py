"""The device's signals: the only code that uses cocotb's handles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from racetrap.golden_model.layout import Layout


class Pins:
    """Access to the testbench module's ports; each handle is looked up once.

    Parameters
    ----------
    dut : cocotb handle
        The testbench module.
    testbench : mapping
        ``testbench`` of the plan: fields of ``flags`` and of the channel bundles.

    Attributes
    ----------
    dut : cocotb handle
        The testbench module, for third-party bus models.
    """

    def __init__(self, dut: Any, testbench: Mapping[str, Any]):
        self.dut = dut
        self._flags = Layout(testbench["flags"])
        self._bundles = {name: Layout(fields) for name, fields in testbench["bundles"].items()}

    def inside(self, path: str) -> Any:
        """Handle of an instance in the device, for its back-door registers."""
        handle = self.dut.dut
        for name in path.split("."):
            handle = getattr(handle, name)
        return handle

    def flag(self, *names: str) -> int:
        """Mask of the named one-bit ports in ``flags``."""
        return sum(1 << self._flags.offset(name) for name in names)

    def handshake(self, prefix: str) -> int:
        """Mask of ``<prefix>valid`` and ``<prefix>ready``."""
        return self.flag(f"{prefix}valid", f"{prefix}ready")

    def has(self, name: str) -> bool:
        """Whether the device has a one-bit port of that name."""
        return name in self._flags.fields

    def bundle(self, name: str) -> Layout:
        """Fields of a channel output."""
        return self._bundles[name]

    def reader(self, name: str) -> Callable[[], int]:
        """Function that reads a port as an unsigned integer."""
        handle = getattr(self.dut, name)
        return lambda: int(handle.value)

    def writer(self, name: str, value: int = 0) -> Callable[[int], None]:
        """Function that drives a port; it starts at ``value`` and only changes reach cocotb."""
        handle = getattr(self.dut, name)
        handle.value = last = value

        def write(value: int) -> None:
            nonlocal last
            if value != last:
                handle.value = last = value

        return write
