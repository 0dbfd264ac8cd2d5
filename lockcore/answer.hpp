// What a caller is told. A refusal is an answer, too: it is what the protocol promises, not a failure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lockcore/state.hpp"

namespace hagi {

enum class Status { Holding, Queued, Expired, Requisitioned, None };

enum class RefusalCode {
    Conflict,       // another owner's live grant is in the way
    LockLost,       // the caller does not hold what it wants to renew
    WorkLeaseLost,  // the caller must not start
    NotFound,       // no such lock
};

struct Refusal {
    RefusalCode code = RefusalCode::Conflict;
    std::optional<Cause> cause;
    std::optional<Epoch> epoch;  // the caller's own: named in the request, or remembered

    friend bool operator==(const Refusal&, const Refusal&) = default;
};

enum class Released { Nothing, Hold, Place };

struct Displaced {
    Owner owner;
    Epoch epoch;

    friend bool operator==(const Displaced&, const Displaced&) = default;
};

// Guidance computed by windows.hpp.
struct Windows {
    std::optional<Instant> valid_until;  // the grant lapses here unless something is done
    std::optional<Instant> hard_cap;
    std::optional<Instant> check_in_from;   // the next heartbeat or poll is due
    std::optional<Instant> check_in_until;  // and here it is too late
    std::optional<Instant> turn_earliest;
    std::optional<Instant> turn_expected;
    std::optional<Instant> turn_latest;

    friend bool operator==(const Windows&, const Windows&) = default;
};

struct Answer {
    Instant now;
    // Wall-clock time at `now`, milliseconds since 1970, stamped by the engine so that instants can be shown.
    Duration wall_now{};

    Status status = Status::None;
    std::optional<Refusal> refusal;
    std::optional<Hold> hold;     // the current grant: the caller's where Holding, else whoever's it is
    std::optional<Waiter> place;  // Queued: the caller's
    std::size_t position = 0;     // Queued: 1 is next
    std::size_t queue_length = 0;
    bool joined = false;  // this request created the place
    // Of an acquire that names its process: another one that waits, or has waited, at the same place.
    std::optional<ProcessIdentity> earlier_process;
    std::optional<Ending> ending;    // what Expired and Requisitioned speak of
    std::optional<Ending> previous;  // of a request that takes a new grant or place: how the one before ended
    std::optional<Displaced> displaced;
    std::optional<Released> released;
    std::optional<Cause> cause;  // why a release gave back nothing
    Windows windows;

    friend bool operator==(const Answer&, const Answer&) = default;
};

// One lock as `list` sees it.
struct LockView {
    LockId lock_id;
    LockState state;  // settled to `now` in memory only
};

struct ListAnswer {
    Instant now;
    Duration wall_now{};
    std::vector<LockView> locks;  // by lock id
};

}  // namespace hagi
