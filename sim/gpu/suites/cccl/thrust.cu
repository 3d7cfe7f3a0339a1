// Algorithms of Thrust: each driver is compiled by its name, with the header that it needs.

#include "driver.cuh"

#include HEADER
#include <thrust/device_vector.h>
#ifdef DRIVER_thrust_merge
#include <thrust/sort.h>
#endif

struct IsOdd { __host__ __device__ bool operator()(int a) const { return a & 1; } };
struct Scale { __host__ __device__ float operator()(float x, float y) const { return 2.5f * x + y; } };

template <typename T> void show(const char *name, const thrust::device_vector<T> &vector)
{
    print(name, thrust::raw_pointer_cast(vector.data()), int(vector.size()));
}

int main()
{
    std::vector<int> host = inputs<int>(INPUTS, 1000), others = inputs<int>(INPUTS, 1000, INPUTS);
    thrust::device_vector<int> in(host.begin(), host.end()), more(others.begin(), others.end());
    thrust::device_vector<int> out(INPUTS);
#if defined(DRIVER_thrust_transform)
    thrust::device_vector<float> x(in), y(more), z(INPUTS);
    thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), Scale());
    show("out", z);
#elif defined(DRIVER_thrust_reduce)
    std::printf("out %d\n", thrust::reduce(in.begin(), in.end()));
#elif defined(DRIVER_thrust_inner_product)
    std::printf("out %d\n", thrust::inner_product(in.begin(), in.end(), more.begin(), 0));
#elif defined(DRIVER_thrust_scan)
    thrust::inclusive_scan(in.begin(), in.end(), out.begin());
    show("out", out);
#elif defined(DRIVER_thrust_sort)
    thrust::sort(in.begin(), in.end());
    show("out", in);
#elif defined(DRIVER_thrust_sort_by_key)
    thrust::stable_sort_by_key(in.begin(), in.end(), more.begin());
    show("out", in);
    show("more", more);
#elif defined(DRIVER_thrust_copy_if)
    auto end = thrust::copy_if(in.begin(), in.end(), out.begin(), IsOdd());
    std::printf("count %d\n", int(end - out.begin()));
    show("out", out);
#elif defined(DRIVER_thrust_unique)
    auto end = thrust::unique(in.begin(), in.end());
    std::printf("count %d\n", int(end - in.begin()));
#elif defined(DRIVER_thrust_count_if)
    std::printf("out %d\n", int(thrust::count_if(in.begin(), in.end(), IsOdd())));
#elif defined(DRIVER_thrust_max_element)
    std::printf("out %d\n", int(thrust::max_element(in.begin(), in.end()) - in.begin()));
#elif defined(DRIVER_thrust_gather)
    thrust::gather(more.begin(), more.end(), in.begin(), out.begin());
    show("out", out);
#elif defined(DRIVER_thrust_merge)
    thrust::sort(in.begin(), in.end());
    thrust::sort(more.begin(), more.end());
    thrust::device_vector<int> both(2 * INPUTS);
    thrust::merge(in.begin(), in.end(), more.begin(), more.end(), both.begin());
    show("out", both);
#elif defined(DRIVER_thrust_adjacent_difference)
    thrust::adjacent_difference(in.begin(), in.end(), out.begin());
    show("out", out);
#endif
}
