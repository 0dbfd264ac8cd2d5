#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

constexpr int kHandOffs = 20;
constexpr double kKibibytesPerMegabyte = 1e6 / 1024;

// A pipe from each watcher.
void allow_many_files() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Nanoseconds on a CPU so far.
double cpu_time(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    double time = 0;
    if (!(file >> time)) cannot_measure("/proc says nothing of the CPU time of a watcher");
    return time;
}

// Kibibytes: what it has for itself, and with its share of what others have, too.
struct Memory {
    long own = 0;
    long proportional = 0;
};

Memory memory_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
    Memory memory;
    for (std::string line; std::getline(file, line);) {
        const auto value = [&] { return std::strtol(line.c_str() + line.find(':') + 1, nullptr, 10); };
        if (line.rfind("Pss:", 0) == 0) memory.proportional = value();
        if (line.rfind("Private_", 0) == 0 && line.rfind("Private_Hugetlb", 0) != 0) memory.own += value();
    }
    return memory;
}

long wake_ups(pid_t pid) { return status_field(pid, "voluntary_ctxt_switches"); }

// Watchers who wait, w1 first: all for one lock, or each for one of its own, which "holder" has.
class WaitingCrowd {
public:
    enum class Locks { One, Many };

    WaitingCrowd(const Bench& bench, std::string folder, Locks locks)
        : programs_(bench.programs), folder_(std::move(folder)), locks_(locks) {
        if (locks == Locks::One) run(command({"acquire"}, 0, "holder"));
        for (int i = 0; i < bench.crowd; ++i) {
            if (locks == Locks::Many) run(command({"acquire"}, i, "holder"));
            waiting_.push_back(std::make_unique<Child>(command({"acquire", "--wait", "--timeout", "3600"}, i, name(i)),
                                                       Streams{Output::Piped}));
            const auto line = waiting_.back()->read_line();
            if (!line || line->find("ueued") == std::string::npos) cannot_measure("acquire --wait did not queue");
        }
        for (const auto& waiter : waiting_) waiter->await_sleep();
    }

    // Percent of one core, all together.
    [[nodiscard]] double idle_load(int seconds) const {
        const double before = total_cpu_time();
        const Stopwatch watch;
        std::this_thread::sleep_for(std::chrono::seconds(seconds));
        return (total_cpu_time() - before) / (watch.elapsed() * 1e6) * 100;
    }

    // The most that any of them has, in kibibytes.
    [[nodiscard]] Memory memory() const {
        Memory most;
        for (const auto& waiter : waiting_) {
            const Memory memory = memory_of(waiter->pid());
            most = {std::max(most.own, memory.own), std::max(most.proportional, memory.proportional)};
        }
        return most;
    }

    struct HandOff {
        Milliseconds time = 0;
        long others_woken = 0;      // how many of the others ran at all
        long most_often_woken = 0;  // how often the one of them that ran most
    };

    // From the start of the release to the exit of the waiter whose turn it is: the next in the queue, or the only one.
    HandOff hand_off() {
        const std::size_t next = turn_;
        std::vector<long> before;
        for (std::size_t i = next + 1; i < waiting_.size(); ++i) before.push_back(wake_ups(waiting_[i]->pid()));
        const bool first = next == 0 || locks_ == Locks::Many;
        const std::string leaving = first ? "holder" : name(static_cast<int>(next) - 1);

        HandOff measured;
        const Stopwatch watch;
        Child release(command({"release"}, static_cast<int>(next), leaving));
        waiting_[next]->wait_for_success();
        measured.time = watch.elapsed();
        release.wait_for_success();
        std::this_thread::sleep_for(50ms);  // whoever is woken late is counted, too
        for (std::size_t i = next + 1; i < waiting_.size(); ++i) {
            const long woken = wake_ups(waiting_[i]->pid()) - before[i - next - 1];
            if (woken > 0) ++measured.others_woken;
            measured.most_often_woken = std::max(measured.most_often_woken, woken);
        }
        ++turn_;
        return measured;
    }

private:
    [[nodiscard]] Arguments command(Arguments words, int number, const std::string& owner) const {
        const std::string lock_id = locks_ == Locks::One ? "bench/crowd" : "bench/crowd-" + std::to_string(number);
        words.insert(words.end(), {"--lock-id", lock_id, "--owner", owner});
        return lock_command(programs_, folder_, words);
    }

    static std::string name(int number) { return "w" + std::to_string(number + 1); }

    [[nodiscard]] double total_cpu_time() const {
        double total = 0;
        for (const auto& waiter : waiting_) total += cpu_time(waiter->pid());
        return total;
    }

    Programs programs_;
    std::string folder_;
    Locks locks_;
    std::vector<std::unique_ptr<Child>> waiting_;
    std::size_t turn_ = 0;
};

void measure(Section& section, const Bench& bench, const char* where, const std::string& folder,
             WaitingCrowd::Locks locks) {
    WaitingCrowd crowd(bench, folder, locks);
    const auto add = [&](const std::string& what, double value, const char* unit, double bar) {
        section.figures.push_back({std::to_string(bench.crowd) + where + what, value, unit, bar});
    };
    const Memory memory = crowd.memory();
    add("private memory of the largest", static_cast<double>(memory.own) / kKibibytesPerMegabyte, "MB", 4);
    add("its PSS", static_cast<double>(memory.proportional) / kKibibytesPerMegabyte, "MB", 4);
    add("CPU of all while idle", crowd.idle_load(bench.idle_seconds), "% core", 1);

    Series times{std::to_string(bench.crowd) + where + "release to the next one's exit", {}};
    long others = 0;
    long most = 0;
    for (int i = 0; i < std::min(kHandOffs, bench.crowd - 1); ++i) {
        const WaitingCrowd::HandOff one = crowd.hand_off();
        times.rounds.push_back(one.time);
        others = std::max(others, one.others_woken);
        most = std::max(most, one.most_often_woken);
    }
    add("release to the next one's exit, median", quantile(times.rounds, kMedian), "ms", 10);
    add("others awake within 50 ms of a hand-off, their polls among them", static_cast<double>(others), "", 0);
    add("wake-ups of the one of them that woke most", static_cast<double>(most), "", 0);
    section.series.push_back(std::move(times));
}

}  // namespace

Section measure_crowd(const Bench& bench) {
    allow_many_files();
    Section section{"crowd", {}, {}, {}};
    measure(section, bench, " on one lock: ", make_folder(bench.folder, "one"), WaitingCrowd::Locks::One);
    measure(section, bench, ", each on its own lock: ", make_folder(bench.folder, "many"), WaitingCrowd::Locks::Many);
    return section;
}

}  // namespace hagi::test
