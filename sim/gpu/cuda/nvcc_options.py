"""Options of nvcc: those that are taken, have no effect, or are refused.

Ref: NVIDIA CUDA Compiler Driver (CUDA 13.0), Section "NVCC Command Options".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from racetrap.golden_model.checks import unknown_name

#: Where the options are listed.
NVCC_HELP = "`nvcc --help` lists them, and docs/cuda-programs.md what becomes of each"
#: Compute capabilities that the compiler supports; the first is the default.
CAPABILITIES = range(75, 122)


class Use(Enum):
    """What becomes of an option."""

    TAKEN = "taken"
    WITHOUT_EFFECT = "without effect"
    REFUSED = "refused"


class NvccOption(NamedTuple):
    """An option: its spellings, the usual one first, and whether it has a value."""

    spellings: tuple[str, ...]
    has_value: bool
    use: Use

    @property
    def is_accepted(self) -> bool:
        """Whether it is taken, or has no effect."""
        return self.use is not Use.REFUSED

    @property
    def name(self) -> str:
        """Usual spelling."""
        return self.spellings[0]

    def words(self, value: str) -> list[str]:
        """It with a value, if it has one, on a command line."""
        return [self.name, value] if self.has_value else [self.name]


#: Names of the options, short and long if they differ; ``=``: with a value.
_NAMES = MappingProxyType({
    Use.TAKEN: """
        I,include-path= isystem,system-include= D,define-macro= U,undefine-macro=
        include,pre-include= std= arch,gpu-architecture= gencode,generate-code=
        rdc,relocatable-device-code= l,library= L,library-path= Xcompiler,compiler-options=
        Xlinker,linker-options= ccbin,compiler-bindir= O,optimize= x= use_fast_math ftz= prec-div=
        prec-sqrt= fmad= default-stream= extended-lambda expt-extended-lambda
        expt-relaxed-constexpr restrict pg,profile noeh,no-exceptions ftemplate-backtrace-limit=
        ftemplate-depth= nohdinitlist,no-host-device-initializer-list
        nohdmoveforward,no-host-device-move-forward extra-device-vectorization
        keep-device-functions cudadevrt= allow-unsupported-compiler static-global-template-stub=
        device-entity-has-hidden-visibility= frandom-seed= w,disable-warnings Wreorder
        Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this
        Wno-deprecated-declarations Wno-deprecated-gpu-targets Werror= err-no,display-error-number
        no-err-no,no-display-error-number diag-error= diag-suppress= diag-warn=
        brief-diag,brief-diagnostics= v,verbose t,threads= ldir,libdevice-directory=
        target-dir,target-directory= jtd,jump-table-density=
    """,
    Use.WITHOUT_EFFECT: """
        cudart= g,debug G,device-debug lineinfo,generate-line-info opt-info,optimization-info=
        Ofc,Ofast-compile= dopt= dlto,dlink-time-opt lto gen-opt-lto m,machine= m64
        Xptxas,ptxas-options= Xnvlink,nvlink-options= code,gpu-code= maxrregcount=
        res-usage,resource-usage compress-mode= no-compress split-compile= split-compile-extended=
        src-in-ptx,source-in-ptx device-stack-protector= jobserver
    """,
    Use.REFUSED: """
        cuda cubin fatbin ptx optix-ir ltoir E,preprocess M,generate-dependencies
        MM,generate-nonsystem-dependencies MD,generate-dependencies-with-compile
        MMD,generate-nonsystem-dependencies-with-compile MF,dependency-output=
        MP,generate-dependency-targets MT,dependency-target-name= c,compile dc,device-c dw,device-w
        dlink,device-link link lib run run-args= -output-file,output-file= odir,output-directory=
        objtemp,objdir-as-tempdir shared arbin,archiver-binary= Xarchive,archive-options=
        use-local-env force-cl-env-setup noprof,dont-use-profile dryrun keep keep-dir= save-temps
        clean,clean-targets time= idp,input-drive-prefix= ddp,dependency-drive-prefix=
        dp,drive-prefix= -no-align-double,no-align-double nodlink,no-device-link e,entries=
        fdevice-syntax-only fdevice-time-trace= ewp,extensible-whole-program qpp-config
        astoolspatch,compile-as-tools-patch code-ls,list-gpu-code arch-ls,list-gpu-arch
        hls,host-linker-script= aug-hls,augment-host-linker-script r,relocatable-link
        reloc-ptx,relocatable-ptx sanitize= forward-unknown-to-host-compiler
        forward-unknown-to-host-linker forward-unknown-opts optf,options-file= V,version
    """,
})  # fmt: skip


def _options() -> Iterator[NvccOption]:
    for use, text in _NAMES.items():
        for word in text.split():
            names = word.rstrip("=").split(",")
            spellings = [f"-{names[0]}", f"--{names[-1]}"]
            spellings += ["--arch"] * (names[0] == "arch")  # of ours, for the usual mistake
            yield NvccOption(tuple(spellings), word.endswith("="), use)


#: All options, by each of their spellings.
NVCC_OPTIONS: Mapping[str, NvccOption] = MappingProxyType(
    {spelling: option for option in _options() for spelling in option.spellings}
)
#: Options whose value may follow without a space.
_ATTACHED = ("-I", "-D", "-U", "-L", "-l", "-O")
_ARCHITECTURE = re.compile(r"(compute_|sm_)?(\d{2,3})[af]?")
#: Options that name architectures, and values of theirs that leave the choice.
ARCHITECTURES = ("-arch", "-gencode")
_WHATEVER = ("native", "all", "all-major")


#: Ends of the names of CUDA sources, and of all that nvcc makes a program of.
CUDA_SUFFIX = ".cu"
INPUT_SUFFIXES = (CUDA_SUFFIX, ".c", ".cc", ".cpp", ".cxx", ".o", ".a", ".so")


def is_input(path: str | Path) -> bool:
    """Whether nvcc makes a program of a file: a source, an object or a library, by its name."""
    return Path(path).suffix in INPUT_SUFFIXES


def parse_words(words: Iterable[str]) -> Iterator[tuple[NvccOption | None, str]]:
    """Options of a command line for nvcc, each with its value, and other words, each alone.

    Raises
    ------
    ValueError
        If a value is missing, or one is not expected.
    """
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name not in NVCC_OPTIONS and word[:2] in _ATTACHED:
            name, equals, value = word[:2], "=", word[2:]
        option = NVCC_OPTIONS.get(name)
        if option is None:
            value = word
        elif option.has_value and not equals:
            given = next(left, None)
            if given is None:
                raise ValueError(f"Option {name} of nvcc must have a value, as in {name} VALUE")
            value = given
        elif equals and not option.has_value:
            raise ValueError(f"Option {name} of nvcc has no value: leave out ={value}")
        yield option, value


@dataclass(frozen=True)
class CompilerOptions:
    """How CUDA sources are compiled.

    Parameters
    ----------
    words : tuple of str
        Options as nvcc takes them, such as ``-I``, ``include``, ``-DRACY``, ``-arch=sm_90``.

    Raises
    ------
    ValueError
        If an option is unknown or refused, or a value is missing.
    """

    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option, _ in self._given:
            if option.use is Use.REFUSED:
                raise ValueError(
                    f"Option {option.name} of nvcc chooses what a build makes or keeps: leave it "
                    "out, or build with `racetrap nvcc` and run the program"
                )
        _ = self.capability

    @cached_property
    def _given(self) -> list[tuple[NvccOption, str]]:
        found = []
        for option, value in parse_words(self.words):
            if option is None:
                name = value.partition("=")[0]
                raise ValueError(unknown_name("option of nvcc", name, NVCC_OPTIONS, NVCC_HELP))
            found.append((option, value))
        return found

    @cached_property
    def _architecture(self) -> str:
        """Newest architecture that is named."""
        found = []
        for option, value in self._given:
            if option.name in ARCHITECTURES and value not in _WHATEVER:
                part = re.search(r"arch=([^,]*)", value) if option.name == "-gencode" else None
                name = part[1].strip() if part else value
                match = _ARCHITECTURE.fullmatch(name)
                found.append((int(match[2]) if match else -1, name))
        number, name = max(found, default=(CAPABILITIES[0], f"{CAPABILITIES[0]}"))
        if number not in CAPABILITIES:
            raise ValueError(
                f"Architecture must be from sm_{CAPABILITIES[0]} to sm_{CAPABILITIES[-1]}, as in "
                f"-arch=sm_90, not {name}"
            )
        return name.removeprefix("compute_").removeprefix("sm_")

    @property
    def capability(self) -> int:
        """Compute capability, 10 * major + minor."""
        return int(self._architecture.rstrip("af"))

    def within(self, *folders: Path) -> CompilerOptions:
        """The same, with headers also in ``folders``, last."""
        found = (word for each in folders for word in ("-I", str(each)))
        return CompilerOptions((*self.words, *found))

    @property
    def named(self) -> Mapping[str, str]:
        """First option given that sets the GPU, under ``-arch``, and first other, ``compiler``."""
        return {
            "-arch" if option.name in ARCHITECTURES else "compiler": option.name
            for option, _ in reversed(self._given)
        }

    def arguments(self) -> list[str]:
        """Arguments of nvcc, which makes PTX with line numbers."""
        architecture = f"compute_{self._architecture}"
        taken = [
            option.words(value)
            for option, value in self._given
            if option.use is Use.TAKEN and option.name not in ARCHITECTURES
        ]
        return [
            "-gencode", f"arch={architecture},code={architecture}", "-lineinfo", *chain(*taken)
        ]  # fmt: skip
