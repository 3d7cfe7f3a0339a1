"""Writes what a simulation of ``params.json`` takes here, with the RTL of a given folder.

``python -m racetrap.sim.cosim.verilator.generate_rtl RTL_FOLDER SYSTEM PRESET PART``: an
empty part is the whole system, ``few-tiles`` a few tiles of it, ``with-vortex`` the system with
adapters for cores of Vortex; the folder stands in for the
package ``racetrap.rtl``, so that a bug can be planted in a copy of it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def use_package(name: str, folder: Path) -> None:
    """Make a package of ours the one in ``folder``; call before anything imports it."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"Folder must hold the __init__.py of {name}, not {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _main() -> None:
    use_package("racetrap.rtl", Path(sys.argv[1]))
    from racetrap.generators.artefacts import generate_simulated
    from racetrap.generators.systems import system_named
    from racetrap.sim.cosim.verilator.build_cache import FEW_TILES, WITH_VORTEX

    values = json.loads(Path("params.json").read_text(encoding="utf-8"))
    _, _, system, preset, part = sys.argv
    detector = system_named(system)
    params = detector.params(**values)
    if part not in (FEW_TILES, WITH_VORTEX):
        generate_simulated(preset, params, Path(), part)
        return
    top: Any
    if part == FEW_TILES:
        top = detector.own("sim.cosim", "few_tiles").FewTiles(params)
    else:
        from racetrap.rtl.vortex.system import VortexSystem

        top = VortexSystem(params, detector.top(params), detector.parts["front-end"])
    generate_simulated(preset, params, Path(), top=top)


if __name__ == "__main__":
    _main()
