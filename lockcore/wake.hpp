// Who must look again when a lock has changed. Pure.
#pragma once

#include <vector>

#include "lockcore/state.hpp"

namespace hagi {

// Whose watchers must look again after a change from `before` to `after`, the most urgent first: the owner whose
// turn has come, those that lost a grant or place, and the first few whose place changed.
std::vector<Owner> owners_to_wake(const LockState& before, const LockState& after);

}  // namespace hagi
