// The state of one lock: plain values, stored by an engine, changed by nothing but rules.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lockcore/process.hpp"
#include "lockcore/types.hpp"

namespace hagi {

enum class GrantKind { TakenFree, HandedOff, Requisitioned };

// Why a hold or a place in the queue ended, or why a request was refused.
enum class Cause {
    LeaseExpired,
    MaximumHold,
    ClaimMissed,
    NotPolled,
    Requisitioned,
    Stopped,
    ProcessGone,
    Released,
    Left,
    StaleEpoch,
    NotTheHolder,
    TooLittleLeft,
};

enum class WatcherKind { Heartbeat, Run };

// A process that keeps the grant alive.
struct Watcher {
    ProcessIdentity process;
    WatcherKind kind = WatcherKind::Heartbeat;
    Instant since;

    friend bool operator==(const Watcher&, const Watcher&) = default;
};

// A polite request to the holder.
struct Nudge {
    Owner by;
    Instant at;
    Reason reason;

    friend bool operator==(const Nudge&, const Nudge&) = default;
};

// One grant of the lock.
struct Hold {
    Owner owner;
    Epoch epoch;
    Duration lease{};  // lapses this long after last_feedback, once claimed
    Instant hard_cap;  // lapses here whatever is renewed
    Label label;
    Instant granted_at;
    GrantKind granted_how = GrantKind::TakenFree;
    std::optional<Instant> claimed_at;  // absent: a hand-off that its owner has not been heard from about
    Instant last_feedback;              // of an unclaimed grant: granted_at
    std::optional<Instant> accepted_at;
    Phase phase;
    std::optional<Instant> phase_since;  // present exactly where phase is not empty
    Note note;
    std::optional<Binding> binding;  // of a grant taken by `run`
    std::vector<Watcher> watchers;   // oldest first, at most kWatchersKept
    std::vector<Nudge> nudges;       // oldest first, one of each author, at most kNudgesKept

    friend bool operator==(const Hold&, const Hold&) = default;
};

// Waiters that an excerpt (excerpt.hpp) leaves out, as far as an answer tells of them.
struct Crowd {
    std::size_t count = 0;
    Duration maximum_holds{};  // of all of them together

    friend bool operator==(const Crowd&, const Crowd&) = default;
};

struct Waiter {
    Owner owner;
    Label label;
    Phase phase;
    Note note;
    Duration lease{};         // asked for
    Duration maximum_hold{};  // asked for; the hard cap counts from the grant
    Instant enqueued_at;
    Instant last_heard;
    std::optional<ProcessIdentity> process{};  // the newest that waits at it, where it said so
    Crowd left_out{};                          // in an excerpt: between this waiter and the next

    friend bool operator==(const Waiter&, const Waiter&) = default;
};

enum class EndedKind { Hold, Place };

// How the newest hold or place of an owner ended, where that was not its own doing.
struct Ending {
    Owner owner;
    EndedKind kind = EndedKind::Hold;
    Epoch epoch;  // of the hold that ended; 0 for a place
    Instant at;
    Cause cause = Cause::LeaseExpired;
    Owner by;       // who requisitioned or stopped; else empty
    Reason reason;  // of a requisition or stop; else empty

    friend bool operator==(const Ending&, const Ending&) = default;
};

struct LockState {
    bool known = false;  // granted at least once, and not pruned since
    Epoch last_epoch;    // for a lock that is not known: the store's floor
    std::optional<Hold> hold;
    std::vector<Waiter> queue;           // in order of arrival; may be an excerpt
    std::vector<Ending> endings;         // at most one for an owner; may be only those of the owner that asks
    std::vector<Duration> recent_holds;  // oldest first, at most kRecentHolds

    friend bool operator==(const LockState&, const LockState&) = default;
};

// Where `owner` stands. The queue's end, or null: there it has nothing.
bool holds(const LockState& state, const Owner& owner);
std::vector<Waiter>::iterator find_place(std::vector<Waiter>& queue, const Owner& owner);
std::vector<Waiter>::const_iterator find_place(const std::vector<Waiter>& queue, const Owner& owner);
const Ending* find_ending(const std::vector<Ending>& endings, const Owner& owner);

}  // namespace hagi
