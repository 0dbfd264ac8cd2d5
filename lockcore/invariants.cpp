#include "lockcore/invariants.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lockcore/limits.hpp"

namespace hagi {
namespace {

// Sorts views of the owners rather than the records: a queue of a thousand is checked in microseconds.
template <class Record>
bool has_duplicate(const std::vector<Record>& records, Owner Record::*owner) {
    std::vector<std::string_view> owners;
    owners.reserve(records.size());
    for (const Record& record : records) owners.push_back((record.*owner).str());
    std::sort(owners.begin(), owners.end());
    return std::adjacent_find(owners.begin(), owners.end()) != owners.end();
}

// What no store reaches by itself; beyond it sums of times and the next epoch might not fit their types, which only a
// stranger's hand can bring about.
constexpr std::int64_t kLatestMilliseconds = 1'000'000'000'000'000;  // in 31,000 years
constexpr Epoch kHighestEpoch{std::int64_t{1} << 53};                // what every reader of JSON can hold

bool is_possible(Instant at) {
    return -kLatestMilliseconds <= at.milliseconds && at.milliseconds <= kLatestMilliseconds;
}

// Whether it can have happened by `now`.
bool is_past(Instant at, Instant now) { return is_possible(at) && at <= now; }
bool is_past(const std::optional<Instant>& at, Instant now) { return !at || is_past(*at, now); }

bool has_past_times(const Hold& hold, Instant now) {
    return is_past(hold.granted_at, now) && is_past(hold.last_feedback, now) && is_past(hold.claimed_at, now) &&
           is_past(hold.accepted_at, now) && is_past(hold.phase_since, now) &&
           std::all_of(hold.nudges.begin(), hold.nudges.end(), [&](const Nudge& n) { return is_past(n.at, now); }) &&
           std::all_of(hold.watchers.begin(), hold.watchers.end(),
                       [&](const Watcher& w) { return is_past(w.since, now); });
}

bool is_lease(Duration lease) { return kMinLease <= lease && lease <= kMaxLease; }
bool is_maximum_hold(Duration hold) { return kMinMaximumHold <= hold && hold <= kMaximumHold; }

const char* broken_by(const Hold& hold, Epoch last_epoch, Instant now) {
    if (hold.owner.empty()) return "1: the hold has no owner";
    if (hold.epoch <= Epoch{0} || last_epoch < hold.epoch) return "5: the hold's epoch was never issued";
    if (!has_past_times(hold, now)) return "6: a time of the hold is impossible";
    if (!is_lease(hold.lease)) return "6: the lease is out of range";
    if (!is_possible(hold.hard_cap) || !is_maximum_hold(hold.hard_cap - hold.granted_at))
        return "6: the hard cap is out of range";
    if (hold.last_feedback < hold.granted_at) return "6: the hold was heard from before it was granted";
    if (hold.claimed_at && *hold.claimed_at < hold.granted_at) return "6: the hold was claimed before it was granted";
    if (!hold.claimed_at && hold.last_feedback != hold.granted_at) return "6: an unclaimed hold was heard from";
    if (!hold.claimed_at && hold.granted_how != GrantKind::HandedOff) return "6: only a hand-off can be unclaimed";
    if (hold.accepted_at && !hold.claimed_at) return "6: an unclaimed hold was accepted";
    if (hold.binding && !hold.claimed_at) return "6: an unclaimed hold is bound";
    if (hold.nudges.size() > kNudgesKept || has_duplicate(hold.nudges, &Nudge::by)) return "3: too many nudges";
    if (hold.watchers.size() > kWatchersKept) return "3: too many watchers";
    if (hold.phase.empty() == hold.phase_since.has_value()) return "6: a phase and its beginning go together";
    return nullptr;
}

const char* broken_by(const Waiter& waiter, Instant now) {
    if (waiter.owner.empty()) return "3: a waiter has no owner";
    if (!is_past(waiter.enqueued_at, now) || !is_past(waiter.last_heard, now))
        return "4: a waiter's time is impossible";
    if (!is_lease(waiter.lease)) return "6: a waiter's lease is out of range";
    if (!is_maximum_hold(waiter.maximum_hold)) return "6: a waiter's maximum hold is out of range";
    if (waiter.last_heard < waiter.enqueued_at) return "4: a waiter was heard from before it came";
    return nullptr;
}

const char* first_broken(const LockState& state, Instant now) {
    if (state.last_epoch < Epoch{0}) return "5: the last epoch is negative";
    if (kHighestEpoch <= state.last_epoch) return "5: the last epoch is impossible";
    if (state.known && state.last_epoch == Epoch{0}) return "5: a known lock never had an epoch";
    if (!state.known && state.hold) return "5: a lock that is not known is held";
    if (state.hold)
        if (const char* broken = broken_by(*state.hold, state.last_epoch, now)) return broken;
    if (!state.hold && !state.queue.empty()) return "2: the lock is free and somebody waits";

    for (const Waiter& waiter : state.queue) {
        if (const char* broken = broken_by(waiter, now)) return broken;
        if (holds(state, waiter.owner)) return "3: the holder waits, too";
    }
    if (has_duplicate(state.queue, &Waiter::owner)) return "3: an owner waits twice";
    for (std::size_t i = 1; i < state.queue.size(); ++i)
        if (state.queue[i].enqueued_at < state.queue[i - 1].enqueued_at) return "4: the queue is out of order";

    for (const Ending& ending : state.endings)
        if (ending.epoch < Epoch{0} || state.last_epoch < ending.epoch) return "5: an ending's epoch was never issued";
    for (const Ending& ending : state.endings)
        if (!is_past(ending.at, now)) return "3: an ending's time is impossible";
    if (has_duplicate(state.endings, &Ending::owner)) return "3: an owner has two endings";
    if (state.recent_holds.size() > kRecentHolds) return "3: too many recent holds";
    for (const Duration held : state.recent_holds)
        if (held < Duration::zero() || kMaximumHold < held) return "3: a recent hold lasted impossibly long";
    return nullptr;
}

}  // namespace

std::optional<std::string> broken_invariant(const LockState& state, Instant now) {
    const char* broken = first_broken(state, now);
    return broken ? std::optional<std::string>(broken) : std::nullopt;
}

}  // namespace hagi
