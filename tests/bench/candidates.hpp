// What is measured beside what: each candidate does one round of its job and says how long it took.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/child.hpp"

namespace hagi::test {

using Milliseconds = double;

struct Candidate {
    std::string name;
    std::function<Milliseconds()> round;
};

struct Programs {
    std::string hagi;
    std::string flock;
    std::string idle;  // `true`
    std::string cat;
};

namespace candidate_names {
inline constexpr const char* kTrue = "true";
inline constexpr const char* kFlock = "flock FILE true";
inline constexpr const char* kTwoFlocks = "flock FILE true, twice";
inline constexpr const char* kPair = "acquire, release";
inline constexpr const char* kWatchedPair = "acquire, release beside a watcher";
inline constexpr const char* kStatus = "status";
inline constexpr const char* kFlockHandOff = "flock's hand-off";
inline constexpr const char* kFlockUnlock = "flock's hand-off by flock -u";
inline constexpr const char* kHandOff = "hand-off";
inline constexpr const char* kRun = "run -- true";
inline constexpr const char* kKilledRun = "hand-off from a killed run";
}  // namespace candidate_names

// A command of `hagi agent lock` on the store in `folder`.
Arguments lock_command(const Programs& programs, const std::string& folder, const Arguments& words);

// All candidates; they keep their files in `folder`, each its own. Watchers that they need run as long as they live.
std::vector<Candidate> make_candidates(const Programs& programs, const std::string& folder);

}  // namespace hagi::test
