// What a failing disk, a careless copy or a stranger's tool may do to the bytes of a file.
#pragma once

#include <string>

#include "tests/support/dice.hpp"

namespace hagi::test {

// Changes `bytes`, which are not empty, somewhere, and says how.
std::string mutate(std::string& bytes, Dice& dice);

}  // namespace hagi::test
