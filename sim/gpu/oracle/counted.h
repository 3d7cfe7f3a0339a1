// Objects that count who refers to them, of one thread of control, in the pool of their analysis.
#pragma once

#include <cstdint>
#include <utility>

#include "pool.h"

class Counted {
public:
    Counted() = default;
    Counted(const Counted &) {}
    Counted &operator=(const Counted &) = delete;

    static void *operator new(size_t size) { return Pool::take(size); }
    static void operator delete(void *object, size_t size) { Pool::give(object, size); }

    bool is_shared() const { return count_ > 1; }

private:
    template <class T> friend class Ref;
    mutable uint32_t count_ = 0;
};

template <class T> class Ref {
public:
    Ref() = default;
    explicit Ref(T *object) : object_(object) { take(); }
    Ref(const Ref &other) : object_(other.object_) { take(); }
    Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref &operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ && !--object_->count_) delete object_;
    }

    T *get() const { return object_; }
    T *operator->() const { return object_; }
    T &operator*() const { return *object_; }
    explicit operator bool() const { return object_; }
    bool operator==(const Ref &other) const = default;

private:
    void take() {
        if (object_) object_->count_++;
    }

    T *object_ = nullptr;
};
