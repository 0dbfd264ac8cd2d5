// The only waiting loop: `acquire --wait`, `run` and the long poll of `status` sleep here until it is their turn.
#pragma once

#include <functional>

#include "cmd/session.hpp"

namespace hagi {

using Announce = std::function<void(const WatchEvent&)>;

enum class Begin {
    Acquire,  // joins the queue, or keeps the place
    Look,     // keeps the place that is there, and makes none
};

struct AwaitTerms {
    AcquireRequest request;
    Duration timeout{};
    Place at_timeout = Place::Leave;  // of an entry that this call made; one that it found stays
    std::optional<Watcher> watcher;   // of who accepts in the step that grants

    // What becomes of the place when the waiting is interrupted; a grant gained by it is given back in either case.
    // Absent: nothing is given back, and the place is left to its TTL, a grant to its claim window.
    std::optional<Place> at_interrupt = Place::Leave;
    Begin begin = Begin::Acquire;
};

// How the waiting ended: with the grant, or with the event that says why there is none.
struct Awaited {
    std::optional<Answer> granted;  // claimed
    Duration asked_at{};            // when the answer was asked for, by the session's steady clock
    WatchEvent ending;              // Holding, or the event that carries the failure
};

// Joins or keeps the place and stays heard from. `announce` is told of every change of the place and of outages, not
// of the ending.
Awaited await_grant(Session& session, const AwaitTerms& terms, StopSource& stop, const Announce& announce);

// The caller's standing as soon as it differs from the first look, `satisfied` accepts it, or after `at_most`.
Result<Answer> await_change(Session& session, Duration at_most, const std::function<bool(const Answer&)>& satisfied);

}  // namespace hagi
