// How many faults of each kind are tried, and which: HAGI_TEST_FAULTS and HAGI_TEST_SEED say; else with
// HAGI_TEST_LONG all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/dice.hpp"

namespace hagi::test {

inline std::uint64_t test_seed() { return number_from("HAGI_TEST_SEED", 1); }

// `few` of them, unless the environment says otherwise, in their order.
template <class T>
std::vector<T> chosen(const std::vector<T>& all, std::size_t few, std::mt19937_64& dice) {
    const std::uint64_t wanted = number_from("HAGI_TEST_FAULTS", is_long_run() ? all.size() : few);
    std::vector<T> some;
    std::sample(all.begin(), all.end(), std::back_inserter(some), wanted, dice);
    return some;
}

}  // namespace hagi::test
