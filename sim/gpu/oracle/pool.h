// Memory of an analysis for small objects, which come and go by the million.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

// What is given back is taken again by objects of the same size; the rest ends with the pool.
class Pool {
public:
    // Makes a pool the one of this thread, as long as this lives.
    class Use {
    public:
        explicit Use(Pool &pool) : before_(std::exchange(in_use_, &pool)) {}
        ~Use() { in_use_ = before_; }
        Use(const Use &) = delete;
        Use &operator=(const Use &) = delete;

    private:
        Pool *before_;
    };

    static void *take(size_t size) {
        if (size > MOST) return ::operator new(size);
        Pool &pool = *in_use_;
        Free *&first = pool.free_[units(size)];
        if (!first) return pool.cut(units(size) * UNIT);
        return std::exchange(first, first->next);
    }

    // Takes memory back that has been taken for an object of a size.
    static void give(void *memory, size_t size) {
        if (size > MOST) return ::operator delete(memory);
        Free *&first = in_use_->free_[units(size)];
        first = new (memory) Free{first};
    }

private:
    // Bytes: of what all objects are multiples of, of those that are small, and of what is cut.
    static constexpr size_t UNIT = alignof(std::max_align_t), MOST = 512, CHUNK = 1 << 16;
    struct Free {
        Free *next;
    };

    static constexpr size_t units(size_t size) { return (size + UNIT - 1) / UNIT; }

    void *cut(size_t bytes) {
        if (left_ < bytes) {
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(CHUNK));
            left_ = CHUNK;
        }
        left_ -= bytes;
        return chunks_.back().get() + left_;
    }

    inline static thread_local Pool *in_use_ = nullptr;

    std::array<Free *, MOST / UNIT + 1> free_{};
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    size_t left_ = 0;  // bytes of the last chunk
};
