// What a watcher costs while nothing happens.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/candidates.hpp"

namespace hagi::test {

struct IdleCost {
    std::string name;
    long wake_ups = 0;  // times that it ran at all: neighbouring looks that saw it run count as one
    long own = 0;       // how many of them are its own beats and polls at most
    long switches = 0;  // context switches, voluntary or not
    double resident_megabytes = 0;
};

// Watches a heartbeat and an `acquire --wait` behind it at once, for `seconds`.
std::vector<IdleCost> measure_idle(const Programs& programs, const std::string& folder, int seconds);

}  // namespace hagi::test
