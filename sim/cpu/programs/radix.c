/* Radix sort: histograms by thread, ranks of all threads' digits, then a permutation.
 *
 * Sharing: every thread reads all histograms and scatters its keys over the whole output, between
 * those of the other threads; barriers between the phases.
 * Races: none.
 */
#include <string.h>

#include "program.h"

enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS, KEY_BITS = 24 };

static uint32_t *keys, *sorted;
static int (*rank)[DIGITS]; /* of each thread: the histogram, then keys of earlier threads */
static int total[DIGITS];
static pthread_barrier_t barrier;

static int digit(uint32_t key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

static void count_digits(const uint32_t *from, int shift, int self)
{
    memset(rank[self], 0, sizeof rank[self]);
    for (int i = first_of(self, size); i < first_of(self + 1, size); i++)
        rank[self][digit(from[i], shift)]++;
}

/* Of a share of the digits: turn the threads' counts into the keys before each thread's. */
static void rank_digits(int self)
{
    for (int value = first_of(self, DIGITS); value < first_of(self + 1, DIGITS); value++) {
        int before = 0;
        for (int thread = 0; thread < threads; thread++) {
            int count = rank[thread][value];
            rank[thread][value] = before;
            before += count;
        }
        total[value] = before;
    }
}

static void permute(const uint32_t *from, uint32_t *to, int shift, int self)
{
    int before = 0;
    for (int value = 0; value < DIGITS; value++) {
        rank[self][value] += before;
        before += total[value];
    }
    for (int i = first_of(self, size); i < first_of(self + 1, size); i++)
        to[rank[self][digit(from[i], shift)]++] = from[i];
}

static void work(int self)
{
    uint32_t *from = keys, *to = sorted;
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        count_digits(from, shift, self);
        pthread_barrier_wait(&barrier);
        rank_digits(self);
        pthread_barrier_wait(&barrier);
        permute(from, to, shift, self);
        pthread_barrier_wait(&barrier);
        uint32_t *kept = from;
        from = to;
        to = kept;
    }
}

/* Sorted, and the same keys: their sum and the sum of their squares. */
CHECK_ONLY static void check(void)
{
    uint64_t state = seed, sum = 0, squares = 0, checksum = 0;
    for (int i = 0; i < size; i++) {
        uint64_t expected = next_random(&state) & ((1u << KEY_BITS) - 1), key = keys[i];
        if (i > 0 && keys[i - 1] > keys[i])
            fail("the keys are not sorted");
        sum += key - expected;
        squares += key * key - expected * expected;
        checksum = mixed(checksum, key);
    }
    if (sum != 0 || squares != 0)
        fail("the keys are not those of the input");
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 1 << 24);
    keys = allocate(size, sizeof *keys);
    sorted = allocate(size, sizeof *sorted);
    rank = allocate(threads, sizeof *rank);
    uint64_t state = seed;
    for (int i = 0; i < size; i++)
        keys[i] = next_random(&state) & ((1u << KEY_BITS) - 1);
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
