// One line of the audit trail. The events of a decision are stored with the state that it leads to.
#pragma once

#include <cstdint>
#include <optional>

#include "lockcore/state.hpp"

namespace hagi {

enum class EventKind {
    Queued,
    Granted,
    HandedOff,
    Claimed,
    Accepted,
    Released,
    Left,
    Dropped,        // a place ended at its TTL
    Ended,          // a hold lapsed or was stopped; `cause` says why, `by` who stopped it
    Requisitioned,  // `owner` is the displaced, `by` the requester
    Nudged,         // `owner` is the holder, `by` who asks
};

struct Event {
    EventKind kind = EventKind::Queued;
    Instant at;
    Owner owner;
    Epoch epoch;  // 0: none
    Owner by;
    Reason reason;
    std::optional<Cause> cause;
    Label label;

    friend bool operator==(const Event&, const Event&) = default;
};

// An event as an engine stores it.
struct LoggedEvent {
    LockId lock_id;
    Event event;
    Duration wall{};       // wall-clock time at event.at, as the clock that saw it counts
    std::int64_t seq = 0;  // rises from one event of a store to the next

    friend bool operator==(const LoggedEvent&, const LoggedEvent&) = default;
};

}  // namespace hagi
