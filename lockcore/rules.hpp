// The lock protocol: who holds what, decided from values alone. Nothing here reads a clock, a file or a global;
// the same arguments give the same result, so an engine may apply it under a transaction, by compare-and-swap
// or twice. All of it may be called from any thread. README.md describes the protocol and its invariants.
#pragma once

#include <vector>

#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"
#include "lockcore/request.hpp"
#include "lockcore/state.hpp"

namespace hagi {

struct Settled {
    LockState state;
    std::vector<Event> events;  // in the order in which they fell due
};

// Applies every transition that was due up to and including `now`, at the instant it fell due. For every t1 <= t2
// settle(settle(s, t1), t2) == settle(s, t2): the outcome does not depend on who looked when.
Settled settle(LockState state, Instant now);

struct Decision {
    LockState state;
    Answer answer;
    std::vector<Event> events;  // every event is durable before the answer is given
};

// What a look at the machine has shown, by whoever could look. Absent means not known, never "still there".
struct Evidence {
    std::optional<Epoch> process_gone;  // of a bound grant: its processes are proven to have ended
};

// Settles to `now`, ends a grant whose processes are gone, then answers `request`. `now` is not before any instant
// stored in `state`. A refused request leaves the settled state as it is.
Decision decide(LockState state, const Request& request, Instant now, const Evidence& evidence = {});

// Why a watcher that held a grant, or waited, was answered `answer`: the remembered cause, else that the same
// owner gave it back elsewhere (which leaves no ending behind).
enum class Watched { Grant, Place };
Cause cause_for_watcher(const Answer& answer, Watched watched);

}  // namespace hagi
