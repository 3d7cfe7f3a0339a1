/* Sparse Cholesky factorisation by columns of blocks: independent groups and a separator that
 * all of them update.  A column that has received all its updates becomes a task.
 *
 * Sharing: one task queue (mutex and condition variable); a column is updated under its lock.
 * Races: benign ones on the number of columns taken, which is read before the lock is taken.
 */
#include <math.h>
#include <sched.h>

#include "program.h"

enum { EDGE = 6, GROUPS = 8 }; /* rows and columns of a block; independent groups of columns */

typedef double block[EDGE][EDGE];

struct column {
    pthread_mutex_t lock;
    int missing; /* updates that have not come yet */
    block *rows; /* a block for each row of blocks from the diagonal on, where there is one */
};

static struct column *column;
static int columns;  /* of blocks: as many in the separator as in a group */
static int elements; /* rows and columns of the matrix */

static pthread_barrier_t start;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    int *columns;
    int put, taken;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER};

/* Whether there is a block below the diagonal: within a group, and in the separator's rows. */
static int is_present(int row, int of)
{
    return row >= GROUPS * size || row / size == of / size;
}

static double element(int row, int of)
{
    uint64_t state = seed ^ ((uint64_t)row << 32 | (uint32_t)of);
    return row == of ? 2.0 * elements : next_real(&state);
}

static void put_task(int number)
{
    pthread_mutex_lock(&queue.lock);
    queue.columns[queue.put++] = number;
    pthread_cond_signal(&queue.ready);
    pthread_mutex_unlock(&queue.lock);
}

/* The next column, or -1 if all have been taken. */
static int take_task(void)
{
    int number = -1;
    if (queue.taken == columns) /* benign race: an old value only leads to the lock */
        return -1;
    pthread_mutex_lock(&queue.lock);
    while (queue.taken == queue.put && queue.taken < columns)
        pthread_cond_wait(&queue.ready, &queue.lock);
    if (queue.taken < columns) {
        number = queue.columns[queue.taken++];
        if (queue.taken == columns)
            pthread_cond_broadcast(&queue.ready);
    }
    pthread_mutex_unlock(&queue.lock);
    return number;
}

static void factor_diagonal(block *diagonal)
{
    for (int k = 0; k < EDGE; k++) {
        (*diagonal)[k][k] = sqrt((*diagonal)[k][k]);
        for (int i = k + 1; i < EDGE; i++)
            (*diagonal)[i][k] /= (*diagonal)[k][k];
        for (int j = k + 1; j < EDGE; j++)
            for (int i = j; i < EDGE; i++)
                (*diagonal)[i][j] -= (*diagonal)[i][k] * (*diagonal)[j][k];
    }
}

static void solve(block *diagonal, block *below)
{
    for (int i = 0; i < EDGE; i++)
        for (int k = 0; k < EDGE; k++) {
            double sum = (*below)[i][k];
            for (int j = 0; j < k; j++)
                sum -= (*below)[i][j] * (*diagonal)[k][j];
            (*below)[i][k] = sum / (*diagonal)[k][k];
        }
}

static void factor(int number)
{
    struct column *own = &column[number];
    factor_diagonal(&own->rows[number]);
    for (int row = number + 1; row < columns; row++)
        if (is_present(row, number))
            solve(&own->rows[number], &own->rows[row]);
}

static void subtract_product(block *target, block *left, block *right)
{
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++) {
            double sum = 0;
            for (int k = 0; k < EDGE; k++)
                sum += (*left)[i][k] * (*right)[j][k];
            (*target)[i][j] -= sum;
        }
}

/* What a factored column does to a later one. */
static void update(struct column *target, int number, const struct column *source)
{
    int missing;
    pthread_mutex_lock(&target->lock);
    for (int row = number; row < columns; row++)
        if (is_present(row, number))
            subtract_product(&target->rows[row], &source->rows[row], &source->rows[number]);
    missing = --target->missing;
    pthread_mutex_unlock(&target->lock);
    if (missing == 0)
        put_task(number);
}

static void work(int self)
{
    (void)self;
    pthread_barrier_wait(&start);
    for (int number; (number = take_task()) >= 0;) {
        factor(number);
        for (int later = number + 1; later < columns; later++)
            if (is_present(later, number))
                update(&column[later], later, &column[number]);
        sched_yield(); /* with fewer processors than threads, all shall get tasks */
    }
}

CHECK_ONLY static double factored(int row, int of)
{
    if (row < of || !is_present(row / EDGE, of / EDGE))
        return 0;
    return column[of / EDGE].rows[row / EDGE][row % EDGE][of % EDGE];
}

/* L (L' x) against A x for one vector x. */
CHECK_ONLY static void check(void)
{
    double trace = 0, *middle = allocate(elements, sizeof *middle);
    for (int of = 0; of < elements; of++)
        for (int row = of; row < elements; row++)
            middle[of] += factored(row, of) * (1 + row % 5);
    for (int row = 0; row < elements; row++) {
        double got = 0, expected = 0;
        for (int of = 0; of <= row; of++)
            got += factored(row, of) * middle[of];
        for (int of = 0; of < elements; of++) {
            int low = row > of ? row : of, high = row > of ? of : row;
            if (is_present(low / EDGE, high / EDGE))
                expected += element(low, high) * (1 + of % 5);
        }
        if (!(fabs(got - expected) <= 1e-9 * elements * elements))
            fail("the product of the factors is not the matrix");
        trace += factored(row, row);
    }
    free(middle);
    /* Updates come in any order, so the last bits of the sums differ. */
    print_result((uint64_t)(trace * 0x1p16));
}

static void fill(int number)
{
    column[number].rows = allocate(columns, sizeof(block));
    for (int row = number; row < columns; row++)
        for (int i = 0; i < EDGE && is_present(row, number); i++)
            for (int j = 0; j < EDGE; j++) {
                int low = row * EDGE + i, high = number * EDGE + j;
                column[number].rows[row][i][j] = low < high ? 0 : element(low, high);
            }
    for (int earlier = 0; earlier < number; earlier++)
        column[number].missing += is_present(number, earlier);
    pthread_mutex_init(&column[number].lock, NULL);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 64);
    columns = (GROUPS + 1) * size;
    elements = columns * EDGE;
    column = allocate(columns, sizeof *column);
    queue.columns = allocate(columns, sizeof *queue.columns);
    for (int number = 0; number < columns; number++) {
        fill(number);
        if (column[number].missing == 0)
            put_task(number);
    }
    pthread_barrier_init(&start, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
