// Exchange of values of any size between lanes, which shuffles of words cannot do.
#pragma once

template <class T>
class LaneExchange {
 public:
  __device__ explicit LaneExchange(T *room) : room_(room) {}

  __device__ T from(const T &own, int lane) {
    room_[threadIdx.x % 32] = own;
    return room_[lane];
  }

 private:
  T *room_;
};
