// Functions by their address, and functions of the runtime: malloc, printf, assert.

#include "common.cuh"

__device__ __noinline__ void store_own(int *data, int value) { data[threadIdx.x] = value; }
__device__ __noinline__ void store_next(int *data, int value) { data[threadIdx.x + 1] = value; }
__device__ __noinline__ void store_first(int *data, int value) { data[0] = value; }

// Lanes that call different functions by a register.
#define CALL_BY_REGISTER(NAME, ODD, EVEN)                                \
    KERNEL(NAME)                                                         \
    {                                                                    \
        void (*chosen)(int *, int) = threadIdx.x % 2 ? ODD : EVEN;       \
        chosen(data, threadIdx.x);                                       \
    }
CALL_BY_REGISTER(called_own_words, store_own, store_own)
CALL_BY_REGISTER(called_words_of_others, store_own, store_next)

// Functions whose addresses are in memory.
__device__ void (*table[2])(int *, int) = {store_own, store_first};
KERNEL(table_own_words) { table[sync[0]](data, threadIdx.x); }
KERNEL(table_one_word) { table[sync[0] + 1](data, threadIdx.x); }

struct Writer {
    __device__ virtual void write(int *data) const { data[threadIdx.x] = threadIdx.x; }
};
struct FirstWriter : Writer {
    __device__ void write(int *data) const override { data[0] = threadIdx.x; }
};
template <class Kind> static __device__ void write_by(int *data, int *sync)
{
    Kind own;
    Writer *writer = sync[0] ? nullptr : &own;
    writer->write(data);
}
KERNEL(virtual_own_words) { write_by<Writer>(data, sync); }
KERNEL(virtual_one_word) { write_by<FirstWriter>(data, sync); }

// A buffer that one block allocates and another reads.
#define ALLOCATED(NAME, RELEASE)                                                             \
    KERNEL(NAME)                                                                             \
    {                                                                                        \
        int *buffer = nullptr;                                                               \
        if (blockIdx.x == 0) {                                                               \
            buffer = (int *)malloc(4);                                                       \
            buffer[0] = 42;                                                                  \
            asm volatile("st." RELEASE " [%0], %1;" ::"l"(sync), "l"(buffer) : "memory");    \
        } else {                                                                             \
            while (buffer == nullptr)                                                        \
                asm volatile("ld.acquire.gpu.u64 %0, [%1];"                                  \
                             : "=l"(buffer) : "l"(sync) : "memory");                         \
            data[0] = buffer[0];                                                             \
            free(buffer);                                                                    \
        }                                                                                    \
    }
ALLOCATED(malloc_released, "release.gpu.u64")
ALLOCATED(malloc_relaxed, "relaxed.gpu.u64")

// What is printed and asserted is read.
#define READ_BY(NAME, BARRIER, READ)                  \
    KERNEL(NAME)                                      \
    {                                                 \
        data[threadIdx.x] = threadIdx.x;              \
        BARRIER;                                      \
        int value = data[threadIdx.x ^ 32];           \
        READ;                                         \
    }
READ_BY(asserted_behind_barrier, __syncthreads(), assert(value >= 0))
READ_BY(asserted_without_barrier, , assert(value >= 0))

READ_BY(printed_behind_barrier, __syncthreads(), if (threadIdx.x == 0) printf("%d\n", value))
READ_BY(printed_without_barrier, , if (threadIdx.x == 0) printf("%d\n", value))
