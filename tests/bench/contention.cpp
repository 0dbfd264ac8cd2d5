#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

// The times of the commands of one process after another, all of them at it for `seconds`.
struct Worker {
    std::vector<Milliseconds> takes;
    std::vector<Milliseconds> gives;
};

// What worker `number` does in one turn.
using Turn = std::function<void(int number, Worker& worker)>;

std::vector<Worker> compete(int processes, int seconds, const Turn& turn) {
    std::vector<Worker> workers(static_cast<std::size_t>(processes));
    std::vector<std::thread> threads;
    std::atomic<bool> failed = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (int number = 0; number < processes; ++number)
        threads.emplace_back([&, number] {
            try {
                while (std::chrono::steady_clock::now() < end && !failed)
                    turn(number, workers[static_cast<std::size_t>(number)]);
            } catch (const std::exception&) {
                failed = true;
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (failed) cannot_measure("a command failed under load");
    return workers;
}

std::size_t turns_of(const std::vector<Worker>& workers) {
    std::size_t turns = 0;
    for (const Worker& worker : workers) turns += worker.gives.size();
    return turns;
}

enum class Locks { One, Many };

Turn hagi_turn(const Programs& programs, const std::string& folder, Locks locks) {
    return [=](int number, Worker& worker) {
        const std::string who = "w" + std::to_string(number);
        const std::string lock_id = locks == Locks::One ? "bench/one" : "bench/" + who;
        const auto command = [&](Arguments words) {
            words.insert(words.end(), {"--lock-id", lock_id, "--owner", who});
            return lock_command(programs, folder, words);
        };
        const Stopwatch taking;
        run(command(locks == Locks::One ? Arguments{"acquire", "--wait"} : Arguments{"acquire"}));
        worker.takes.push_back(taking.elapsed());
        const Stopwatch giving;
        run(command({"release"}));
        worker.gives.push_back(giving.elapsed());
    };
}

Turn flock_turn(const Programs& programs, const std::string& folder, Locks locks) {
    return [=](int number, Worker& worker) {
        const std::string file = folder + "/flock" + (locks == Locks::One ? "" : std::to_string(number));
        run({programs.flock, file, programs.idle});
        worker.gives.push_back(0);
    };
}

double per_second(std::size_t turns, int seconds) { return static_cast<double>(turns) / seconds; }

std::vector<Milliseconds> all(const std::vector<Worker>& workers, std::vector<Milliseconds> Worker::*times) {
    std::vector<Milliseconds> together;
    for (const Worker& worker : workers)
        together.insert(together.end(), (worker.*times).begin(), (worker.*times).end());
    return together;
}

// How many turns came in another order than their places in the queue, by the log.
std::size_t out_of_order(const Bench& bench) {
    Child log(lock_command(bench.programs, bench.folder, {"log", "--json", "--limit", "100000"}), {Output::Piped});
    std::string text;
    while (const auto line = log.read_line()) text += *line;
    log.wait_for_success();
    std::vector<std::string> queue;
    std::size_t count = 0;
    for (const auto& event : nlohmann::json::parse(text).at("events")) {
        const std::string kind = event.at("event");
        if (kind == "queued") queue.push_back(event.at("owner"));
        if (kind != "handed off") continue;
        const auto place = std::find(queue.begin(), queue.end(), event.at("owner").get<std::string>());
        if (place != queue.begin()) ++count;
        if (place != queue.end()) queue.erase(place);
    }
    return count;
}

}  // namespace

Section measure_contention(const Bench& bench) {
    Section section{"contention", {}, {}, {}};
    for (const Locks locks : {Locks::One, Locks::Many}) {
        const char* const which = locks == Locks::One ? "on one lock" : "each on its own lock";
        for (const int processes : {1, 4, 16, 64}) {
            const std::string folder = make_folder(bench.folder, fmt::format("{}-{}", which, processes));
            const auto name = [&](const char* what) {
                return fmt::format("{}, {} processes {}", what, processes, which);
            };
            const auto hagi = compete(processes, bench.seconds, hagi_turn(bench.programs, folder, locks));
            const auto flock = compete(processes, bench.seconds, flock_turn(bench.programs, folder, locks));
            section.figures.push_back(
                {name("acquire, release"), per_second(turns_of(hagi), bench.seconds), "turns/s", 0});
            section.figures.push_back(
                {name("flock FILE true"), per_second(turns_of(flock), bench.seconds), "turns/s", 0});
        }
    }
    return section;
}

Section measure_fairness(const Bench& bench) {
    constexpr int kProcesses = 64;
    Section section{"fairness", {}, {}, {}};
    const std::string own = make_folder(bench.folder, "own");
    const auto apart = compete(kProcesses, bench.fair_seconds, hagi_turn(bench.programs, own, Locks::Many));
    const auto together = compete(kProcesses, bench.fair_seconds, hagi_turn(bench.programs, bench.folder, Locks::One));

    // On a lock of its own a command waits for nothing but the store.
    section.series = {{"64 processes, each on its own lock: acquire", all(apart, &Worker::takes)},
                      {"64 processes, each on its own lock: release", all(apart, &Worker::gives)},
                      {"64 processes on one lock: release", all(together, &Worker::gives)}};
    for (const Series& one : section.series)
        section.figures.push_back(
            {one.name + ", longest to median", quantile(one.rounds, 1) / quantile(one.rounds, kMedian), "times", 20});
    const auto [fewest, most] =
        std::minmax_element(together.begin(), together.end(),
                            [](const Worker& a, const Worker& b) { return a.gives.size() < b.gives.size(); });
    section.figures.push_back(
        {"on one lock: turns of the one with most, over those of the one with fewest",
         static_cast<double>(most->gives.size()) / static_cast<double>(std::max<std::size_t>(fewest->gives.size(), 1)),
         "times", 2});
    section.figures.push_back(
        {"on one lock: turns out of the queue's order", static_cast<double>(out_of_order(bench)), "", 0});
    return section;
}

}  // namespace hagi::test
