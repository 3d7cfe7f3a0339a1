/* Forces between all pairs of molecules, as in simulations of water, with a lock in each molecule.
 *
 * Sharing: a thread adds up the forces of its molecules with half of all others for itself, then
 * adds them to the shared ones under the molecules' locks; barriers between the phases.
 * Races: none.
 */
#include <math.h>
#include <string.h>

#include "program.h"

enum { STEPS = 2, AXES = 3 };

/* Forces are in fixed point: their sum does not depend on the order. */
struct molecule {
    double place[AXES], speed[AXES];
    int64_t force[AXES];
    pthread_mutex_t lock;
};

static struct molecule *molecules;
static int64_t (*own_force)[AXES]; /* of each thread, all molecules */
static int64_t energy;
static pthread_mutex_t energy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

/* Nearest image in a periodic box of width 1. */
static ALSO_IN_CHECK double distance(double one, double other)
{
    double along = one - other;
    return along > 0.5 ? along - 1 : along < -0.5 ? along + 1 : along;
}

/* Lennard-Jones, cut off where it grows too fast for the step; returns the pair's energy. */
static ALSO_IN_CHECK int64_t pair_force(const double *one, const double *other, int64_t *force)
{
    double along[AXES], squared = 1e-2;
    for (int axis = 0; axis < AXES; axis++) {
        along[axis] = distance(one[axis], other[axis]);
        squared += along[axis] * along[axis];
    }
    double ratio = 1e-2 / squared, sixth = ratio * ratio * ratio;
    for (int axis = 0; axis < AXES; axis++)
        force[axis] = (int64_t)(along[axis] * (2 * sixth * sixth - sixth) / squared * 0x1p32);
    return (int64_t)((sixth * sixth - sixth) * 0x1p32);
}

static ALSO_IN_CHECK int64_t collect_forces(int64_t (*sums)[AXES], int first, int end)
{
    int64_t sum = 0;
    for (int i = first; i < end; i++)
        for (int step = 1; step <= size / 2; step++) {
            int j = (i + step) % size;
            if (2 * step == size && i > j)
                continue; /* the pair is j's */
            int64_t force[AXES];
            sum += pair_force(molecules[i].place, molecules[j].place, force);
            for (int axis = 0; axis < AXES; axis++) {
                sums[i][axis] += force[axis];
                sums[j][axis] -= force[axis];
            }
        }
    return sum;
}

static void spread_forces(int64_t (*sums)[AXES], int first)
{
    for (int step = 0; step < size; step++) {
        int i = (first + step) % size;
        pthread_mutex_lock(&molecules[i].lock);
        for (int axis = 0; axis < AXES; axis++)
            molecules[i].force[axis] += sums[i][axis];
        pthread_mutex_unlock(&molecules[i].lock);
    }
}

static ALSO_IN_CHECK void move(struct molecule *molecule)
{
    for (int axis = 0; axis < AXES; axis++) {
        molecule->speed[axis] += (double)molecule->force[axis] * 0x1p-32 * 1e-3;
        double place = molecule->place[axis] + molecule->speed[axis];
        molecule->place[axis] = place - floor(place);
        molecule->force[axis] = 0;
    }
}

static void work(int self)
{
    int first = first_of(self, size), end = first_of(self + 1, size);
    int64_t (*sums)[AXES] = own_force + (size_t)self * size;
    for (int step = 0; step < STEPS; step++) {
        memset(sums, 0, size * sizeof *sums);
        int64_t sum = collect_forces(sums, first, end);
        spread_forces(sums, first);
        pthread_mutex_lock(&energy_lock);
        energy += sum;
        pthread_mutex_unlock(&energy_lock);
        pthread_barrier_wait(&barrier);
        for (int i = first; i < end; i++)
            move(&molecules[i]);
        pthread_barrier_wait(&barrier);
    }
}

CHECK_ONLY static void scatter(struct molecule *all)
{
    uint64_t state = seed;
    for (int i = 0; i < size; i++)
        for (int axis = 0; axis < AXES; axis++)
            all[i].place[axis] = next_real(&state);
}

/* The same steps by one thread give the same bits. */
CHECK_ONLY static void check(void)
{
    struct molecule *shared = molecules;
    int64_t shared_energy = energy, sum = 0;
    uint64_t checksum = 0;
    molecules = allocate(size, sizeof *molecules);
    scatter(molecules);
    for (int step = 0; step < STEPS; step++) {
        memset(own_force, 0, size * sizeof *own_force);
        sum += collect_forces(own_force, 0, size);
        for (int i = 0; i < size; i++) {
            memcpy(molecules[i].force, own_force[i], sizeof own_force[i]);
            move(&molecules[i]);
        }
    }
    for (int i = 0; i < size; i++)
        for (int axis = 0; axis < AXES; axis++) {
            if (shared[i].place[axis] != molecules[i].place[axis])
                fail("a molecule is not where a sequential run has it");
            checksum = mixed(checksum, (uint64_t)(shared[i].place[axis] * 0x1p40));
        }
    if (sum != shared_energy)
        fail("the energy is not that of a sequential run");
    print_result(mixed(checksum, (uint64_t)sum));
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 2, 1 << 14);
    molecules = allocate(size, sizeof *molecules);
    own_force = allocate((size_t)threads * size, sizeof *own_force);
    scatter(molecules);
    for (int i = 0; i < size; i++)
        pthread_mutex_init(&molecules[i].lock, NULL);
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
