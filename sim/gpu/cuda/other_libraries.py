"""NVIDIA's other libraries: headers with which programs compile, and the functions that are refused
by name when they are called.

The headers are the last that the compiler looks for: those of NVIDIA's packages precede them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from racetrap.sim.content_cache import cache_folder, content_key, keep

_CUBLAS = """
    SDCZ: axpy copy rot rotg scal swap gbmv gemv tbmv tbsv tpmv tpsv trmv trsv gemm gemmBatched
    SDCZ: gemmStridedBatched symm syrk syr2k syrkx trmm trsm trsmBatched geam dgmm getrfBatched
    SDCZ: getriBatched getrsBatched matinvBatched geqrfBatched gelsBatched tpttr trttp symv syr syr2
    SD: dot nrm2 asum rotm rotmg ger sbmv spmv spr spr2
    CZ: dotu dotc geru gerc hemv hbmv hpmv her her2 hpr hpr2 hemm herk her2k herkx gemm3m
    Sc,Dz: nrm2 asum
    Cs,Zd: scal rot
    Is,Id,Ic,Iz: amax amin
    S,C: gemmEx
    H: gemm gemmBatched gemmStridedBatched
    : Create Destroy GetVersion GetProperty SetStream GetStream SetPointerMode GetPointerMode
    : SetMathMode GetMathMode SetAtomicsMode GetAtomicsMode SetWorkspace SetVector GetVector
    : SetMatrix GetMatrix SetVectorAsync GetVectorAsync SetMatrixAsync GetMatrixAsync
    : GetStatusName GetStatusString GemmEx GemmBatchedEx GemmStridedBatchedEx AxpyEx DotEx Nrm2Ex
    : ScalEx RotEx Init Shutdown Alloc Free GetError
"""
_CURAND = """
    : CreateGenerator CreateGeneratorHost DestroyGenerator GetVersion GetProperty SetStream
    : SetPseudoRandomGeneratorSeed SetGeneratorOffset SetGeneratorOrdering
    : SetQuasiRandomGeneratorDimensions Generate GenerateLongLong GenerateUniform
    : GenerateUniformDouble GenerateNormal GenerateNormalDouble GenerateLogNormal
    : GenerateLogNormalDouble GeneratePoisson GenerateSeeds CreatePoissonDistribution
    : DestroyDistribution GetDirectionVectors32 GetScrambleConstants32
"""
_CUFFT = """
    : Plan1d Plan2d Plan3d PlanMany Create Destroy MakePlan1d MakePlan2d MakePlan3d MakePlanMany
    : MakePlanMany64 Estimate1d Estimate2d Estimate3d EstimateMany GetSize GetSize1d GetSize2d
    : GetSize3d GetSizeMany SetWorkArea SetAutoAllocation ExecC2C ExecR2C ExecC2R ExecZ2Z ExecD2Z
    : ExecZ2D SetStream GetVersion GetProperty XtMakePlanMany XtExec
"""


class _Library(NamedTuple):
    """A library: beginning and type of its functions' results, their names, its declarations."""

    prefix: str
    status: str
    names: str
    declarations: str

    @property
    def functions(self) -> Iterator[str]:
        """Names of all functions."""
        for line in filter(None, map(str.strip, self.names.splitlines())):
            kinds, _, names = line.partition(":")
            each = kinds.split(",") if "," in kinds else list(kinds) or [""]
            for kind, name in product(each, names.split()):
                yield f"{self.prefix}{kind}{name}"


