// What a store says of time: enough to show any of its instants.
#pragma once

#include <cstdint>

#include "cmd/timestamp.hpp"
#include "lockcore/types.hpp"

namespace hagi {

struct WallClock {
    Instant now;
    Duration wall_now;

    [[nodiscard]] std::string at(Instant instant) const {
        return timestamp(wall_now + (instant - now), Precision::Milliseconds);
    }
    // Whole seconds, rounded down.
    [[nodiscard]] std::int64_t until(Instant instant) const {
        return std::chrono::floor<std::chrono::seconds>(instant - now).count();
    }
    [[nodiscard]] std::int64_t since(Instant instant) const {
        return std::chrono::floor<std::chrono::seconds>(now - instant).count();
    }
};

}  // namespace hagi
