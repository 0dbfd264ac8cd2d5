// What can happen to a lock, one step each: a grant, a hand-off, a claim, an end. The rules compose them; nobody else
// calls them. Each takes place at the instant it is given, appends its events, and leaves the state as the invariants
// want it where it does not say otherwise.
#pragma once

#include <optional>
#include <vector>

#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"
#include "lockcore/request.hpp"
#include "lockcore/state.hpp"

namespace hagi::transition {

// A state on its way from one to the next, and what happened to it.
struct Course {
    LockState state;
    std::vector<Event> events;
    std::optional<Binding> binding;  // of who asks
    std::optional<Watcher> watcher;  // who asks, where it is one
};

// Everything that falls due up to and including `now`, at the instant it fell due.
void settle(Course& course, Instant now);

// Of a lock that nobody holds. `wanted` says who gets it and on what terms.
void grant(Course& course, const Waiter& wanted, GrantKind how, Instant at);

// Of a lock that nobody holds, to the first who waits for it, if anybody does.
void hand_off(Course& course, Instant at);

// By the holder, once a grant: repeating it leaves the first time. Binds the grant to who asks, where that is a run.
void claim(Course& course, Instant now);
void accept(Course& course, Instant now);

// By the holder.
void set_progress(Course& course, const Progress& progress, Instant now);
void add_watcher(Course& course, Instant now);  // where who asks is one

// The holder claims, a waiter keeps its place. A refused request never comes here.
void hear(Course& course, const Owner& owner, Instant now);

// The hold ends, and the first waiter has its turn. What lapsed is remembered for its owner, what it gave back is not.
void lapse_hold(Course& course, Cause cause, Instant at);
void release_hold(Course& course, Instant at);

// The place of `owner`, which has one, ends. Left because something better came, or given up by its own will: then
// what had ended before is forgotten, or another watcher of the same owner would be told that as the reason.
void leave_queue(Course& course, const Owner& owner, Instant at);
void release_place(Course& course, const Owner& owner, Instant at);

struct Order {
    Cause cause = Cause::Requisitioned;
    Owner by;
    Reason reason;
};

// Ends the hold by order. Nobody holds the lock afterwards: what becomes of it is the caller's next step.
Displaced displace(Course& course, const Order& order, Instant now);

}  // namespace hagi::transition
