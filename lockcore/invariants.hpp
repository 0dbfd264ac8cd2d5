// The invariants of one lock's state, by the numbers of README.md.
#pragma once

#include <optional>
#include <string>

#include "lockcore/state.hpp"

namespace hagi {

// The first invariant that `state` breaks, as one line; absent where all hold. By `now` all that it tells of has
// happened: when the rules made it, or when the store that it was read from was last written. For what was read a
// breach means damage, for what the rules made it means a defect.
std::optional<std::string> broken_invariant(const LockState& state, Instant now);

}  // namespace hagi
