#include <chrono>
#include <thread>

#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

// Often enough to tell one wake-up from the next; a look at /proc does not wake the process.
constexpr auto kLook = 50ms;
constexpr double kBytesPerMegabyte = 1e6;
constexpr double kBytesPerKibibyte = 1024;

struct IdleCost {
    std::string name;
    long wake_ups = 0;  // times that it ran at all: neighbouring looks that saw it run count as one
    long own = 0;       // how many of them are its own beats and polls at most
    long switches = 0;  // context switches, voluntary or not
    double resident_megabytes = 0;
};

class Watched {
public:
    Watched(std::string name, long own, const Arguments& arguments) : child_(arguments, {Output::Piped}) {
        cost_.name = std::move(name);
        cost_.own = own;
        if (!child_.read_line()) cannot_measure(cost_.name + " did not start");
        settle();
        last_ = first_;
    }

    void look() {
        const long now = switches();
        if (now != last_ && !awake_) ++cost_.wake_ups;
        awake_ = now != last_;
        last_ = now;
    }

    [[nodiscard]] IdleCost cost() const {
        IdleCost cost = cost_;
        cost.switches = last_ - first_;
        cost.resident_megabytes =
            static_cast<double>(status_field(child_.pid(), "VmRSS")) * kBytesPerKibibyte / kBytesPerMegabyte;
        return cost;
    }

private:
    // Its start is over once it has not run between two looks.
    void settle() {
        do {
            first_ = switches();
            std::this_thread::sleep_for(kLook);
        } while (switches() != first_);
    }

    [[nodiscard]] long switches() const {
        return status_field(child_.pid(), "voluntary_ctxt_switches") +
               status_field(child_.pid(), "nonvoluntary_ctxt_switches");
    }

    Child child_;
    IdleCost cost_;
    long first_ = 0;
    long last_ = 0;
    bool awake_ = false;
};

}  // namespace

Section measure_idle(const Bench& bench) {
    constexpr int kPollSeconds = 15;
    constexpr int kBeatSeconds = 120;
    constexpr double kMostMegabytes = 4.0;
    const auto command = [&](const Arguments& verb, const char* owner) {
        Arguments words = verb;
        words.insert(words.end(), {"--lock-id", "bench/idle", "--owner", owner});
        return lock_command(bench.programs, bench.folder, words);
    };
    run(command({"acquire"}, "alice"));
    Watched heartbeat("heartbeat", bench.idle_seconds / kBeatSeconds, command({"heartbeat"}, "alice"));
    Watched waiter("acquire --wait", bench.idle_seconds / kPollSeconds, command({"acquire", "--wait"}, "bob"));

    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(bench.idle_seconds);
    while (std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kLook);
        heartbeat.look();
        waiter.look();
    }
    Section section{"idle", {}, {}, {}};
    for (const IdleCost& cost : {heartbeat.cost(), waiter.cost()}) {
        const std::string about = cost.name + ", idle for " + std::to_string(bench.idle_seconds) + " s: ";
        section.figures.push_back(
            {about + "wake-ups beyond its own", static_cast<double>(cost.wake_ups - cost.own), "", 0});
        section.figures.push_back({about + "context switches", static_cast<double>(cost.switches), "", 0});
        section.figures.push_back({about + "resident", cost.resident_megabytes, "MB", kMostMegabytes});
    }
    return section;
}

}  // namespace hagi::test
