// What somebody meant who mistyped a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hagi {

// The least number of letters to insert, drop, change or swap with their neighbour that makes `b` of `a`; no letter is
// touched twice.
int edit_distance(std::string_view a, std::string_view b);

// The candidate that `word` most likely means: one that it begins or is begun by, or that a third of its letters
// changed makes of it. Of equal ones the first; absent where none is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hagi
