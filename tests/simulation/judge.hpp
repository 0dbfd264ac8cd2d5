// Judges what the rules make of a state: by the invariants as properties of the transition, so that they hold for
// every history, and against the second reading of the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockcore/request.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/state.hpp"
#include "tests/simulation/world.hpp"

namespace hagi::test {

// What is wrong, in a few words; absent where nothing is.
using Complaint = std::optional<std::string>;

// `state` is settled to kNow. Looks at it an instant before, at and after each of its deadlines: settling there leads
// to what it must, in one step or in many, and in the end to a free lock that nobody waits for.
Complaint judge_settling(const LockState& state, const Grid& grid);

// The clock moved from kNow to `now`.
Complaint judge_passing(const LockState& before, const Settled& after, Instant now);

// `state` is settled to kNow, and there `request` was decided, with `evidence` on the processes of its grant.
Complaint judge_request(const LockState& state, const Request& request, const Evidence& evidence,
                        const Decision& decision);

// Deciding at a deadline of `state` is settling, then deciding.
Complaint judge_late_request(const LockState& state, const Request& request);

}  // namespace hagi::test
