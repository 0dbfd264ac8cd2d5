// One line of the audit trail. The events of a decision are stored with the state that it leads to.
#pragma once

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
    Ended,          // a hold lapsed; `cause` says why
    Requisitioned,  // `owner` is the displaced, `by` the requester
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

}  // namespace hagi
