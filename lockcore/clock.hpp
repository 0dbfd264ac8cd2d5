// The store's time. A store keeps its own time, which runs on by what its clock says has passed since the store
// was last written. So a step of the wall clock changes no deadline, and the store's time never goes back.
#pragma once

#include <string>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"

namespace hagi {

// One look at a clock.
struct ClockReading {
    // Readings with the same timeline compare by `steady`: one boot of one kernel, or one file server. Empty:
    // unknown, and never the same.
    std::string timeline;
    Duration steady{};  // since whenever; never stepped, stands still while the machine is suspended
    Duration wall{};    // since 1970-01-01 UTC; what people are shown, and what counts from one boot to the next

    friend bool operator==(const ClockReading&, const ClockReading&) = default;
};

class Clock {
public:
    virtual ~Clock() = default;

    // Fails Unreachable where the clock is a file server that does not answer.
    virtual Result<ClockReading> read() = 0;
};

// The store's time when it was last written, and the reading taken then. Stored with every change.
struct ClockAnchor {
    Instant at;
    ClockReading reading;

    friend bool operator==(const ClockAnchor&, const ClockAnchor&) = default;
};

// The store's time at `reading`: never before anchor.at.
Instant store_time(const ClockAnchor& anchor, const ClockReading& reading);

}  // namespace hagi
