// What the drivers share: input by a rule that Python repeats, and results as lines of numbers.

#pragma once

#include <cstdio>
#include <type_traits>
#include <vector>

constexpr int INPUTS = 1000;

static unsigned input(unsigned i) { return (i * 2654435761u) >> 16; }

template <typename T> std::vector<T> inputs(int count, unsigned modulus, unsigned first = 0)
{
    std::vector<T> found(count);
    for (int i = 0; i < count; ++i) found[i] = T(input(first + i) % modulus);
    return found;
}
template <typename T> T *to_device(const std::vector<T> &host)
{
    T *device;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}
template <typename T> T *zeros(int count) { return to_device(std::vector<T>(count)); }
template <typename T> void print(const char *name, const T *device, int count)
{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    std::printf("%s", name);
    for (const T &value : host)
        if constexpr (std::is_floating_point_v<T>) std::printf(" %.9g", double(value));
        else std::printf(" %lld", (long long)value);
    std::printf("\n");
}
