#include "lockcore/clock.hpp"

#include <algorithm>

namespace hagi {

Instant store_time(const ClockAnchor& anchor, const ClockReading& reading) {
    const bool same_timeline = !reading.timeline.empty() && reading.timeline == anchor.reading.timeline;
    const Duration passed = same_timeline ? reading.steady - anchor.reading.steady : reading.wall - anchor.reading.wall;
    return anchor.at + std::max(passed, Duration::zero());
}

}  // namespace hagi
