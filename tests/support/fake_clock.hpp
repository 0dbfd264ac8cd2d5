// A clock that stands still until the test moves it.
#pragma once

#include "lockcore/clock.hpp"

namespace hagi::test {

class FakeClock : public Clock {
public:
    ClockReading reading{"boot-1", Duration{1'000'000}, Duration{1'700'000'000'000}};

    Result<ClockReading> read() override { return reading; }

    // Time passes, for this boot's clock and for the wall clock alike.
    void advance(Duration by) {
        reading.steady += by;
        reading.wall += by;
    }
};

}  // namespace hagi::test
