/* Clustering of a stream of points: candidates are opened as centres if that pays for all points.
 *
 * Sharing: the first thread proposes (mutex and condition variable), every thread reads the
 * candidate's point and adds up what its own points gain; barriers before the sums are read.
 * Races: benign ones on the marks of centres in use, which all threads only ever set to 1.
 */
#include <string.h>

#include "program.h"

enum { AXES = 8, CANDIDATES = 24, FACILITY_COST = 1 << 17 };

static int (*points)[AXES];
static int64_t *cost; /* squared distance of each point to its centre */
static int *centre;   /* of each point, a point */
static int64_t gain[MAX_THREADS][8];
static char *is_used;
static int used;
static pthread_barrier_t barrier;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int round, point;
} candidate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int64_t squared_distance(const int *one, const int *other)
{
    int64_t sum = 0;
    for (int axis = 0; axis < AXES; axis++) {
        int64_t along = one[axis] - other[axis];
        sum += along * along;
    }
    return sum;
}

static void propose(int round, uint64_t *state)
{
    int point = (int)(next_random(state) % (uint64_t)size);
    pthread_mutex_lock(&candidate.lock);
    candidate.point = point;
    candidate.round = round;
    pthread_cond_broadcast(&candidate.changed);
    pthread_mutex_unlock(&candidate.lock);
}

static int await_candidate(int round)
{
    pthread_mutex_lock(&candidate.lock);
    while (candidate.round != round)
        pthread_cond_wait(&candidate.changed, &candidate.lock);
    int point = candidate.point;
    pthread_mutex_unlock(&candidate.lock);
    return point;
}

static int64_t gain_of(int point, int first, int end)
{
    int64_t sum = 0;
    for (int i = first; i < end; i++) {
        int64_t distance = squared_distance(points[i], points[point]);
        if (distance < cost[i])
            sum += cost[i] - distance;
    }
    return sum;
}

static void open_centre(int point, int first, int end)
{
    for (int i = first; i < end; i++) {
        int64_t distance = squared_distance(points[i], points[point]);
        if (distance < cost[i]) {
            cost[i] = distance;
            centre[i] = point;
        }
    }
}

/* Centres that have lost all their points are closed: count those in use. */
static void count_used(int self, int first, int end)
{
    for (int i = first; i < end; i++)
        is_used[centre[i]] = 1; /* benign race: all write the same value */
    pthread_barrier_wait(&barrier);
    if (self == 0)
        for (int i = 0; i < size; i++)
            used += is_used[i];
}

static void work(int self)
{
    int first = first_of(self, size), end = first_of(self + 1, size);
    uint64_t state = seed;
    for (int round = 1; round <= CANDIDATES; round++) {
        if (self == 0)
            propose(round, &state);
        int point = await_candidate(round);
        gain[self][0] = gain_of(point, first, end);
        pthread_barrier_wait(&barrier);
        int64_t sum = -FACILITY_COST;
        for (int thread = 0; thread < threads; thread++)
            sum += gain[thread][0];
        if (sum > 0)
            open_centre(point, first, end);
        pthread_barrier_wait(&barrier);
    }
    count_used(self, first, end);
}

CHECK_ONLY static int64_t checked_distance(int one, int other)
{
    int64_t sum = 0;
    for (int axis = 0; axis < AXES; axis++) {
        int64_t along = points[one][axis] - points[other][axis];
        sum += along * along;
    }
    return sum;
}

/* The same rounds by one thread give the same costs. */
CHECK_ONLY static void check(void)
{
    int64_t *expected = allocate(size, sizeof *expected);
    uint64_t state = seed, checksum = (uint64_t)used;
    for (int i = 0; i < size; i++)
        expected[i] = checked_distance(i, 0);
    for (int round = 0; round < CANDIDATES; round++) {
        int point = (int)(next_random(&state) % (uint64_t)size);
        int64_t sum = -FACILITY_COST;
        for (int i = 0; i < size; i++)
            if (checked_distance(i, point) < expected[i])
                sum += expected[i] - checked_distance(i, point);
        for (int i = 0; i < size && sum > 0; i++)
            if (checked_distance(i, point) < expected[i])
                expected[i] = checked_distance(i, point);
    }
    for (int i = 0; i < size; i++) {
        if (cost[i] != expected[i] || cost[i] != checked_distance(i, centre[i]))
            fail("a point is not at the centre that a sequential run gives it");
        if (!is_used[centre[i]])
            fail("a centre in use is not marked");
        checksum = mixed(checksum, (uint64_t)cost[i]);
    }
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 1 << 20);
    points = allocate(size, sizeof *points);
    cost = allocate(size, sizeof *cost);
    centre = allocate(size, sizeof *centre);
    is_used = allocate(size, sizeof *is_used);
    uint64_t state = ~seed;
    for (int i = 0; i < size; i++) {
        for (int axis = 0; axis < AXES; axis++)
            points[i][axis] = (int)(next_random(&state) % 256);
        cost[i] = squared_distance(points[i], points[0]);
    }
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
