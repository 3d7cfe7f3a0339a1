/* Ray tracing of spheres with shadows and mirrors; tiles of the image are tasks in queues of the
 * threads, which steal from each other.
 *
 * Sharing: the scene is only read; each queue has a lock; tiles of the image are written by one.
 * Races: benign ones on the length of a queue, which a thief reads before it takes the lock,
 * and on a count of rays, which may lose some.
 */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "program.h"

enum { TILE = 4, SPHERES = 24, DEPTH = 3 };

struct vector {
    double x, y, z;
};

struct sphere {
    struct vector centre;
    double radius, shine;
    int colour;
};

struct queue {
    pthread_mutex_t lock;
    int *tiles, length;
};

static struct sphere spheres[SPHERES];
static const struct vector light = {-0.5, 0.8, -0.6};
static struct queue *queues;
static int *image; /* size squared */
static int64_t rays;
static pthread_barrier_t start;

static struct vector plus(struct vector one, struct vector other, double scale)
{
    return (struct vector){one.x + other.x * scale, one.y + other.y * scale, one.z + other.z * scale};
}

static double dot(struct vector one, struct vector other)
{
    return one.x * other.x + one.y * other.y + one.z * other.z;
}

/* Distance along a ray of direction of length 1, or infinity. */
static double hit(const struct sphere *sphere, struct vector from, struct vector direction)
{
    struct vector to = plus(sphere->centre, from, -1);
    double along = dot(to, direction);
    double inside = sphere->radius * sphere->radius - dot(to, to) + along * along;
    if (inside < 0 || along - sqrt(inside) < 1e-6)
        return INFINITY;
    return along - sqrt(inside);
}

static const struct sphere *nearest(struct vector from, struct vector direction, double *distance)
{
    const struct sphere *found = NULL;
    *distance = INFINITY;
    for (int i = 0; i < SPHERES; i++) {
        double this_distance = hit(&spheres[i], from, direction);
        if (this_distance < *distance) {
            *distance = this_distance;
            found = &spheres[i];
        }
    }
    return found;
}

static double brightness(struct vector from, struct vector direction, int depth, int64_t *count)
{
    double distance, behind;
    ++*count;
    const struct sphere *sphere = nearest(from, direction, &distance);
    if (sphere == NULL)
        return 20 + 20 * direction.y;
    struct vector point = plus(from, direction, distance);
    struct vector normal = plus(point, sphere->centre, -1);
    normal = plus((struct vector){0, 0, 0}, normal, 1 / sphere->radius);
    double lit = dot(normal, light);
    ++*count;
    if (lit < 0 || nearest(point, light, &behind) != NULL)
        lit = 0;
    double seen = sphere->colour * (0.1 + 0.9 * lit);
    if (depth == 0)
        return seen;
    struct vector mirrored = plus(direction, normal, -2 * dot(direction, normal));
    double reflected = brightness(point, mirrored, depth - 1, count);
    return seen * (1 - sphere->shine) + reflected * sphere->shine;
}

static int pixel(int row, int column, int64_t *count)
{
    struct vector eye = {0, 0, -3};
    struct vector direction = {2.0 * column / size - 1, 1 - 2.0 * row / size, 2};
    direction = plus((struct vector){0, 0, 0}, direction, 1 / sqrt(dot(direction, direction)));
    return (int)brightness(eye, direction, DEPTH, count);
}

static int take_tile(struct queue *queue)
{
    int tile = -1;
    pthread_mutex_lock(&queue->lock);
    if (queue->length > 0)
        tile = queue->tiles[--queue->length];
    pthread_mutex_unlock(&queue->lock);
    return tile;
}

/* Own tiles first, then those of the next thread that seems to have some. */
static int find_tile(int self)
{
    int tile = take_tile(&queues[self]);
    for (int step = 1; tile < 0 && step < threads; step++) {
        struct queue *victim = &queues[(self + step) % threads];
        if (victim->length > 0) /* benign race: it only shrinks, and is read again when locked */
            tile = take_tile(victim);
    }
    return tile;
}

static void work(int self)
{
    int tiles_in_row = size / TILE;
    pthread_barrier_wait(&start);
    for (int tile; (tile = find_tile(self)) >= 0;) {
        int row = tile / tiles_in_row * TILE, column = tile % tiles_in_row * TILE;
        int64_t count = 0;
        for (int y = row; y < row + TILE; y++)
            for (int x = column; x < column + TILE; x++)
                image[y * size + x] = pixel(y, x, &count);
        rays += count; /* benign race: a statistic that need not be exact */
        sched_yield();  /* with fewer processors than threads, all shall get tasks */
    }
}

/* Some pixels again. */
CHECK_ONLY static void check(void)
{
    uint64_t checksum = 0;
    int64_t count = 0;
    for (int at = 0; at < size * size; at++) {
        if (image[at] < 0)
            fail("a pixel was left out");
        if (at % 97 == 0 && image[at] != pixel(at / size, at % size, &count))
            fail("a pixel has the wrong colour");
        checksum = mixed(checksum, (uint64_t)image[at]);
    }
    print_result(checksum);
}

static void make_scene(void)
{
    uint64_t state = seed;
    for (int i = 0; i < SPHERES; i++) {
        spheres[i].centre.x = 2 * next_real(&state) - 1;
        spheres[i].centre.y = 2 * next_real(&state) - 1;
        spheres[i].centre.z = 2 * next_real(&state);
        spheres[i].radius = 0.1 + 0.2 * next_real(&state);
        spheres[i].shine = next_real(&state) / 2;
        spheres[i].colour = (int)(next_random(&state) % 200) + 56;
    }
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, TILE, 4096);
    size -= size % TILE;
    int tiles = size / TILE * (size / TILE);
    image = allocate((size_t)size * size, sizeof *image);
    queues = allocate(threads, sizeof *queues);
    memset(image, -1, (size_t)size * size * sizeof *image);
    make_scene();
    for (int self = 0; self < threads; self++) {
        pthread_mutex_init(&queues[self].lock, NULL);
        queues[self].tiles = allocate(tiles, sizeof *queues[self].tiles);
        for (int tile = first_of(self, tiles); tile < first_of(self + 1, tiles); tile++)
            queues[self].tiles[queues[self].length++] = tile;
    }
    pthread_barrier_init(&start, NULL, threads);
    run_threads(work);
    check();
    return 0;
}
