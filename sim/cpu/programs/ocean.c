/* Red-black Gauss-Seidel on a square grid, as in ocean models: sweeps over red, then black points.
 *
 * Sharing: a thread owns rows and reads its neighbours' border rows; barriers between the colours.
 * Races: benign ones on the largest change of a sweep, which is read before the lock that
 * protects it is taken.
 */
#include <math.h>

#include "program.h"

enum { SWEEPS = 16 };

static double *grid, *source; /* (size + 2) squared, with the border */
static double largest_change[SWEEPS];
static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

/* Relax the points of one colour of a row; returns the largest change. */
static double relax(double *values, const double *sources, int row, int colour)
{
    int width = size + 2;
    double largest = 0;
    for (int column = 1 + (row + colour) % 2; column <= size; column += 2) {
        int at = row * width + column;
        double neighbours = values[at - width] + values[at + width] + values[at - 1] + values[at + 1];
        double changed = (neighbours + sources[at]) / 4;
        double change = fabs(changed - values[at]);
        largest = change > largest ? change : largest;
        values[at] = changed;
    }
    return largest;
}

static void note_change(int sweep, double change)
{
    if (change <= largest_change[sweep]) /* benign race: it only grows, so this saves the lock */
        return;
    pthread_mutex_lock(&change_lock);
    if (change > largest_change[sweep])
        largest_change[sweep] = change;
    pthread_mutex_unlock(&change_lock);
}

static void work(int self)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double change = 0;
        for (int colour = 0; colour < 2; colour++) {
            for (int row = 1 + first_of(self, size); row <= first_of(self + 1, size); row++)
                change = fmax(change, relax(grid, source, row, colour));
            pthread_barrier_wait(&barrier);
        }
        note_change(sweep, change);
        pthread_barrier_wait(&barrier);
        if (largest_change[sweep] < 1e-12)
            break;
    }
}

static void fill(double *values, double *sources)
{
    uint64_t state = seed;
    for (int at = 0; at < (size + 2) * (size + 2); at++) {
        values[at] = next_real(&state);
        sources[at] = next_real(&state);
    }
}

/* The same sweeps by one thread give the same bits. */
CHECK_ONLY static void check(void)
{
    int width = size + 2;
    double *values = allocate((size_t)width * width, sizeof *values);
    double *sources = allocate((size_t)width * width, sizeof *sources);
    uint64_t state = seed, checksum = 0;
    for (int at = 0; at < width * width; at++) {
        values[at] = next_real(&state);
        sources[at] = next_real(&state);
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int colour = 0; colour < 2; colour++)
            for (int row = 1; row <= size; row++)
                for (int column = 1 + (row + colour) % 2; column <= size; column += 2) {
                    int at = row * width + column;
                    values[at] = (values[at - width] + values[at + width] + values[at - 1] +
                                  values[at + 1] + sources[at]) / 4;
                }
    for (int at = 0; at < width * width; at++) {
        if (values[at] != grid[at])
            fail("a point is not the one of a sequential run");
        checksum = mixed(checksum, (uint64_t)(int64_t)(grid[at] * 0x1p40));
    }
    print_result(mixed(checksum, (uint64_t)(largest_change[SWEEPS - 1] * 0x1p40)));
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 4, 1024);
    grid = allocate((size_t)(size + 2) * (size + 2), sizeof *grid);
    source = allocate((size_t)(size + 2) * (size + 2), sizeof *source);
    fill(grid, source);
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
