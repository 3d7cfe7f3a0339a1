/* Dense LU factorisation without pivoting, in blocks that lie together in memory.
 *
 * Sharing: blocks are dealt out to the threads in two dimensions; a thread reads the blocks of the
 * pivot's row and column, which others wrote before the last barrier.
 * Races: none.
 */
#include <math.h>

#include "program.h"

enum { EDGE = 8 }; /* rows and columns of a block */

typedef double block[EDGE][EDGE];

static int blocks; /* in each dimension */
static block *matrix;
static pthread_barrier_t barrier;

static block *block_at(int row, int column)
{
    return &matrix[row * blocks + column];
}

/* A thread for each block, such that a row and a column of blocks have many. */
static int owner(int row, int column)
{
    int rows = 1;
    while (rows * rows * 4 <= threads)
        rows *= 2;
    int columns = threads / rows;
    return row % rows * columns + column % columns;
}

/* An element of the input: the diagonal dominates, so no pivoting is needed. */
static double element(int row, int column)
{
    uint64_t state = seed ^ ((uint64_t)row << 32 | (uint32_t)column);
    return next_real(&state) + (row == column ? size : 0);
}

static void factor(block *pivot)
{
    for (int k = 0; k < EDGE; k++)
        for (int i = k + 1; i < EDGE; i++) {
            (*pivot)[i][k] /= (*pivot)[k][k];
            for (int j = k + 1; j < EDGE; j++)
                (*pivot)[i][j] -= (*pivot)[i][k] * (*pivot)[k][j];
        }
}

static void solve_row(block *pivot, block *right)
{
    for (int k = 0; k < EDGE; k++)
        for (int i = k + 1; i < EDGE; i++)
            for (int j = 0; j < EDGE; j++)
                (*right)[i][j] -= (*pivot)[i][k] * (*right)[k][j];
}

static void solve_column(block *pivot, block *below)
{
    for (int i = 0; i < EDGE; i++)
        for (int k = 0; k < EDGE; k++) {
            (*below)[i][k] /= (*pivot)[k][k];
            for (int j = k + 1; j < EDGE; j++)
                (*below)[i][j] -= (*below)[i][k] * (*pivot)[k][j];
        }
}

static void update(block *inner, block *left, block *above)
{
    for (int i = 0; i < EDGE; i++)
        for (int k = 0; k < EDGE; k++) {
            double scale = (*left)[i][k];
            for (int j = 0; j < EDGE; j++)
                (*inner)[i][j] -= scale * (*above)[k][j];
        }
}

static void update_inner(int step, int self)
{
    for (int row = step + 1; row < blocks; row++)
        for (int column = step + 1; column < blocks; column++)
            if (owner(row, column) == self)
                update(block_at(row, column), block_at(row, step), block_at(step, column));
}

static void work(int self)
{
    for (int step = 0; step < blocks; step++) {
        block *pivot = block_at(step, step);
        if (owner(step, step) == self)
            factor(pivot);
        pthread_barrier_wait(&barrier);
        for (int other = step + 1; other < blocks; other++) {
            if (owner(step, other) == self)
                solve_row(pivot, block_at(step, other));
            if (owner(other, step) == self)
                solve_column(pivot, block_at(other, step));
        }
        pthread_barrier_wait(&barrier);
        update_inner(step, self);
        pthread_barrier_wait(&barrier);
    }
}

CHECK_ONLY static double factored(int row, int column)
{
    return matrix[row / EDGE * blocks + column / EDGE][row % EDGE][column % EDGE];
}

/* L (U x) against A x for one vector x. */
CHECK_ONLY static void check(void)
{
    double *middle = allocate(size, sizeof *middle);
    for (int row = 0; row < size; row++)
        for (int column = row; column < size; column++)
            middle[row] += factored(row, column) * (1 + column % 7);
    for (int row = 0; row < size; row++) {
        double got = middle[row], expected = 0;
        for (int column = 0; column < row; column++)
            got += factored(row, column) * middle[column];
        for (int column = 0; column < size; column++)
            expected += element(row, column) * (1 + column % 7);
        if (!(fabs(got - expected) <= 1e-9 * size * size))
            fail("the product of the factors is not the matrix");
    }
    free(middle);
}

CHECK_ONLY static void print_checksum(void)
{
    uint64_t checksum = 0;
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            checksum = mixed(checksum, (uint64_t)(int64_t)(factored(row, column) * 0x1p30));
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, EDGE, 1024);
    size -= size % EDGE;
    blocks = size / EDGE;
    matrix = allocate((size_t)blocks * blocks, sizeof *matrix);
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            (*block_at(row / EDGE, column / EDGE))[row % EDGE][column % EDGE] =
                element(row, column);
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    print_checksum();
    return 0;
}
