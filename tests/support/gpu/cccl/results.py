"""Results of the drivers over CCCL's headers, by NumPy: what each prints, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

Results = dict[str, np.ndarray]

COUNT = 1000
_THREADS, _ITEMS = 128, 4


def _inputs(count: int, modulus: int, first: int = 0) -> np.ndarray:
    numbers = np.arange(first, first + count, dtype=np.uint32) * np.uint32(2654435761)
    return (numbers >> np.uint32(16)).astype(np.int64) % modulus


_BLOCK = _inputs(_THREADS * _ITEMS, 1000)
_FIRST = _BLOCK[:_THREADS]
_IN, _OTHER = _inputs(COUNT, 1000), _inputs(COUNT, 1000, COUNT)
_BITS = _inputs(COUNT, 2)


def _padded(
    values: np.ndarray | list[int], count: int = _THREADS * _ITEMS
) -> dict[str, np.ndarray]:
    return {"out": np.pad(np.asarray(values), (0, count - len(values)))}


def _exclusive(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(values)[:-1]])


def _chosen(values: np.ndarray, rest: np.ndarray | None = None) -> Results:
    """What an algorithm chooses, and how many; zeros behind them, or what it leaves."""
    if rest is None:
        rest = np.zeros(COUNT - len(values), np.int64)
    return {"count": np.array([len(values)]), "out": np.concatenate([values, rest])}


def _runs(values: np.ndarray) -> np.ndarray:
    """First of each run of equal values."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


def _long_runs(values: np.ndarray) -> Results:
    """First and length of each run of more than one."""
    first = _runs(values)
    length = np.diff([*first, COUNT])
    chosen = first[length > 1]
    rest = np.zeros(COUNT - len(chosen), np.int64)
    more = np.concatenate([length[length > 1], rest])
    return _chosen(chosen) | {"more": more}


def _differences(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values[:1], np.diff(values)])


def _counted(values: np.ndarray, bins: int) -> np.ndarray:
    return np.bincount(values, minlength=bins)


def _edges() -> np.ndarray:
    return np.array([0, 100, 100, 350, COUNT])


_SORTED = np.sort(_IN)
_STABLE = np.argsort(_IN, kind="stable")
_RANKS = np.argsort(np.argsort(_BLOCK % 16, kind="stable"), kind="stable")
_WARPS = _BLOCK.reshape(-1, 32, _ITEMS)
_STRIPED = _BLOCK.reshape(_ITEMS, _THREADS)
_BLOCKED = _BLOCK.reshape(_THREADS, _ITEMS)
_X, _Y = _IN.astype(np.float32), _OTHER.astype(np.float32)

