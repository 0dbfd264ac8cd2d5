#include "platform/machine_clock.hpp"

#include <chrono>
#include <ctime>

#include "platform/proc_file.hpp"

namespace hagi {

namespace {

std::chrono::nanoseconds now_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);  // cannot fail for these two clocks
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

}  // namespace

// The wall clock is read as its distance from the steady one, so that an instant is shown as the same millisecond by
// every command, wherever in a millisecond each of them looked.
Result<ClockReading> MachineClock::read() {
    const auto steady_now = now_of(CLOCK_MONOTONIC);
    const auto distance = std::chrono::round<Duration>(now_of(CLOCK_REALTIME) - steady_now);
    const auto steady = std::chrono::floor<Duration>(steady_now);
    return ClockReading{boot_id(), steady, steady + distance};
}

}  // namespace hagi
