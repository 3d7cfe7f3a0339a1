// Float operations in each rounding mode, as inner loops of NumPy's ufuncs.
//
// The processor rounds: its mode is set around each row.

#include <cfenv>
#include <cmath>
#include <cstdint>

namespace {

class RoundingMode {
    int before = std::fegetround();

public:
    explicit RoundingMode(int mode) { std::fesetround(mode); }
    ~RoundingMode() { std::fesetround(before); }
};

// A value of a source or of the destination: the `number`th of the loop's arrays.
template <typename T> T &value(char **arrays, const intptr_t *steps, intptr_t row, int number) {
    return *reinterpret_cast<T *>(arrays[number] + row * steps[number]);
}

} // namespace

#define LOOP(name, type, suffix, mode, sources, expression)                                        \
    extern "C" void name##_##suffix(                                                               \
        char **arrays, const intptr_t *count, const intptr_t *steps, void *) {                     \
        RoundingMode rounding(mode);                                                               \
        auto x = [&](intptr_t row, int number) -> type & {                                         \
            return value<type>(arrays, steps, row, number);                                        \
        };                                                                                         \
        for (intptr_t i = 0; i < *count; ++i)                                                      \
            x(i, sources) = expression;                                                            \
    }
#define TYPE(type, suffix, mode)                                                                   \
    LOOP(add, type, suffix, mode, 2, x(i, 0) + x(i, 1))                                            \
    LOOP(sub, type, suffix, mode, 2, x(i, 0) - x(i, 1))                                            \
    LOOP(mul, type, suffix, mode, 2, x(i, 0) * x(i, 1))                                            \
    LOOP(div, type, suffix, mode, 2, x(i, 0) / x(i, 1))                                            \
    LOOP(rcp, type, suffix, mode, 1, 1 / x(i, 0))                                                  \
    LOOP(sqrt, type, suffix, mode, 1, std::sqrt(x(i, 0)))                                          \
    LOOP(fma, type, suffix, mode, 3, std::fma(x(i, 0), x(i, 1), x(i, 2)))
#define MODE(suffix, mode)                                                                         \
    TYPE(float, f32_##suffix, mode)                                                                \
    TYPE(double, f64_##suffix, mode)

MODE(rn, FE_TONEAREST)
MODE(rz, FE_TOWARDZERO)
MODE(rm, FE_DOWNWARD)
MODE(rp, FE_UPWARD)
