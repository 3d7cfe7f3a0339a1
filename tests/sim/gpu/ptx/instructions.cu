// One of everything that a compiler makes of integer and f32 kernels: read by tests, never run.

struct Pair {
    int a;
    float b;
    double c;
};
typedef int (*Operation)(int, int);

extern "C" __device__ int printf(const char *, ...);

__device__ unsigned counter = 7;
__device__ int table[4] = {1, -2, 3, 4};
__device__ Pair pairs[2] = {{1, 2.5f, 3.0}, {4, 5.5f, 6.0}};
__device__ int *into_table = table + 2;
__device__ __managed__ long long managed = -5;
__device__ double real = 2.5;
__constant__ float weights[8] = {1, 2, 3, 4, 0.1f, -1};
__constant__ int unset[4];
__shared__ int shared_of_module[4];
extern __shared__ int dynamic[];

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ Operation operations[2] = {add, subtract};

__device__ __noinline__ int use(int a, Pair p) { return a * p.a + (int)p.b; }
__device__ __noinline__ void no_result(int *p) { *p = 3; }
__device__ __noinline__ Pair make(int a) { return {a, (float)a, (double)a}; }
__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ void lock(int *m) {
    while (atomicCAS(m, 0, 1) != 0);
    __threadfence();
}
__device__ void unlock(int *m) {
    __threadfence();
    atomicExch(m, 0);
}

extern "C" __global__ void atomics(unsigned *u, int *s, unsigned long long *l, float *f, double *d) {
    atomicAdd(u, 1);
    atomicSub(u, 1);
    atomicMin(u, 3u);
    atomicMax(s, -3);
    atomicInc(u, 5);
    atomicDec(u, 6);
    atomicAnd(u, 5);
    atomicOr(u, 6);
    atomicXor(u, 7);
    atomicAdd(f, 1.5f);
    atomicAdd(d, 1.5);
    l[1] = atomicAdd(l, 5ull);
    l[2] = atomicCAS(l, 5ull, 6ull);
    l[3] = atomicExch(l, 8ull);
    atomicMax((long long *)l, 7ll);
    u[1] = atomicAdd_block(u, 1);
    u[2] = atomicCAS_system(u, 1, 2);
    atomicExch_block(u, 2);
    f[3] = atomicExch(f, 2.0f);
    __threadfence_block();
    __threadfence_system();
    lock(s);
    s[4] += threadIdx.x;
    unlock(s);
}

extern "C" __global__ void memory(volatile int *v, const int *__restrict__ n, int4 *w, short *h,
                                  unsigned char *c, float2 *g, double2 *d) {
    __shared__ int s[32];
    __shared__ volatile float vs[32];
    int local[16];
    int i = threadIdx.x;
    for (int k = 0; k < 16; k++) local[k] = v[k];
    s[i] = n[i];
    vs[i] = i;
    dynamic[i] = i;
    shared_of_module[i & 3] = i;
    __syncthreads();
    w[i + 1] = w[i];
    h[i] = h[i + 1] + c[i];
    c[i] = (unsigned char)h[i];
    g[i] = make_float2(1, 2);
    d[i + 3] = d[i];
    v[i] = s[31 - i] + local[i & 15] + dynamic[31 - i] + shared_of_module[1] + (int)vs[5];
    __stcg((int *)v + 7, __ldcg(n + 3));
    v[9] = into_table[i & 1] + (int)weights[i] + unset[i & 3] + counter + pairs[1].a;
    v[10] = managed + (int)real;
}

extern "C" __global__ void warp(int *out, float *f) {
    int i = threadIdx.x, all;
    int x = __shfl_sync(~0u, i, 3) + __shfl_down_sync(~0u, i, 1) + __shfl_up_sync(~0u, i, 1);
    x += __shfl_xor_sync(~0u, i, 1) + __ballot_sync(~0u, i > 3) + __any_sync(~0u, i);
    x += __all_sync(~0u, i) + __activemask();
    f[i] = __shfl_down_sync(0xffu, f[i], 2, 8);
    __syncwarp();
    __syncwarp(0xff);
    x += __syncthreads_or(i) + __syncthreads_and(i) + __syncthreads_count(i);
    x += __match_any_sync(~0u, i) + __match_all_sync(~0u, i, &all) + all;
    x += threadIdx.y + threadIdx.z + blockDim.y * gridDim.z + blockIdx.y + warpSize;
    unsigned lane, below;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[i] = x + lane + below + clock() + clock64();
    __nanosleep(20);
}

