/* Synchronisation of the C++ library, up to C++20. */
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

#include "cases.h"

/* The data that is guarded correctly or not. */
int data;

template <typename One, typename Other>
static void both(One one, Other other)
{
    std::jthread first(one), second(other);
}

/* Waits until both threads are here, without any order of other accesses. */
static void meet()
{
    static std::atomic<int> here;
    here.fetch_add(1, std::memory_order_relaxed);
    while (here.load(std::memory_order_relaxed) < 2)
        std::this_thread::yield();
}

static void cxx_lock_guard()
{
    std::mutex mutex;
    auto add = [&] { std::lock_guard lock(mutex); data++; };
    both(add, add);
}

static void cxx_lock_released_early()
{
    std::mutex mutex;
    auto add = [&] { std::unique_lock lock(mutex); lock.unlock(); data++; };
    both(add, add);
}

static void cxx_scoped_lock_of_two()
{
    std::mutex one, other;
    both([&] { std::scoped_lock lock(one, other); data++; },
         [&] { std::scoped_lock lock(other, one); data++; });
}

static void cxx_shared_mutex()
{
    std::shared_mutex mutex;
    both([&] { std::unique_lock lock(mutex); data++; },
         [&] { std::shared_lock lock(mutex); return data; });
}

static void cxx_shared_mutex_changed_by_readers()
{
    std::shared_mutex mutex;
    auto add = [&] { std::shared_lock lock(mutex); data++; };
    both(add, add);
}

static void cxx_jthread_joined()
{
    {
        std::jthread thread([] { data = 1; });
    }
    data++;
}

static void cxx_jthread_joined_too_late()
{
    std::jthread thread([] { data = 1; });
    data++;
}

static void cxx_stop_token()
{
    std::jthread thread([](std::stop_token token) {
        while (!token.stop_requested())
            std::this_thread::yield();
        data++;
    });
    data = 1;
    thread.request_stop();
}

static void cxx_latch()
{
    std::latch done(1);
    both([&] { data = 1; done.count_down(); }, [&] { done.wait(); data++; });
}

static void cxx_latch_too_early()
{
    std::latch done(1);
    both([&] { done.count_down(); data = 1; }, [&] { done.wait(); data++; });
}

static void cxx_barrier()
{
    std::barrier barrier(2);
    both([&] { data = 1; barrier.arrive_and_wait(); }, [&] { barrier.arrive_and_wait(); data++; });
}

static void cxx_barrier_left()
{
    std::barrier barrier(2);
    both([&] { barrier.arrive_and_wait(); data = 1; }, [&] { barrier.arrive_and_wait(); data++; });
}

static void cxx_semaphore()
{
    std::counting_semaphore<2> full(0);
    both([&] { data = 1; full.release(); }, [&] { full.acquire(); data++; });
}

static void cxx_semaphore_of_two()
{
    std::counting_semaphore<2> free(2);
    auto add = [&] { free.acquire(); data++; meet(); free.release(); };
    both(add, add);
}

static void cxx_atomic_wait()
{
    std::atomic<int> flag(0);
    both([&] { data = 1; flag.store(1, std::memory_order_release); flag.notify_one(); },
         [&] { flag.wait(0, std::memory_order_acquire); data++; });
}

static void cxx_atomic_wait_relaxed()
{
    std::atomic<int> flag(0);
    both([&] { data = 1; flag.store(1, std::memory_order_relaxed); flag.notify_one(); },
         [&] { flag.wait(0, std::memory_order_relaxed); data++; });
}

static void cxx_atomic_reference()
{
    auto add = [] { std::atomic_ref(data)++; };
    both(add, add);
}

static void cxx_atomic_reference_and_plain()
{
    both([] { std::atomic_ref(data)++; }, [] { data++; });
}

static void cxx_condition()
{
    std::mutex mutex;
    std::condition_variable changed;
    bool is_ready = false;
    both([&] { data = 1; std::lock_guard lock(mutex); is_ready = true; changed.notify_all(); },
         [&] { std::unique_lock lock(mutex); changed.wait(lock, [&] { return is_ready; }); data++; });
}

static void cxx_call_once()
{
    std::once_flag once;
    auto read = [&] { std::call_once(once, [] { data = 1; }); return data; };
    both(read, read);
}

static int first_value()
{
    return data;
}

static void cxx_static_of_function()
{
    auto read = [] { static int value = first_value(); return value; };
    both(read, read);
}

static void cxx_shared_pointer()
{
    auto shared = std::make_shared<int>(1);
    auto look = [own = shared] { return *own; };
    both(look, look);
}

static void cxx_shared_pointer_target()
{
    auto shared = std::make_shared<int>(1);
    auto add = [own = shared] { meet(); ++*own; };
    both(add, add);
}

static void cxx_thread_local()
{
    static thread_local int own;
    auto add = [] { own++; };
    both(add, add);
}

CASES(
    CASE(cxx_lock_guard, clean),
    CASE(cxx_lock_released_early, racy),
    CASE(cxx_scoped_lock_of_two, clean),
    CASE(cxx_shared_mutex, clean),
    CASE(cxx_shared_mutex_changed_by_readers, racy),
    CASE(cxx_jthread_joined, clean),
    CASE(cxx_jthread_joined_too_late, racy),
    CASE(cxx_stop_token, clean),
    CASE(cxx_latch, clean),
    CASE(cxx_latch_too_early, racy),
    CASE(cxx_barrier, clean),
    CASE(cxx_barrier_left, racy),
    CASE(cxx_semaphore, clean),
    CASE(cxx_semaphore_of_two, racy),
    CASE(cxx_atomic_wait, clean),
    CASE(cxx_atomic_wait_relaxed, racy),
    CASE(cxx_atomic_reference, clean),
    CASE(cxx_atomic_reference_and_plain, racy),
    CASE(cxx_condition, clean),
    CASE(cxx_call_once, clean),
    CASE(cxx_static_of_function, clean),
    CASE(cxx_shared_pointer, clean),
    CASE(cxx_shared_pointer_target, racy),
    CASE(cxx_thread_local, clean),
)
