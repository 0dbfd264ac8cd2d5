// When a grant lapses, when the caller is next expected, and when its turn may come. Pure: time is an argument.
#pragma once

#include <optional>

#include "lockcore/answer.hpp"
#include "lockcore/state.hpp"

namespace hagi {

// The instant at which `hold` ends unless something is done: the earliest of its lease deadline (claim deadline
// where it is not claimed) and its hard cap. At that very instant it has ended.
Instant end_of(const Hold& hold);

// The instant at which `waiter` is dropped unless it is heard from.
Instant end_of(const Waiter& waiter);

// How often a holder with this lease is expected to be heard from.
Duration beat_interval(Duration lease);

// The windows of `owner` in the settled `state`; all absent where it neither holds nor waits.
Windows windows_of(const LockState& state, const Owner& owner, Instant now);

// The median of the recent holds; absent without history.
std::optional<Duration> typical_hold(const LockState& state);

// For how long the phase of `hold` has not changed, where that is as long as `threshold` or longer and the hold is
// still heard from; absent otherwise. Liveness is not progress; a stuck holder is shown, it never loses the lock.
std::optional<Duration> stuck_for(const Hold& hold, Instant now, Duration threshold);

// The instant at which something changes for `owner` if nobody does anything: the holder's end for a waiter
// and for the holder itself. Absent where it neither holds nor waits.
std::optional<Instant> next_change(const Answer& answer);

}  // namespace hagi
