/* One-dimensional FFT in six steps: the n = m * m points are a matrix, whose rows are transformed
 * between transpositions.
 *
 * Sharing: a thread owns rows; transpositions read all rows; barriers between the steps.
 * Races: none.
 */
#include <complex.h>
#include <math.h>

#include "program.h"

static int side; /* m, a power of two */
static double complex *points, *scratch, *roots;
static pthread_barrier_t barrier;

static void transpose(const double complex *from, double complex *to, int self)
{
    for (int row = first_of(self, side); row < first_of(self + 1, side); row++)
        for (int column = 0; column < side; column++)
            to[row * side + column] = from[column * side + row];
}

static void reverse_bits(double complex *row)
{
    for (int i = 1, j = 0; i < side; i++) {
        int bit = side >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex kept = row[i];
            row[i] = row[j];
            row[j] = kept;
        }
    }
}

/* roots[k] is exp(-2 pi i k / n), so those of the m points of a row are m apart. */
static void transform_row(double complex *row)
{
    reverse_bits(row);
    for (int half = 1; half < side; half *= 2)
        for (int start = 0; start < side; start += 2 * half)
            for (int k = 0; k < half; k++) {
                double complex even = row[start + k];
                double complex odd = row[start + k + half] * roots[k * (side / (2 * half)) * side];
                row[start + k] = even + odd;
                row[start + k + half] = even - odd;
            }
}

static void twist_row(double complex *row, int number)
{
    for (int column = 0; column < side; column++)
        row[column] *= roots[number * column];
}

static void work(int self)
{
    transpose(points, scratch, self);
    pthread_barrier_wait(&barrier);
    for (int row = first_of(self, side); row < first_of(self + 1, side); row++) {
        transform_row(scratch + row * side);
        twist_row(scratch + row * side, row);
    }
    pthread_barrier_wait(&barrier);
    transpose(scratch, points, self);
    pthread_barrier_wait(&barrier);
    for (int row = first_of(self, side); row < first_of(self + 1, side); row++)
        transform_row(points + row * side);
    pthread_barrier_wait(&barrier);
    transpose(points, scratch, self);
}

/* Some of the results against the definition, on the same input again. */
CHECK_ONLY static void check(void)
{
    int n = side * side;
    for (int k = 0; k < n; k += n / 16 + 1) {
        uint64_t state = seed;
        double complex expected = 0;
        for (int j = 0; j < n; j++) {
            double real = next_real(&state), imaginary = next_real(&state);
            double angle = -2 * M_PI * (double)((int64_t)j * k % n) / n;
            expected += (real + imaginary * I) * (cos(angle) + sin(angle) * I);
        }
        if (cabs(scratch[k] - expected) > 1e-9 * n)
            fail("a coefficient is not the one of the definition");
    }
}

CHECK_ONLY static void print_checksum(void)
{
    uint64_t checksum = 0;
    for (int k = 0; k < side * side; k++)
        checksum = mixed(checksum, (uint64_t)(int64_t)(creal(scratch[k]) * 0x1p20));
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 10);
    side = 1 << size;
    int n = side * side;
    points = allocate(n, sizeof *points);
    scratch = allocate(n, sizeof *scratch);
    roots = allocate(n, sizeof *roots);
    uint64_t state = seed;
    for (int k = 0; k < n; k++) {
        double real = next_real(&state), imaginary = next_real(&state);
        points[k] = real + imaginary * I;
        roots[k] = cos(-2 * M_PI * k / n) + sin(-2 * M_PI * k / n) * I;
    }
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    print_checksum();
    return 0;
}
