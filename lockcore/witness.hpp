// Who can tell whether the processes that a grant is bound to have ended.
#pragma once

#include "lockcore/rules.hpp"

namespace hagi {

class Witness {
public:
    virtual ~Witness() = default;

    // True only where it is proven: unknown is never gone.
    virtual bool is_gone(const Binding& binding) = 0;
};

// What `witness` (none: nothing) can say about the grant in `state`, for decide().
inline Evidence evidence_on(const LockState& state, Witness* witness) {
    const bool gone = witness && state.hold && state.hold->binding && witness->is_gone(*state.hold->binding);
    return gone ? Evidence{state.hold->epoch} : Evidence{};
}

}  // namespace hagi
