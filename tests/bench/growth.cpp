#include <fmt/format.h>

#include <memory>

#include "tests/bench/filled_store.hpp"
#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

constexpr double kMoreLocks = 1.2;
constexpr double kMoreWaiters = 2.0;
// Well below the waiters' time to live, and seldom: what it writes is in the log that the next command reads.
constexpr Milliseconds kHeardFor = 20'000;

Arguments on(const Programs& programs, const std::string& folder, const char* lock_id, Arguments words,
             const std::string& owner) {
    words.insert(words.end(), {"--lock-id", lock_id, "--owner", owner});
    return lock_command(programs, folder, words);
}

// Taking and giving back another lock.
Candidate pair_beside(const Programs& programs, const std::string& folder, std::string name) {
    return {std::move(name), commands({on(programs, folder, "bench/pair", {"acquire"}, "alice"),
                                       on(programs, folder, "bench/pair", {"release"}, "alice")})};
}

// What a holder, a waiter in the middle and a newcomer do on a lock for which `waiters` wait.
void add_queue(std::vector<Candidate>& candidates, const Programs& programs, const std::string& folder, int waiters) {
    const auto heard = std::make_shared<Stopwatch>();
    const auto add = [&](const char* what, std::vector<Arguments> each) {
        const auto measured = [folder, heard, round = commands(std::move(each))] {
            if (heard->elapsed() > kHeardFor) {
                hear_waiters(folder);
                *heard = Stopwatch();
            }
            return round();
        };
        candidates.push_back({fmt::format("{}, {} waiting", what, waiters), measured});
    };
    const auto command = [&](Arguments words, const std::string& owner) {
        return on(programs, folder, "bench/queue", std::move(words), owner);
    };
    add("renew", {command({"renew"}, "holder")});
    add("status of the one in the middle", {command({"status"}, "w" + std::to_string((waiters + 1) / 2))});
    add("acquire (joins), release (leaves)", {command({"acquire"}, "alice"), command({"release"}, "alice")});
}

}  // namespace

Section measure_growth(const Bench& bench) {
    const Programs& programs = bench.programs;
    Section section{"growth", {}, {}, {}};
    std::vector<Candidate> candidates;
    const auto filled = [&](const std::string& name, const Filling& filling) {
        const std::string folder = make_folder(bench.folder, name);
        make_filled_store(programs, folder, filling);
        return folder;
    };
    for (const int locks : {10, 1000, 100'000})
        candidates.push_back(pair_beside(programs, filled(fmt::format("locks-{}", locks), {locks, 0, 0}),
                                         fmt::format("acquire, release beside {} locks", locks)));
    for (const int events : {0, 1'000'000})
        candidates.push_back(pair_beside(programs, filled(fmt::format("log-{}", events), {0, 0, events}),
                                         fmt::format("acquire, release, {} events in the log", events)));
    for (const int waiters : {1, 100, 1000})
        add_queue(candidates, programs, filled(fmt::format("queue-{}", waiters), {0, waiters, 0}), waiters);

    section.series = take_turns(candidates, bench.effort);
    section.comparisons = {compare(section, "acquire, release beside 100000 locks", "acquire, release beside 10 locks",
                                   kMedian, kMoreLocks),
                           compare(section, "acquire, release, 1000000 events in the log",
                                   "acquire, release, 0 events in the log", kMedian, kMoreLocks)};
    for (const char* const what : {"renew", "status of the one in the middle", "acquire (joins), release (leaves)"})
        section.comparisons.push_back(compare(section, fmt::format("{}, 1000 waiting", what),
                                              fmt::format("{}, 1 waiting", what), kMedian, kMoreWaiters));
    return section;
}

}  // namespace hagi::test
