// The clock of a store on a local filesystem: one kernel's own.
#pragma once

#include "lockcore/clock.hpp"

namespace hagi {

// timeline: the boot id (empty where there is no /proc, so that only the wall clock counts); steady: CLOCK_MONOTONIC,
// which stands still in suspend; wall: CLOCK_REALTIME. Never fails. May be used from any thread.
class MachineClock : public Clock {
public:
    Result<ClockReading> read() override;
};

}  // namespace hagi
