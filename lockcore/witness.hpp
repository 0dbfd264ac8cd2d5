// Who can tell whether the processes that a grant is bound to have ended.
#pragma once

#include "lockcore/process.hpp"

namespace hagi {

class Witness {
public:
    virtual ~Witness() = default;

    // True only where it is proven: unknown is never gone.
    virtual bool is_gone(const Binding& binding) = 0;
};

}  // namespace hagi
