/* Gravity of n bodies in a plane by a tree of quadrants (Barnes and Hut), built by all threads.
 *
 * Sharing: the tree, with a lock in each cell; forces read all of it; barriers between the phases.
 * Races: benign ones when a body comes down the tree: links, and the place of cells found through
 * them, are read without a lock, and a link is read again under the lock before it is changed.
 */
#include <math.h>

#include "program.h"

enum { STEPS = 2, QUADRANTS = 4, EMPTY = 0 };

/* Links to cells are positive, to bodies negative (-1 is body 0). */
struct cell {
    pthread_mutex_t lock;
    double x, y, half; /* centre, and half the width */
    double mass, mass_x, mass_y;
    int link[QUADRANTS];
};

struct body {
    double x, y, speed_x, speed_y, force_x, force_y, mass;
};

static struct body *bodies;
static struct cell *cells; /* an equal share of them for each thread; cell 1 is the root */
static int cells_used[MAX_THREADS][16]; /* a cache line for each thread */
static int share;
static pthread_barrier_t barrier;

static int quadrant_of(const struct cell *cell, const struct body *body)
{
    int right = body->x >= cell->x; /* benign race: a cell is linked after it is filled */
    int upper = body->y >= cell->y; /* benign race: a cell is linked after it is filled */
    return right + 2 * upper;
}

/* A cell with one link, to a body or EMPTY, filled before anybody can find it. */
static int new_cell(int self, double x, double y, double half, int link)
{
    if (cells_used[self][0] == share)
        fail("the tree is too large");
    int number = 1 + self * share + cells_used[self][0]++;
    struct cell *cell = &cells[number];
    pthread_mutex_lock(&cell->lock);
    cell->x = x;
    cell->y = y;
    cell->half = half;
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++)
        cell->link[quadrant] = EMPTY;
    if (link != EMPTY)
        cell->link[quadrant_of(cell, &bodies[-link - 1])] = link;
    pthread_mutex_unlock(&cell->lock);
    return number;
}

/* A new cell for the body that a link leads to. */
static int split(const struct cell *cell, int quadrant, int link, int self)
{
    double quarter = cell->half / 2;
    double x = cell->x + (quadrant & 1 ? quarter : -quarter);
    double y = cell->y + (quadrant & 2 ? quarter : -quarter);
    return new_cell(self, x, y, quarter, link);
}

static void insert(int number, int self)
{
    struct cell *cell = &cells[1];
    for (int is_placed = 0; !is_placed;) {
        int quadrant = quadrant_of(cell, &bodies[number]);
        int link = cell->link[quadrant]; /* benign race: read again under the lock */
        if (link <= EMPTY) {
            pthread_mutex_lock(&cell->lock);
            link = cell->link[quadrant];
            if (link == EMPTY) {
                cell->link[quadrant] = -number - 1;
                is_placed = 1;
            } else if (link < EMPTY) {
                link = split(cell, quadrant, link, self);
                cell->link[quadrant] = link;
            }
            pthread_mutex_unlock(&cell->lock);
        }
        if (link > EMPTY)
            cell = &cells[link];
    }
}

static void add_mass(struct cell *cell, double mass, double x, double y)
{
    cell->mass += mass;
    cell->mass_x += mass * x;
    cell->mass_y += mass * y;
}

/* Mass and its centre, from the leaves up. */
static void summarise(struct cell *cell)
{
    cell->mass = cell->mass_x = cell->mass_y = 0;
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
        int link = cell->link[quadrant];
        if (link > EMPTY) {
            struct cell *below = &cells[link];
            summarise(below);
            add_mass(cell, below->mass, below->mass_x, below->mass_y);
        } else if (link < EMPTY) {
            const struct body *body = &bodies[-link - 1];
            add_mass(cell, body->mass, body->x, body->y);
        }
    }
    cell->mass_x /= cell->mass;
    cell->mass_y /= cell->mass;
}

static void attract(struct body *body, double mass, double x, double y)
{
    double dx = x - body->x, dy = y - body->y, squared = dx * dx + dy * dy + 1e-4;
    double force = mass / (squared * sqrt(squared));
    body->force_x += force * dx;
    body->force_y += force * dy;
}

/* Cells that look small from the body attract it as a whole. */
static void add_forces(struct body *body, const struct cell *cell)
{
    double dx = cell->mass_x - body->x, dy = cell->mass_y - body->y;
    if (cell->half * cell->half * 16 < dx * dx + dy * dy) {
        attract(body, cell->mass, cell->mass_x, cell->mass_y);
        return;
    }
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
        int link = cell->link[quadrant];
        if (link > EMPTY)
            add_forces(body, &cells[link]);
        else if (link < EMPTY && &bodies[-link - 1] != body)
            attract(body, bodies[-link - 1].mass, bodies[-link - 1].x, bodies[-link - 1].y);
    }
}

static double moved(double place, double *speed)
{
    double next = place + *speed * 1e-4;
    if (next >= 0 && next < 1)
        return next;
    *speed = -*speed;
    return place;
}

static void advance(struct body *body)
{
    body->speed_x += body->force_x * 1e-4;
    body->speed_y += body->force_y * 1e-4;
    body->x = moved(body->x, &body->speed_x);
    body->y = moved(body->y, &body->speed_y);
}

static void work(int self)
{
    int first = first_of(self, size), end = first_of(self + 1, size);
    for (int step = 0; step < STEPS; step++) {
        cells_used[self][0] = 0;
        if (self == 0)
            new_cell(self, 0.5, 0.5, 0.5, EMPTY);
        pthread_barrier_wait(&barrier);
        for (int number = first; number < end; number++)
            insert(number, self);
        pthread_barrier_wait(&barrier);
        if (self == 0)
            summarise(&cells[1]);
        pthread_barrier_wait(&barrier);
        for (int number = first; number < end; number++) {
            bodies[number].force_x = bodies[number].force_y = 0;
            add_forces(&bodies[number], &cells[1]);
        }
        pthread_barrier_wait(&barrier);
        if (step + 1 < STEPS)
            for (int number = first; number < end; number++)
                advance(&bodies[number]);
        pthread_barrier_wait(&barrier);
    }
}

/* The forces of the last step against those of all pairs; the shape of the tree is unique. */
CHECK_ONLY static void check(void)
{
    double error = 0, norm = 0;
    uint64_t checksum = 0;
    for (int i = 0; i < size; i++) {
        double force_x = 0, force_y = 0;
        for (int j = 0; j < size; j++) {
            double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
            double squared = dx * dx + dy * dy + 1e-4;
            force_x += bodies[j].mass * dx / (squared * sqrt(squared));
            force_y += bodies[j].mass * dy / (squared * sqrt(squared));
        }
        error += pow(force_x - bodies[i].force_x, 2) + pow(force_y - bodies[i].force_y, 2);
        norm += force_x * force_x + force_y * force_y;
        checksum = mixed(checksum, (uint64_t)(int64_t)(bodies[i].force_x * 0x1p30));
    }
    if (!(error <= 1e-3 * norm))
        fail("the forces are not those of all pairs");
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 2, 1 << 16);
    share = 4 * size;
    bodies = allocate(size, sizeof *bodies);
    cells = allocate(1 + (size_t)threads * share, sizeof *cells);
    uint64_t state = seed;
    for (int number = 0; number < size; number++) {
        bodies[number].x = next_real(&state);
        bodies[number].y = next_real(&state);
        bodies[number].mass = 0.5 + next_real(&state);
    }
    for (int number = 0; number <= threads * share; number++)
        pthread_mutex_init(&cells[number].lock, NULL);
    pthread_barrier_init(&barrier, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
