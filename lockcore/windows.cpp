#include "lockcore/windows.hpp"

#include <algorithm>

#include "lockcore/excerpt.hpp"
#include "lockcore/limits.hpp"

namespace hagi {

Instant end_of(const Hold& hold) {
    const Instant feedback_due = hold.claimed_at ? hold.last_feedback + hold.lease : hold.granted_at + kClaimWindow;
    return std::min(feedback_due, hold.hard_cap);
}

Instant end_of(const Waiter& waiter) { return waiter.last_heard + kWaiterTtl; }

Duration beat_interval(Duration lease) { return std::min<Duration>(kHeartbeatInterval, lease / kBeatsPerLease); }

std::optional<Duration> typical_hold(const LockState& state) {
    if (state.recent_holds.empty()) return std::nullopt;
    std::vector<Duration> holds = state.recent_holds;
    const auto middle = holds.begin() + static_cast<std::ptrdiff_t>(holds.size() / 2);
    std::nth_element(holds.begin(), middle, holds.end());
    return *middle;
}

namespace {

Windows windows_of(const Hold& hold) {
    Windows windows;
    windows.valid_until = end_of(hold);
    windows.hard_cap = hold.hard_cap;
    windows.check_in_from = std::min(hold.last_feedback + beat_interval(hold.lease), end_of(hold));
    windows.check_in_until = end_of(hold);
    return windows;
}

// If everyone ahead takes as long as the typical hold; the holder may have had its share already.
Instant expected_turn(const Hold& holder, Duration typical, std::size_t ahead, Instant now) {
    return std::max(now, holder.granted_at + typical) + typical * static_cast<std::int64_t>(ahead);
}

}  // namespace

Windows windows_of(const LockState& state, const Owner& owner, Instant now) {
    if (!state.hold) return {};
    if (holds(state, owner)) return windows_of(*state.hold);

    const auto place = find_place(state.queue, owner);
    if (place == state.queue.end()) return {};

    Windows windows;
    windows.check_in_from = place->last_heard + kWaiterPoll;
    windows.check_in_until = end_of(*place);
    windows.turn_earliest = now;
    const Crowd ahead = crowd_before(state.queue, place);
    windows.turn_latest = state.hold->hard_cap + ahead.maximum_holds;
    if (const auto typical = typical_hold(state))
        windows.turn_expected = std::min(expected_turn(*state.hold, *typical, ahead.count, now), *windows.turn_latest);
    return windows;
}

std::optional<Duration> stuck_for(const Hold& hold, Instant now, Duration threshold) {
    if (!hold.phase_since || now >= end_of(hold)) return std::nullopt;
    const Duration age = now - *hold.phase_since;
    return age >= threshold ? std::optional(age) : std::nullopt;
}

std::optional<Instant> next_change(const Answer& answer) {
    if (!answer.hold || (answer.status != Status::Holding && answer.status != Status::Queued)) return std::nullopt;
    return end_of(*answer.hold);
}

}  // namespace hagi
