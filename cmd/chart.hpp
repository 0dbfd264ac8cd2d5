// How one lock went from hand to hand: a line for every turn, with its waiting and its hold as bars over time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/screen.hpp"
#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"

namespace hagi {

struct History {
    LockId lock_id;
    std::vector<LoggedEvent> events;  // of this lock, oldest first
    std::optional<LockView> current;  // as it is now: the newest ends may not be in the log yet
    Instant now;
    Duration wall_now{};
};

// At most `columns` wide, as far as that leaves room for the bars.
std::vector<Line> chart(const History& history, std::size_t columns);

}  // namespace hagi
