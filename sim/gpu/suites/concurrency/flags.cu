// Message passing: one thread writes data and raises a flag, another waits for it and reads.

#include "common.cuh"

template <Scope before, Scope after>
static __device__ __forceinline__ void pass_message(int *data, int *flag, bool writer)
{
    if (writer) {
        poke(data, 1);
        fence<before>();
        poke(flag, 1);
    } else {
        while (peek(flag) == 0) {
        }
        fence<after>();
        poke(data + 32, peek(data));
    }
}

#define MESSAGE(NAME, BEFORE, AFTER)                                   \
    KERNEL(message_warps_##NAME)                                       \
    {                                                                  \
        if (threadIdx.x % 32 == 0)                                     \
            pass_message<BEFORE, AFTER>(data, sync, threadIdx.x == 0); \
    }                                                                  \
    KERNEL(message_blocks_##NAME)                                      \
    {                                                                  \
        pass_message<BEFORE, AFTER>(data, sync, blockIdx.x == 0);      \
    }
MESSAGE(none_none, NONE, NONE)
MESSAGE(none_block, NONE, BLOCK)
MESSAGE(none_device, NONE, DEVICE)
MESSAGE(block_none, BLOCK, NONE)
MESSAGE(block_block, BLOCK, BLOCK)
MESSAGE(block_device, BLOCK, DEVICE)
MESSAGE(device_none, DEVICE, NONE)
MESSAGE(device_block, DEVICE, BLOCK)
MESSAGE(device_device, DEVICE, DEVICE)

template <Scope scope> static __device__ __forceinline__ void pass_in_shared(int *data)
{
    __shared__ volatile int message, flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        message = 1;
        fence<scope>();
        flag = 1;
    }
    if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        fence<scope>();
        data[0] = message;
    }
}

KERNEL(message_shared_block) { pass_in_shared<BLOCK>(data); }
KERNEL(message_shared_none) { pass_in_shared<NONE>(data); }

// The flag is consumed by an exchange, as the ScoR suite does.
template <Scope before, Scope around>
static __device__ __forceinline__ void pass_by_exchange(int *data, int *flag)
{
    if (blockIdx.x == 0) {
        poke(data, 1);
        fence<before>();
        atomicExch(flag, 1);
    } else {
        int raised;
        do {
            fence<around>();
            raised = atomicExch(flag, 0);
            fence<around>();
        } while (!raised);
        poke(data + 32, peek(data));
    }
}

KERNEL(exchange_flag) { pass_by_exchange<DEVICE, DEVICE>(data, sync); }
KERNEL(exchange_flag_reader_unfenced) { pass_by_exchange<DEVICE, NONE>(data, sync); }
KERNEL(exchange_flag_writer_unfenced) { pass_by_exchange<NONE, DEVICE>(data, sync); }
KERNEL(exchange_flag_block_fences) { pass_by_exchange<BLOCK, BLOCK>(data, sync); }
KERNEL(exchange_flag_writer_block) { pass_by_exchange<BLOCK, DEVICE>(data, sync); }
KERNEL(exchange_flag_reader_block) { pass_by_exchange<DEVICE, BLOCK>(data, sync); }

KERNEL(flag_before_data)
{
    if (blockIdx.x == 0) {
        poke(sync, 1);
        __threadfence();
        poke(data, 1);
    } else {
        while (peek(sync) == 0) {
        }
        __threadfence();
        poke(data + 32, peek(data));
    }
}

KERNEL(read_before_flag)
{
    if (blockIdx.x == 0) {
        poke(data, 1);
        __threadfence();
        poke(sync, 1);
    } else {
        const int early = peek(data);
        while (peek(sync) == 0) {
        }
        __threadfence();
        poke(data + 32, early);
    }
}

KERNEL(writer_looks_back)
{
    if (blockIdx.x == 0) {
        __threadfence();
        poke(sync, 1);
        poke(data + 32, peek(data));
    } else {
        while (peek(sync) == 0) {
        }
        __threadfence();
        poke(data, 1);
    }
}

// Flags that only atomics touch: raised behind a fence, awaited between fences.
template <Scope scope> static __device__ __forceinline__ void raise(int *flag, int value)
{
    fence<scope>();
    atomicExch(flag, value);
}

template <Scope scope> static __device__ __forceinline__ void await(int *flag, int value)
{
    int seen;
    do {
        fence<scope>();
        seen = atomicAdd(flag, 0);
        fence<scope>();
    } while (seen < value);
}

KERNEL(weak_data)
{
    if (blockIdx.x == 0) {
        data[0] = 1;
        raise<DEVICE>(sync, 1);
    } else {
        await<DEVICE>(sync, 1);
        data[32] = data[0];
    }
}

KERNEL(ping_pong)
{
#pragma unroll 1
    for (int turn = 0; turn < 4; turn++) {
        if (turn % 2 == blockIdx.x) {
            poke(data, peek(data) + 1);
            raise<DEVICE>(sync, turn + 1);
        } else {
            await<DEVICE>(sync, turn + 1);
        }
    }
}

// Three blocks; the last reads what the first wrote, having heard only from the second.
KERNEL(chain_of_blocks)
{
    const int b = blockIdx.x;
    if (b == 0)
        poke(data, 1);
    else
        await<DEVICE>(sync + b - 1, 1);
    if (b == 2)
        poke(data + 32, peek(data));
    else
        raise<DEVICE>(sync + b, 1);
}

// Writer and go-between in one block, with block fences; the go-between signals the other block.
template <Scope between_blocks> static __device__ __forceinline__ void relay(int *data, int *sync)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        poke(data, 1);
        raise<BLOCK>(sync, 1);
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        await<BLOCK>(sync, 1);
        raise<between_blocks>(sync + 1, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        await<between_blocks>(sync + 1, 1);
        poke(data + 32, peek(data));
    }
}

KERNEL(relay_block_then_device) { relay<DEVICE>(data, sync); }
KERNEL(relay_block_then_block) { relay<BLOCK>(data, sync); }

#define ACQUIRE_RELEASE(NAME, STORE, LOAD)                                             \
    KERNEL(NAME)                                                                       \
    {                                                                                  \
        if (blockIdx.x == 0) {                                                         \
            poke(data, 1);                                                             \
            asm volatile(STORE " [%0], %1;" ::"l"(sync), "r"(1) : "memory");           \
        } else {                                                                       \
            int raised;                                                                \
            do                                                                         \
                asm volatile(LOAD " %0, [%1];" : "=r"(raised) : "l"(sync) : "memory"); \
            while (!raised);                                                           \
            poke(data + 32, peek(data));                                               \
        }                                                                              \
    }
ACQUIRE_RELEASE(acquire_release_device, "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32")
ACQUIRE_RELEASE(acquire_release_block, "st.release.cta.global.u32", "ld.acquire.cta.global.u32")
ACQUIRE_RELEASE(relaxed_device, "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32")
