"""Results of the flow, kept by content: what a tool was given decides where its answer lies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from racetrap.sim.cosim.verilator.build_cache import cache_folder, locked

__all__ = ["cached"]


def cached(content: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result for ``content``, made only if it was never made before.

    Processes that ask for the same result at the same time make it once.

    Parameters
    ----------
    content : JSON value
        Everything that the result depends on.
    make : callable
        Makes the result, a JSON object.

    Returns
    -------
    dict
        The result, as it reads back from JSON.
    """
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path = cache_folder() / "flow" / f"{key}.json"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            # Complete or absent: a process that is stopped leaves no half of a result.
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps(make(), indent=1), encoding="utf-8")
            unfinished.rename(path)
        return json.loads(path.read_text(encoding="utf-8"))
