#include "platform/machine_clock.hpp"

#include <ctime>

#include "platform/proc_file.hpp"

namespace hagi {

namespace {

Duration now_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);  // cannot fail for these two clocks
    return std::chrono::duration_cast<Duration>(std::chrono::seconds{now.tv_sec} +
                                                std::chrono::nanoseconds{now.tv_nsec});
}

}  // namespace

Result<ClockReading> MachineClock::read() {
    return ClockReading{boot_id(), now_of(CLOCK_MONOTONIC), now_of(CLOCK_REALTIME)};
}

}  // namespace hagi
