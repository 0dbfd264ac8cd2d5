// Some hundred owners at once on a store, with kills, stops and orders among them, and what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/process/hagi.hpp"
#include "tests/stress/history.hpp"

namespace hagi::test {

// How much: a short run where HAGI_TEST_LONG is not set. HAGI_TEST_SEED chooses what happens.
struct Measure {
    std::uint64_t seed = 1;
    Moment length{};
    int takers = 20;   // on each of four locks, with acquire --wait
    int runners = 12;  // on each of two locks, with run
    int fewest = 64;   // times that somebody is disturbed, however slow the machine
};
Measure measure(std::chrono::seconds short_length, std::chrono::seconds long_length);

class Checkpointer;

class Crowd {
public:
    // `places`: words in front of the commands, e.g. env NAME=VALUE, where it is not hagi's own store that they use;
    // the owners go to one after the other.
    Crowd(const Hagi& hagi, const Measure& measure, std::vector<Words> places = {});
    ~Crowd();
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    // Everybody takes turns while owners are killed and come back, are stopped and go on, an operator takes locks by
    // order, and the store is checkpointed as often as can be; then lets everybody who waits have a turn, and ends.
    void take_turns();

    // A holder that was killed for good, and a waiter that was killed for good before its turn: each with others
    // behind.
    void leave_the_dead_behind();
    void await_those_behind_the_dead();

    // What is wrong, one line each; and how many there were of what.
    [[nodiscard]] std::vector<std::string> verdict() const;
    [[nodiscard]] std::string summary() const;

private:
    struct Member {
        std::string how;  // "take" or "run"
        std::string lock;
        std::string owner;
        std::unique_ptr<Process> process;
    };

    void add(const std::string& how, const std::string& lock, const std::string& owner, Moment until);
    void start(Member& member, Moment until);
    void disturb_somebody();
    void checkpoint();
    void take_by_order();
    void end_all();
    [[nodiscard]] Words placed(std::size_t nth, const Words& words) const;
    Finished asked(const Words& words) const;
    nlohmann::json told(const Words& words) const;
    void note(Saw saw, const std::string& lock, const std::string& owner, std::int64_t epoch = 0) const;
    [[nodiscard]] std::string counter(const std::string& lock) const;
    std::int64_t roll(std::int64_t sides);

    const Hagi& hagi_;
    Measure measure_;
    std::vector<Words> places_;
    std::string history_path_;
    History history_;
    std::mt19937_64 dice_;
    std::vector<Member> members_;
    std::vector<std::string> locks_;
    Moment until_{};
    std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace hagi::test
