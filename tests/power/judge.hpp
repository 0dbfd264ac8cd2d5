// Judges what a power cut left behind. It knows what was answered before the cut and how the store looked whenever
// something was answered; it knows nothing of how the store is written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tests/power/history.hpp"

namespace hagi::test {

// What is wrong, in a few words; absent where nothing is.
using Complaint = std::optional<std::string>;

// `image` is the disk after a cut that came when the moments up to `answered` had been answered, and no later one.
Complaint judge(const History& history, const Image& image, std::size_t answered);

struct Verdict {
    std::size_t images = 0;               // judged; those alike are judged once
    std::vector<std::string> complaints;  // each with its cut
};

// Cuts the power before every operation and after the last, and judges what each kind of cut leaves.
Verdict judge_every_cut(const History& history, Dice& dice);

}  // namespace hagi::test
