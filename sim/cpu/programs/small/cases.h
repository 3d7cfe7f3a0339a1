/* The small programs by name, each with whether it has a race. */
#pragma once

#define CASES(CASE) \
    CASE(mutex_held, clean) \
    CASE(mutex_left_out, racy) \
    CASE(mutex_of_something_else, racy) \
    CASE(trylock_repeated, clean) \
    CASE(trylock_result_ignored, racy) \
    CASE(spin_lock_held, clean) \
    CASE(spin_lock_left_out, racy) \
    CASE(barrier_between, clean) \
    CASE(barrier_too_early, racy) \
    CASE(barrier_on_both_sides, clean) \
    CASE(barrier_on_one_side, racy) \
    CASE(condition_after_data, clean) \
    CASE(condition_before_data, racy) \
    CASE(condition_seen_without_lock, racy) \
    CASE(semaphore_after_data, clean) \
    CASE(semaphore_before_data, racy) \
    CASE(semaphore_of_one, clean) \
    CASE(semaphore_of_two, racy) \
    CASE(rwlock_readers, clean) \
    CASE(rwlock_reader_and_writer, clean) \
    CASE(rwlock_writers, clean) \
    CASE(rwlock_changed_by_readers, racy) \
    CASE(create_after_data, clean) \
    CASE(create_before_data, racy) \
    CASE(join_of_someone_else, racy) \
    CASE(detached_without_order, racy) \
    CASE(siblings, racy) \
    CASE(siblings_one_after_the_other, clean) \
    CASE(heap_used_again, clean) \
    CASE(atomic_release_acquire, clean) \
    CASE(atomic_relaxed_store, racy) \
    CASE(atomic_relaxed_load, racy) \
    CASE(atomic_update_in_between, clean) \
    CASE(atomic_counter, clean) \
    CASE(atomic_update_after_nothing, racy) \
    CASE(atomic_and_plain, racy) \
    CASE(atomic_spin_lock, clean) \
    CASE(atomic_relaxed_spin_lock, racy) \
    CASE(once_called, clean) \
    CASE(once_imitated, racy) \
    CASE(once_imitated_with_atomics, clean) \
    CASE(neighbour_bytes, clean) \
    CASE(same_byte, racy) \
    CASE(bit_fields, racy) \
    CASE(block_and_byte, racy) \
    CASE(block_and_block, racy) \
    CASE(block_read_twice, clean) \
    CASE(unaligned_word, racy) \
    CASE(volatile_word, racy)

#define DECLARE(name, verdict) void name(void);
CASES(DECLARE)
#undef DECLARE
