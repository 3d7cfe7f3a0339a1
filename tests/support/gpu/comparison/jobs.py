"""Launches of the suites' kernels on buffers, for a GPU's driver and for our device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.module import Module


class Job(NamedTuple):
    """A launch of kernels on buffers.

    Parameters
    ----------
    name : str
        Name, unique among all: that of the suite, a stroke, and that of the kernel.
    is_racy : bool
        Whether it has a race, as its suite says and its tests hold it to.
    source : str
        PTX file below the folder.
    buffers : tuple of bytes
        Contents of the buffers before it.
    launches : tuple of str
        Launches as the driver reads them.
    """

    name: str
    is_racy: bool
    source: str
    buffers: tuple[bytes, ...]
    launches: tuple[str, ...]

    @property
    def text(self) -> str:
        """Entry of the driver's list."""
        cubin = self.source.removesuffix(".ptx") + ".cubin"
        lines = [f"{self.name} {cubin} {len(self.buffers)} {len(self.launches)}"]
        for contents in self.buffers:
            digits = contents.rstrip(b"\0").hex() or "zeros"
            lines.append(f"{len(contents)} {digits}")
        return "\n".join([*lines, *self.launches]) + "\n"


def run_job(job: Job, module: Module, device: Device) -> str:
    """Run the launches of a job on a device; contents of all buffers afterwards.

    Raises
    ------
    ExecutionError
        If a launch does not end.
    """
    places = [device.allocate(np.frombuffer(each, np.uint8)) for each in job.buffers]
    for line in job.launches:
        kernel, *words = line.split()
        shape, words = list(map(int, words[:8])), words[9:]
        arguments: list[int | bytes] = []
        while words:
            if words[0] == "p":
                arguments.append(places[int(words[1])] + int(words[2]))
            else:
                arguments.append(bytes.fromhex(words[1]))
            words = words[3 if words[0] == "p" else 2 :]
        device.run(
            device.prepare(
                module, kernel, shape[:3], shape[3:6], arguments, shape[6], bool(shape[7])
            )
        )
    contents = [
        device.read(place, "u1", len(each)).tobytes()
        for place, each in zip(places, job.buffers, strict=True)
    ]
    return " ".join(each.rstrip(b"\0").hex() or "00" for each in contents)