extern "C" __global__ void arithmetic(int *o, unsigned *u, long long *l, float *f, double *d) {
    int i = threadIdx.x, a = o[i], b = o[i + 1];
    unsigned x = u[i], y = u[i + 1];
    long long m = l[i], n = l[i + 1];
    float p = f[i], q = f[i + 1];
    o[2] = a / b + a % b + max(a, b) + min(a, b) + abs(a) + -a + (a ^ b) + (a & ~b);
    o[3] = (a << b) + (a >> b) + __mul24(a, b) + __dp4a(a, b, 3) + __vadd4(x, y);
    u[2] = x / y + x % y + __umulhi(x, y) + __popc(x) + __clz(x) + __ffs(x) + __brev(x);
    u[3] = __byte_perm(x, y, 0x1234) + (x >> y) + __sad(a, b, x) + ((x >> 5) & 0x1f);
    u[4] = __funnelshift_l(x, y, 5) + __funnelshift_r(x, y, a) + __float2uint_rz(p);
    l[2] = m / n + m % n + (long long)a * b + m * n + __mul64hi(m, n);
    l[3] = __popcll(m) + __clzll(m) + (m >> 3);
    f[2] = p / q + sqrtf(p) + fmaf(p, q, p) + fminf(p, q) + fmaxf(p, q) + fabsf(p) + rsqrtf(p);
    f[3] = __expf(p) + __logf(q) + __sinf(p) + copysignf(p, q) + truncf(p) + floorf(q);
    f[4] = ceilf(p) + rintf(q) + __fdividef(p, q) + __frcp_rn(p) + __fadd_rz(p, q) + expf(p);
    f[5] = (float)a + (float)x + (float)m + (isnan(p) ? 1.0f : 0.f) + __saturatef(p) + 1e-10f;
    o[4] = (int)p + __float2int_rn(q) + __float_as_int(p) + (p < q) + (p != q) + !(p > q);
    o[5] = (int)(char)a + (short)b + __double2int_rz(d[1]) + ((x < y && a < b) || p < q);
    d[2] = d[3] * d[4] + sqrt(d[5]) + 1.5 + a;
}

extern "C" __global__ void flow(int *o, int n, Pair p, char c, short h, bool yes) {
    int i = threadIdx.x;
    if (i > n) return;
    switch (o[i]) {
        case 0: o[1] = 5; break;
        case 1: o[2] = n + 4; break;
        case 2: o[3] = n * n; break;
        case 3: o[4] = n - 7; break;
        case 4: o[9] = atomicAdd(o + 3, 1); break;
        case 5: o[3] = fibonacci(n); break;
        default: o[7] = c + h + yes;
    }
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (o[k] == 3) break;
        if (o[k] == 4) continue;
        o[k]++;
        if (o[k + 1] == 17) return;
    }
    o[i] = use(i, p);
    no_result(o);
    Pair r = make(i);
    o[3] += r.a + (int)r.b + (int)r.c + operations[i & 1](3, 4);
    if (o[5] == 12345) __trap();
    if (o[6] == 5) printf("hello %d\n", o[7]);
    long long both;
    asm volatile("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(i), "r"(n));
    asm volatile("mov.b64 {_, %0}, %1;" : "=r"(o[10]) : "l"(both));
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 3; @!p bra DONE; add.u32 %0, %1, 0x10; DONE: }"
                 : "=r"(o[11])
                 : "r"(n));
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, 4; @p bra DONE; DONE: }" : : "r"(n));
}

template <int N>
__global__ void __launch_bounds__(128, 2) instance(int *p) {
    p[threadIdx.x] = N;
}
template __global__ void instance<3>(int *);
