#include "lockcore/transitions.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/limits.hpp"
#include "lockcore/windows.hpp"

namespace hagi::transition {
namespace {

void forget_ending(LockState& state, const Owner& owner) {
    std::erase_if(state.endings, [&](const Ending& ending) { return ending.owner == owner; });
}

void remember(LockState& state, Ending ending) {
    forget_ending(state, ending.owner);
    state.endings.push_back(std::move(ending));
}

// Takes the hold away; what becomes of the lock is the caller's next step.
Hold take_hold(LockState& state, Instant at) {
    Hold ended = std::move(*state.hold);
    state.hold.reset();
    state.recent_holds.push_back(at - ended.granted_at);
    if (state.recent_holds.size() > kRecentHolds) state.recent_holds.erase(state.recent_holds.begin());
    return ended;
}

// ---- What falls due ----

Instant forgotten_at(const Ending& ending) { return ending.at + kEndingKept; }

std::optional<Instant> next_due(const LockState& state) {
    std::optional<Instant> due;
    const auto consider = [&](Instant at) { due = due ? std::min(*due, at) : at; };
    if (state.hold) consider(end_of(*state.hold));
    for (const Waiter& waiter : state.queue) consider(end_of(waiter));
    for (const Ending& ending : state.endings) consider(forgotten_at(ending));
    return due;
}

void drop_silent_waiters(Course& course, Instant at) {
    for (const Waiter& waiter : course.state.queue) {
        if (end_of(waiter) > at) continue;
        remember(course.state, {waiter.owner, EndedKind::Place, {}, at, Cause::NotPolled, {}, {}});
        course.events.push_back({EventKind::Dropped, at, waiter.owner, {}, {}, {}, Cause::NotPolled, waiter.label});
    }
    std::erase_if(course.state.queue, [&](const Waiter& waiter) { return end_of(waiter) <= at; });
}

// Of several causes at one instant the one that nothing could have averted is named.
Cause cause_of_lapse(const Hold& hold, Instant at) {
    if (hold.hard_cap <= at) return Cause::MaximumHold;
    return hold.claimed_at ? Cause::LeaseExpired : Cause::ClaimMissed;
}

// All that falls due at `at`, before which nothing else is due. The order is part of the protocol: a waiter that
// fell silent must not be granted at the instant it is dropped.
void apply_due(Course& course, Instant at) {
    drop_silent_waiters(course, at);
    if (course.state.hold && end_of(*course.state.hold) <= at)
        lapse_hold(course, cause_of_lapse(*course.state.hold, at), at);
    std::erase_if(course.state.endings, [&](const Ending& ending) { return forgotten_at(ending) <= at; });
}

}  // namespace

void settle(Course& course, Instant now) {
    for (auto due = next_due(course.state); due && *due <= now; due = next_due(course.state)) apply_due(course, *due);
}

// ---- Grants ------------------------------------------------------------------------------------------------

void grant(Course& course, const Waiter& wanted, GrantKind how, Instant at) {
    LockState& state = course.state;
    state.known = true;
    state.last_epoch = state.last_epoch.next();

    Hold& hold = state.hold.emplace();
    hold.owner = wanted.owner;
    hold.epoch = state.last_epoch;
    hold.lease = wanted.lease;
    hold.hard_cap = at + wanted.maximum_hold;
    hold.label = wanted.label;
    hold.granted_at = at;
    hold.granted_how = how;
    hold.last_feedback = at;
    if (how != GrantKind::HandedOff) {
        hold.claimed_at = at;
        hold.binding = course.binding;
    }
    set_progress(course, {wanted.phase, wanted.note}, at);

    const auto kind = how == GrantKind::HandedOff ? EventKind::HandedOff : EventKind::Granted;
    course.events.push_back({kind, at, hold.owner, hold.epoch, {}, {}, {}, hold.label});
}

void hand_off(Course& course, Instant at) {
    std::vector<Waiter>& queue = course.state.queue;
    if (queue.empty()) return;
    const Waiter first = std::move(queue.front());
    queue.erase(queue.begin());
    grant(course, first, GrantKind::HandedOff, at);
}

void claim(Course& course, Instant now) {
    Hold& hold = *course.state.hold;
    if (hold.claimed_at) return;
    hold.claimed_at = now;
    hold.last_feedback = now;
    hold.binding = course.binding;
    course.events.push_back({EventKind::Claimed, now, hold.owner, hold.epoch, {}, {}, {}, hold.label});
}

void accept(Course& course, Instant now) {
    add_watcher(course, now);
    Hold& hold = *course.state.hold;
    if (course.binding) hold.binding = course.binding;
    if (hold.accepted_at) return;
    hold.accepted_at = now;
    course.events.push_back({EventKind::Accepted, now, hold.owner, hold.epoch, {}, {}, {}, hold.label});
}

void set_progress(Course& course, const Progress& progress, Instant now) {
    Hold& hold = *course.state.hold;
    if (progress.phase && *progress.phase != hold.phase) {
        hold.phase = *progress.phase;
        hold.phase_since = hold.phase.empty() ? std::nullopt : std::optional(now);
    }
    if (progress.note) hold.note = *progress.note;
}

void add_watcher(Course& course, Instant now) {
    if (!course.watcher) return;
    std::vector<Watcher>& watchers = course.state.hold->watchers;
    std::erase_if(watchers, [&](const Watcher& known) { return known.process == course.watcher->process; });
    watchers.push_back(*course.watcher);
    watchers.back().since = now;
    if (watchers.size() > kWatchersKept) watchers.erase(watchers.begin());
}

void hear(Course& course, const Owner& owner, Instant now) {
    if (holds(course.state, owner)) return claim(course, now);
    const auto place = find_place(course.state.queue, owner);
    if (place != course.state.queue.end()) place->last_heard = now;
}

// ---- Ends --------------------------------------------------------------------------------------------------

void lapse_hold(Course& course, Cause cause, Instant at) {
    const Hold ended = take_hold(course.state, at);
    remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});
    course.events.push_back({EventKind::Ended, at, ended.owner, ended.epoch, {}, {}, cause, ended.label});
    hand_off(course, at);
}

void release_hold(Course& course, Instant at) {
    const Hold ended = take_hold(course.state, at);
    forget_ending(course.state, ended.owner);
    course.events.push_back({EventKind::Released, at, ended.owner, ended.epoch, {}, {}, Cause::Released, ended.label});
    hand_off(course, at);
}

void leave_queue(Course& course, const Owner& owner, Instant at) {
    const auto place = find_place(course.state.queue, owner);
    course.events.push_back({EventKind::Left, at, owner, {}, {}, {}, Cause::Left, place->label});
    course.state.queue.erase(place);
}

void release_place(Course& course, const Owner& owner, Instant at) {
    leave_queue(course, owner, at);
    forget_ending(course.state, owner);
}

Displaced displace(Course& course, const Order& order, Instant now) {
    const Hold ended = take_hold(course.state, now);
    const EventKind kind = order.cause == Cause::Requisitioned ? EventKind::Requisitioned : EventKind::Ended;
    remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, now, order.cause, order.by, order.reason});
    course.events.push_back({kind, now, ended.owner, ended.epoch, order.by, order.reason, order.cause, ended.label});
    return {ended.owner, ended.epoch};
}

}  // namespace hagi::transition
