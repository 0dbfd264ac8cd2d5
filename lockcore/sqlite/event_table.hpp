// The audit trail's rows. Every function runs inside the caller's transaction.
#pragma once

#include <vector>

#include "lockcore/clock.hpp"
#include "lockcore/engine.hpp"
#include "lockcore/event.hpp"
#include "lockcore/sqlite/connection.hpp"

namespace hagi::sqlite {

// Appends `events`, decided at `made`, and now and then removes some of those that are old enough.
Outcome put_events(Connection& connection, const LockId& lock_id, const std::vector<Event>& events,
                   const ClockAnchor& made);

// Oldest first. Damaged where a row is of no known kind.
Result<std::vector<LoggedEvent>> load_events(Connection& connection, const LogQuery& query);

// The least text that is greater than every text that begins with `prefix`; absent: there is none.
std::optional<std::string> end_of_prefix(std::string prefix);

}  // namespace hagi::sqlite
