// The invariants of one lock's state, by the numbers of README.md.
#pragma once

#include <optional>
#include <string>

#include "lockcore/state.hpp"

namespace hagi {

// The first invariant that `state` breaks, as one line; absent where all hold. For what was read from a store a
// breach means damage, for what the rules made it means a defect.
std::optional<std::string> broken_invariant(const LockState& state);

}  // namespace hagi
