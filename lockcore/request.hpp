// What a caller may ask of a lock: plain values, already checked by names.hpp and the command line.
#pragma once

#include <optional>
#include <variant>

#include "lockcore/state.hpp"
#include "lockcore/types.hpp"

namespace hagi {

// Present: replaces what is stored.
struct Progress {
    std::optional<Phase> phase;
    std::optional<Note> note;
};

enum class WhenHeld {
    Join,      // wait in the queue
    Refuse,    // change nothing and say who holds it
    LookOnce,  // wait for no time: the place that is answered is released at once, without a trace
};

enum class WhenGranted {
    Hold,
    Accept,  // and accepts in the same step: for who starts work at once
};

// Takes a free lock, or a place in its queue. Repeating it changes nothing but what is given.
struct AcquireRequest {
    std::optional<Label> label;
    Progress progress;
    std::optional<Duration> lease;
    std::optional<Duration> maximum_hold;
    WhenHeld when_held = WhenHeld::Join;
    WhenGranted when_granted = WhenGranted::Hold;  // of a lock that is free
    std::optional<ProcessIdentity> process{};      // that waits at the place from now on
};

// Where the caller stands. It is heard from; a hand-off is claimed.
struct StatusRequest {
    WhenGranted when_granted = WhenGranted::Hold;  // where the caller holds the lock by now
};

// One heartbeat.
struct RenewRequest {
    std::optional<Epoch> epoch;
    std::optional<Duration> lease;
    Progress progress;
};

// The guard right before work starts.
struct AcceptRequest {
    std::optional<Epoch> epoch;
    Duration minimum_left{};
};

// With an epoch only that grant, never a place in the queue.
struct ReleaseRequest {
    std::optional<Epoch> epoch;
};

// The emergency take. With an epoch only from that grant.
struct RequisitionRequest {
    Reason reason;
    Label label;
    std::optional<Epoch> epoch;
    std::optional<Duration> lease;  // of the new grant
    Progress progress;
};

// The operator's end of somebody's hold, without taking it. With an epoch only of that grant.
struct StopRequest {
    Reason reason;
    std::optional<Epoch> epoch;
};

// A polite request to the holder; changes nothing else.
struct NudgeRequest {
    Reason reason;
};

enum class Place { Keep, Leave };

// A waiting caller's last look: a grant that has arrived wins, otherwise its place is kept or left.
struct GiveUpRequest {
    Place place = Place::Leave;
};

// A waiting caller was interrupted: gives back what it gained while it waited. `held_before` is the epoch
// that its owner held before it began to wait.
struct WithdrawRequest {
    Place place = Place::Leave;
    std::optional<Epoch> held_before;
};

struct Request {
    Owner owner;
    std::variant<StatusRequest, AcquireRequest, RenewRequest, AcceptRequest, ReleaseRequest, RequisitionRequest,
                 GiveUpRequest, WithdrawRequest, StopRequest, NudgeRequest>
        action;

    // Of `run`: what a grant that this request takes, claims or accepts is bound to. An acquire with it is refused
    // where the owner holds or waits already, since that grant or place is another process's.
    std::optional<Binding> binding;

    // Of a watcher's first beat, acquire or accept: who it is.
    std::optional<Watcher> watcher;
};

}  // namespace hagi
