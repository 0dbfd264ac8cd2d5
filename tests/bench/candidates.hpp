// What is measured beside what: each candidate does one round of its job and says how long it took.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/child.hpp"

namespace hagi::test {

using Milliseconds = double;

class Stopwatch {
public:
    [[nodiscard]] Milliseconds elapsed() const {
        return std::chrono::duration<Milliseconds, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The times that one candidate took.
struct Series {
    std::string name;
    std::vector<Milliseconds> rounds;
};

struct Effort {
    int rounds = 300;
    int warm_up = 20;
};

struct Candidate {
    std::string name;
    std::function<Milliseconds()> round;
};

struct Programs {
    std::string hagi;
    std::string flock;
    std::string idle;  // `true`
    std::string cat;
    std::string stamp;  // stamp.cpp
};

namespace candidate_names {
inline constexpr const char* kTrue = "true";
inline constexpr const char* kFlock = "flock FILE true";
inline constexpr const char* kTwoFlocks = "flock FILE true, twice";
inline constexpr const char* kPair = "acquire, release";
inline constexpr const char* kWatchedPair = "acquire, release beside a watcher";
inline constexpr const char* kStatus = "status";
inline constexpr const char* kFlockHandOff = "hand-off, flock FILE CMD to the next";
inline constexpr const char* kRunHandOff = "hand-off, run -- CMD to the next";
inline constexpr const char* kFlockUnlock = "hand-off, flock -u to flock";
inline constexpr const char* kHandOff = "hand-off, release to acquire --wait";
inline constexpr const char* kRun = "run -- true";
inline constexpr const char* kKilledRun = "hand-off from a killed run";
}  // namespace candidate_names

// A command of `hagi agent lock` on the store in `folder`.
Arguments lock_command(const Programs& programs, const std::string& folder, const Arguments& words);

// One command after the other, as a script would.
std::function<Milliseconds()> commands(std::vector<Arguments> each);

std::string make_folder(const std::string& parent, const std::string& name);

// The same command with nothing to say on its standard error.
Arguments silenced(const Arguments& command);

// The candidates take turns, round by round, so that the noise of the machine hits all alike.
std::vector<Series> take_turns(const std::vector<Candidate>& candidates, const Effort& effort);

// All candidates; they keep their files in `folder`, each its own. Watchers that they need run as long as they live.
std::vector<Candidate> make_candidates(const Programs& programs, const std::string& folder);

}  // namespace hagi::test
