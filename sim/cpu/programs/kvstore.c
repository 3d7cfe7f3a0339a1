/* A store of keys and values under a mixed load: shards with a reader-writer lock each.
 *
 * Sharing: readers share a shard, writers change it alone, at most two writers at a time
 * (semaphore); tables are made on first use (pthread_once); statistics and the newest snapshot are
 * C11 atomics, with release and acquire where one passes data on.
 * Races: none.
 */
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "program.h"

enum { SHARDS = 16, SLOTS = 64, KEYS = SHARDS * SLOTS / 4, WRITERS = 2, SNAPSHOT_EACH = 64 };

struct slot {
    uint32_t key; /* 0: empty */
    int64_t value;
};

struct shard {
    pthread_rwlock_t lock;
    struct slot *slots;
};

struct snapshot {
    int shard, count;
    int64_t sum;
};

static struct shard shards[SHARDS];
static sem_t writers;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int64_t *weights; /* of the kinds of change, made on first use */
static atomic_int is_open;
static atomic_long reads, changes;
static _Atomic(struct snapshot *) newest;

static void make_weights(void)
{
    weights = allocate(8, sizeof *weights);
    for (int i = 0; i < 8; i++)
        weights[i] = i * i + 1;
}

static struct slot *find_slot(struct shard *shard, uint32_t key)
{
    uint32_t at = key * 0x9e3779b1u >> 16;
    while (shard->slots[at % SLOTS].key != 0 && shard->slots[at % SLOTS].key != key)
        at++;
    return &shard->slots[at % SLOTS];
}

static int64_t read_value(struct shard *shard, uint32_t key)
{
    pthread_rwlock_rdlock(&shard->lock);
    struct slot *slot = find_slot(shard, key);
    int64_t value = slot->key == key ? slot->value : 0;
    pthread_rwlock_unlock(&shard->lock);
    atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
    return value;
}

static void add_value(struct shard *shard, uint32_t key, int64_t change)
{
    while (sem_wait(&writers) != 0)
        continue;
    pthread_rwlock_wrlock(&shard->lock);
    struct slot *slot = find_slot(shard, key);
    slot->key = key;
    slot->value += change;
    pthread_rwlock_unlock(&shard->lock);
    sem_post(&writers);
    atomic_fetch_add(&changes, 1);
}

/* Sum up a shard and show that to all; an older snapshot that was shown stays as it is. */
static void publish(int number)
{
    struct snapshot *snapshot = allocate(1, sizeof *snapshot);
    struct shard *shard = &shards[number];
    snapshot->shard = number;
    pthread_rwlock_rdlock(&shard->lock);
    for (int at = 0; at < SLOTS; at++) {
        snapshot->count += shard->slots[at].key != 0;
        snapshot->sum += shard->slots[at].value;
    }
    pthread_rwlock_unlock(&shard->lock);
    atomic_store_explicit(&newest, snapshot, memory_order_release);
}

static void look_at_snapshot(void)
{
    const struct snapshot *snapshot = atomic_load_explicit(&newest, memory_order_acquire);
    if (snapshot == NULL)
        return;
    if (snapshot->shard >= SHARDS || snapshot->count > SLOTS || snapshot->sum < 0)
        fail("a snapshot is not consistent");
}

static void request(int number)
{
    uint64_t state = seed + (uint64_t)number;
    uint64_t random = next_random(&state);
    uint32_t key = 1 + (uint32_t)(random % KEYS);
    struct shard *shard = &shards[key % SHARDS];
    if (random >> 32 & 3)
        read_value(shard, key);
    else
        add_value(shard, key, weights[random >> 40 & 7]);
    if (number % SNAPSHOT_EACH == 0)
        publish(number / SNAPSHOT_EACH % SHARDS);
    else if (number % 8 == 0)
        look_at_snapshot();
}

static void open_store(void)
{
    for (int number = 0; number < SHARDS; number++)
        shards[number].slots = allocate(SLOTS, sizeof *shards[number].slots);
    atomic_store_explicit(&is_open, 1, memory_order_release);
}

static void work(int self)
{
    pthread_once(&once, make_weights);
    if (self == 0)
        open_store();
    while (!atomic_load_explicit(&is_open, memory_order_acquire))
        sched_yield();
    for (int number = first_of(self, size); number < first_of(self + 1, size); number++)
        request(number);
}

/* Every value is the sum of its changes, whatever their order. */
CHECK_ONLY static void check(void)
{
    int64_t expected[KEYS + 1] = {0};
    uint64_t checksum = 0;
    long all_changes = 0;
    for (int number = 0; number < size; number++) {
        uint64_t state = seed + (uint64_t)number, random = next_random(&state);
        if (!(random >> 32 & 3)) {
            expected[1 + random % KEYS] += weights[random >> 40 & 7];
            all_changes++;
        }
    }
    for (uint32_t key = 1; key <= KEYS; key++) {
        const struct slot *slot = find_slot(&shards[key % SHARDS], key);
        if (slot->value != expected[key])
            fail("a value is not the sum of its changes");
        checksum = mixed(checksum, (uint64_t)expected[key]);
    }
    if (changes != all_changes || reads != size - all_changes)
        fail("requests were lost");
    print_result(checksum);
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 1 << 21);
    sem_init(&writers, 0, WRITERS);
    for (int number = 0; number < SHARDS; number++)
        pthread_rwlock_init(&shards[number].lock, NULL);
    run_threads(work);
    check();
    return 0;
}