_LIBRARIES = MappingProxyType({
    "cublas": _Library("cublas", "cublasStatus_t", _CUBLAS, """
typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16 } cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3
  } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL
  } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH,
  CUBLAS_TF32_TENSOR_OP_MATH } cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
  } cublasComputeType_t;
"""),
    "curand": _Library("curand", "curandStatus_t", _CURAND, """
typedef struct curandGenerator_st *curandGenerator_t;
typedef enum { CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED, CURAND_STATUS_ALLOCATION_FAILED, CURAND_STATUS_TYPE_ERROR,
  CURAND_STATUS_OUT_OF_RANGE, CURAND_STATUS_LENGTH_NOT_MULTIPLE,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED, CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE, CURAND_STATUS_INITIALIZATION_FAILED,
  CURAND_STATUS_ARCH_MISMATCH, CURAND_STATUS_INTERNAL_ERROR = 999 } curandStatus_t;
typedef enum { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A
  = 121, CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10
  = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 } curandRngType_t;
typedef enum { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT,
  CURAND_ORDERING_PSEUDO_SEEDED, CURAND_ORDERING_PSEUDO_LEGACY, CURAND_ORDERING_QUASI_DEFAULT = 201
  } curandOrdering_t;
"""),
    "cufft": _Library("cufft", "cufftResult", _CUFFT, """
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef enum { CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE,
  CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED,
  CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA, CUFFT_INVALID_DEVICE = 11, CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED, CUFFT_NOT_SUPPORTED = 16 } cufftResult;
typedef cufftResult cufftResult_t;
typedef enum { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 } cufftType;
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
"""),
})  # fmt: skip

#: Names of each library's headers, and of what ``-l`` names.
_HEADERS = MappingProxyType({
    "cublas": ("cublas_v2.h", "cublas.h", "cublas_api.h"), "curand": ("curand.h",),
    "cufft": ("cufft.h", "cufftXt.h"),
})  # fmt: skip
LINKED = ("cublas", "cublasLt", "curand", "cufft", "cufftw", "nvToolsExt")

_PROFILER = """
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif
"""
#: They run, unlike those of the host.
_DEVICE_FUNCTIONS = """
#error "cuRAND's functions for kernels need NVIDIA's headers: pip install nvidia-curand"
"""
#: Ranges and marks for a profiler, without effect.
_MARKS = """
#include <stdint.h>
typedef uint64_t nvtxRangeId_t;
static inline int nvtxRangePushA(const char *text) { (void)text; return 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *text) { (void)text; return 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
static inline void nvtxMarkA(const char *text) { (void)text; }
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
"""
#: The same in C++.  CUB includes it beside the other, and leaves out its ranges without NVTX's own.
_RANGES = """
namespace nvtx3 {
struct scoped_range {
  explicit scoped_range(const char *) {}
};
}
#define NVTX3_FUNC_RANGE()
"""


def refused_functions() -> list[str]:
    """Functions of all libraries, also by the names that NVIDIA's headers give them."""
    names = [name for library in _LIBRARIES.values() for name in library.functions]
    return [*names, *(f"{name}_v2" for name in names if name.startswith("cublas"))]


def headers_folder() -> Path:
    """Folder of the headers."""
    texts = [
        *((name, each, _header(_LIBRARIES[each])) for each, names in _HEADERS.items()
          for name in names),
        ("cuda_profiler_api.h", "profiler", _PROFILER),
        ("curand_kernel.h", "curand_kernel", _DEVICE_FUNCTIONS), ("nvToolsExt.h", "marks", _MARKS),
        ("nvtx3/nvToolsExt.h", "marks", _MARKS), ("nvtx3/nvtx3.hpp", "ranges", _RANGES),
    ]  # fmt: skip

    def build(folder: Path) -> None:
        for name, guard, text in texts:
            (place := folder / name).parent.mkdir(parents=True, exist_ok=True)
            # A program may include several headers of one library.
            guard = f"RACETRAP_{guard.upper()}"
            place.write_text(f"#ifndef {guard}\n#define {guard}\n{text}#endif\n", "utf-8")

    return keep(cache_folder() / "cuda_headers" / content_key(str(texts)), build)


def _header(library: _Library) -> str:
    # Arguments are not checked: C++ takes any, and so does C, if none is declared.
    functions = "".join(f"{library.status} {name}(RACETRAP_ANY);\n" for name in library.functions)
    return f"""
#include <cuComplex.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
{library.declarations}
#ifdef __cplusplus
#define RACETRAP_ANY ...
extern "C" {{
#else
#define RACETRAP_ANY
#endif
{functions}
#ifdef __cplusplus
}}
#endif
#undef RACETRAP_ANY
"""