#: By driver, what it prints.
RESULTS: Mapping[str, Callable[[], Results]] = {
    "block_reduce_sum": lambda: _padded([_FIRST.sum()]),
    "block_reduce_raking": lambda: _padded([_FIRST.sum()]),
    "block_reduce_twice": lambda: _padded([_FIRST.sum(), _BLOCK[_THREADS : 2 * _THREADS].sum()]),
    "block_scan_exclusive": lambda: _padded(_exclusive(_FIRST)),
    "block_scan_warps": lambda: _padded(np.cumsum(_FIRST)),
    "block_scan_twice": lambda: _padded(
        np.cumsum(_BLOCK[: 2 * _THREADS].reshape(2, -1), axis=1).reshape(-1)
    ),
    "block_load_transpose": lambda: {"out": _BLOCKED.T.reshape(-1)},
    "block_store_transpose": lambda: {"out": _STRIPED.T.reshape(-1)},
    "block_exchange": lambda: {"out": _BLOCK},
    "block_radix_sort": lambda: {"out": np.sort(_BLOCK)},
    "block_merge_sort": lambda: {"out": np.sort(_BLOCK)},
    "block_histogram_atomic": lambda: _padded(_counted(_BLOCK % 64, 64)),
    "block_histogram_sort": lambda: _padded(_counted(_BLOCK % 64, 64)),
    "block_discontinuity": lambda: {
        "out": np.isin(np.arange(len(_BLOCK)), _runs(_BLOCK % 2)).astype(int)
    },
    "block_adjacent_difference": lambda: {"out": _differences(_BLOCK)},
    "block_shuffle": lambda: _padded(_FIRST[1:]),
    "block_radix_rank": lambda: {"out": _RANKS},
    "warp_reduce": lambda: _padded(_FIRST.reshape(4, 32).sum(axis=1)),
    "warp_reduce_of_some": lambda: _padded([_FIRST[:20].max()]),
    "warp_scan": lambda: _padded(np.cumsum(_FIRST.reshape(4, 32), axis=1).reshape(-1)),
    "warp_exchange": lambda: {"out": _WARPS.transpose(0, 1, 2).reshape(4, -1, 32).reshape(-1)},
    "warp_merge_sort": lambda: {"out": np.sort(_BLOCK.reshape(4, -1), axis=1).reshape(-1)},
    "warp_load_transpose": lambda: {"out": _WARPS.transpose(0, 2, 1).reshape(-1)},
    "device_reduce_sum": lambda: {"out": np.array([_IN.sum()])},
    "device_reduce_max": lambda: {"out": np.array([_IN.max()])},
    "device_reduce_by_key": lambda: _chosen(np.add.reduceat(_IN, _runs(_BITS))),
    "device_scan_exclusive": lambda: {"out": _exclusive(_IN)},
    "device_scan_inclusive": lambda: {"out": np.cumsum(_IN)},
    "device_radix_sort_keys": lambda: {"out": _SORTED},
    "device_radix_sort_pairs": lambda: {"out": _SORTED, "more": _OTHER[_STABLE]},
    "device_merge_sort": lambda: {"out": _SORTED},
    "device_select_if": lambda: _chosen(_IN[_IN % 2 == 1]),
    "device_select_unique": lambda: _chosen(_BITS[_runs(_BITS)]),
    "device_partition": lambda: _chosen(_IN[_IN % 2 == 1], _IN[_IN % 2 == 0][::-1]),
    "device_partition_flagged": lambda: _chosen(_IN[_BITS == 1], _IN[_BITS == 0][::-1]),
    "device_select_flagged": lambda: _chosen(_IN[_BITS == 1]),
    "device_sort_find_non_trivial_runs": lambda: _long_runs(_SORTED),
    "device_histogram": lambda: {"out": _counted(_IN // 100, 10)},
    "device_run_length_encode": lambda: _chosen(np.diff([*_runs(_BITS), COUNT])),
    "device_segmented_reduce": lambda: {
        "out": np.array([_IN[a:b].sum() for a, b in zip(_edges()[:-1], _edges()[1:], strict=True)])
    },
    "device_adjacent_difference": lambda: {"out": _differences(_IN)},
    "thrust_transform": lambda: {"out": np.float32(2.5) * _X + _Y},
    "thrust_reduce": lambda: {"out": np.array([_IN.sum()])},
    "thrust_inner_product": lambda: {"out": np.array([_IN @ _OTHER])},
    "thrust_scan": lambda: {"out": np.cumsum(_IN)},
    "thrust_sort": lambda: {"out": _SORTED},
    "thrust_sort_by_key": lambda: {"out": _SORTED, "more": _OTHER[_STABLE]},
    "thrust_copy_if": lambda: _chosen(_IN[_IN % 2 == 1]),
    "thrust_unique": lambda: {"count": np.array([len(_runs(_IN))])},
    "thrust_count_if": lambda: {"out": np.array([(_IN % 2).sum()])},
    "thrust_max_element": lambda: {"out": np.array([_IN.argmax()])},
    "thrust_gather": lambda: {"out": _IN[_OTHER]},
    "thrust_merge": lambda: {"out": np.sort(np.concatenate([_IN, _OTHER]))},
    "thrust_adjacent_difference": lambda: {"out": _differences(_IN)},
}
#: Drivers with a form that uses temporary storage again without a barrier.
RACY = frozenset({"block_reduce_twice"})
#: Drivers of algorithms that race by themselves, with the reason.
OWN_RACES = {
    "thrust_unique": (
        "In place, a block loads the last item of the tile before (`ld.global.nc`), while that "
        "tile's block may store its items behind those that it keeps.  No edge is missed: the "
        "block of the first tile waits for no other before it stores, so neither release and "
        "acquire patterns nor barriers (PTX ISA 9.0, Section 8.9) order the pair, which is a "
        "data race (8.7.1), and `ld.global.nc` asks for memory that nobody writes meanwhile "
        "(9.7.9.9).  The result is right since an item is only stored there if none before it was "
        "dropped, and then in its own place."
    ),
    "device_sort_find_non_trivial_runs": (
        "Items that begin no run go to one slot of shared memory, which nobody loads; lanes of one "
        "store have different values, and no barrier of the warp (8.9) orders it behind the next."
    ),
}
#: Drivers of algorithms that cannot run, with the beginning of the sentence that says so.
REFUSED = {"device_merge_sort": "programmatic dependent launch of kernel "}
#: Headers of drivers whose name does not begin with that of theirs.
_HEADERS = {
    "thrust_count_if": "thrust/count.h", "thrust_max_element": "thrust/extrema.h",
    "thrust_copy_if": "thrust/copy.h", "thrust_sort_by_key": "thrust/sort.h",
    "device_sort_find_non_trivial_runs": "cub/device/device_run_length_encode.cuh",
}  # fmt: skip
#: Words behind the algorithm's name.
_FORMS = (
    "_sum", "_raking", "_twice", "_exclusive", "_inclusive", "_warps", "_transpose", "_atomic",
    "_sort", "_of_some", "_max", "_by_key", "_keys", "_pairs", "_if", "_unique", "_flagged",
)  # fmt: skip
_SORTS = ("radix_sort", "merge_sort")


def header_of(name: str) -> str:
    """Header of the algorithm of a driver."""
    if name in _HEADERS:
        return _HEADERS[name]
    library, _, rest = name.partition("_")
    if library == "thrust":
        return f"thrust/{rest}.h"
    for form in _FORMS:
        if not rest.endswith(_SORTS):
            rest = rest.removesuffix(form)
    return f"cub/{library}/{library}_{rest}.cuh"


def printed_results(text: str) -> dict[str, np.ndarray]:
    """What a driver has printed."""
    lines = [line.split() for line in text.splitlines() if line]
    return {name: np.array([float(value) for value in values]) for name, *values in lines}


def is_right(name: str, text: str) -> bool:
    """Whether a driver has printed what it must."""
    found, wanted = printed_results(text), RESULTS[name]()
    return found.keys() == wanted.keys() and all(
        np.array_equal(found[key], wanted[key].astype(np.float64)) for key in wanted
    )
