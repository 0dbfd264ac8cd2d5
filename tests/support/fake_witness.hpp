// A witness that knows of the deaths it was told.
#pragma once

#include <set>

#include "lockcore/witness.hpp"

namespace hagi::test {

class FakeWitness : public Witness {
public:
    std::set<std::int32_t> gone;  // by pid

    bool is_gone(const Binding& binding) override { return gone.contains(binding.run.pid); }
};

}  // namespace hagi::test
