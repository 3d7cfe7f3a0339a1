// Sum of 256 numbers by a block.
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[256];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) *out = part[0];
}

int main() {
    int *in, *out;
    cudaMallocManaged(&in, 256 * sizeof *in);
    cudaMallocManaged(&out, sizeof *out);
    for (int number = 0; number < 256; ++number) in[number] = number;
    block_sum<<<1, 256>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
