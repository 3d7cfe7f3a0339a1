"""NVRTC, the compiler library from CUDA to PTX, as a wheel; no GPU is needed.

Ref: NVRTC (CUDA 13.0), Section "Basic Usage".
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from racetrap.sim.failure import Failure
from racetrap.sim.tools import install_extra

#: The oldest architecture that the compiler supports: it has scopes, memory orders and independent
#: threads, and its PTX runs on every later GPU.
ARCHITECTURE = "compute_75"

#: Line numbers, for reports that name the source.
_OPTIONS = ("--std=c++17", "-lineinfo")
_PACKAGE = "nvidia.cu13"
#: The compiler does not find its built-ins itself unless they are loaded already.
_LIBRARIES = ("libnvrtc-builtins.so.13.0", "libnvrtc.so.13")


class CudaError(ValueError):
    """CUDA source that does not compile; the text ends with the compiler's log."""


def _library_folder() -> Path | None:
    try:
        spec = importlib.util.find_spec(_PACKAGE)
    except ModuleNotFoundError:  # the parent of a dotted name is missing
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        if all((Path(folder) / "lib" / name).is_file() for name in _LIBRARIES):
            return Path(folder) / "lib"
    return None


def has_nvrtc() -> bool:
    """Whether CUDA sources can be compiled here."""
    return _library_folder() is not None


@cache
def _nvrtc() -> ctypes.CDLL:
    folder = _library_folder()
    if folder is None:
        raise Failure(f"Compiler of CUDA sources was not found: {install_extra('cuda')}")
    return [ctypes.CDLL(str(folder / name)) for name in _LIBRARIES][-1]


def _include_options() -> list[str]:
    """Options for the folders of the compiler's own headers."""
    folder = _library_folder()
    assert folder is not None
    include = folder.parent / "include"
    return [f"-I{include}", f"-I{include / 'cccl'}"]


def _strings(texts: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    encoded = [text.encode() for text in texts]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _text(program: ctypes.c_void_p, what: str) -> str:
    """PTX or log of a program: NVRTC returns the size, then fills a buffer of it."""
    nvrtc, size = _nvrtc(), ctypes.c_size_t()
    nvrtc[f"nvrtcGet{what}Size"](program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    nvrtc[f"nvrtcGet{what}"](program, buffer)
    return buffer.value.decode()


def compile_cuda(
    source: str,
    name: str,
    options: Sequence[str] = (),
    headers: Mapping[str, str] = MappingProxyType({}),
    architecture: str = ARCHITECTURE,
) -> str:
    """Compile CUDA C++17 to PTX with line numbers.

    Headers of CUDA and of its C++ library are found.

    Parameters
    ----------
    source : str
        CUDA source.
    name : str
        Its file name, for the compiler's messages and the PTX's line numbers.
    options : sequence of str
        More options of NVRTC, for example ``-DSTEPS=4``.
    headers : mapping of str to str
        Text of the files that the source includes, by name.
    architecture : str
        Architecture that the PTX is for.

    Returns
    -------
    str
        PTX; the same for the same source, name and options, whatever the folder.

    Raises
    ------
    CudaError
        If the source does not compile, or NVRTC is not installed.
    """
    nvrtc, program = _nvrtc(), ctypes.c_void_p()
    arguments = (f"--gpu-architecture={architecture}", *_OPTIONS, *_include_options(), *options)
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program),
        source.encode(),
        name.encode(),
        len(headers),
        _strings(headers.values()),
        _strings(headers),
    )
    try:
        if nvrtc.nvrtcCompileProgram(program, len(arguments), _strings(arguments)):
            log = _text(program, "ProgramLog").strip()
            raise CudaError(f"CUDA source {name} does not compile:\n{log}")
        # NVRTC puts the working folder before the name in `.file`.
        return _text(program, "PTX").replace(f'"{Path.cwd()}/', '"')
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
