#include "tests/bench/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hagi::test {
namespace {

constexpr double kMost = 6.0;  // megabytes of a watcher

Milliseconds median(const Series& series) { return quantile(series.rounds, 0.5); }

const Series& find(const std::vector<Series>& series, const char* name) {
    const auto found = std::find_if(series.begin(), series.end(), [&](const Series& one) { return one.name == name; });
    if (found == series.end()) cannot_measure(std::string("nothing was measured of ") + name);
    return *found;
}

const char* verdict(const Comparison& comparison) {
    if (comparison.aim > 0 && comparison.ratio <= comparison.aim) return "as aimed at";
    if (comparison.bar > 0) return comparison.ratio <= comparison.bar ? "ok" : "TOO SLOW";
    return "";
}

void print_comparisons(const std::vector<Comparison>& comparisons) {
    fmt::print("\n{:<58} {:>7} {:>7} {:>7}\n", "median to median", "ratio", "bar", "aim");
    for (const Comparison& one : comparisons) {
        fmt::print("{:<58} {:>7.2f}", one.name, one.ratio);
        if (one.bar > 0) fmt::print(" {:>7.2f} {:>7.2f}  {}", one.bar, one.aim, verdict(one));
        fmt::print("\n");
    }
}

void print_idle(const std::vector<IdleCost>& costs, int seconds) {
    fmt::print("\n{:<34} {:>10} {:>10} {:>10} {:>10}\n", fmt::format("idle for {} s", seconds), "wake-ups", "own",
               "switches", "RSS, MB");
    for (const IdleCost& cost : costs) {
        const bool fine = cost.wake_ups <= cost.own && cost.resident_megabytes < kMost;
        fmt::print("{:<34} {:>10} {:>10} {:>10} {:>10.2f}  {}\n", cost.name, cost.wake_ups, cost.own, cost.switches,
                   cost.resident_megabytes, fine ? "ok" : "TOO MUCH");
    }
}

}  // namespace

Milliseconds quantile(std::vector<Milliseconds> rounds, double share) {
    if (rounds.empty()) return 0;
    std::sort(rounds.begin(), rounds.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(rounds.size())));
    return rounds[std::clamp<std::size_t>(rank, 1, rounds.size()) - 1];
}

std::vector<Comparison> compare(const std::vector<Series>& series) {
    namespace names = candidate_names;
    const auto ratio = [&](const char* one, const char* other, double bar, double aim) {
        return Comparison{fmt::format("{} / {}", one, other), median(find(series, one)) / median(find(series, other)),
                          bar, aim};
    };
    return {
        ratio(names::kPair, names::kTwoFlocks, 2.0, 1.2),
        ratio(names::kWatchedPair, names::kTwoFlocks, 2.0, 1.2),
        ratio(names::kHandOff, names::kFlockHandOff, 3.0, 1.5),
        ratio(names::kHandOff, names::kFlockUnlock, 0, 0),
        ratio(names::kRun, names::kFlock, 2.0, 1.3),
        ratio(names::kKilledRun, names::kFlockHandOff, 0, 0),
        ratio(names::kStatus, names::kFlock, 0, 0),
    };
}

void print(const Report& report) {
    fmt::print("\n{:<34} {:>10} {:>10} {:>10} {:>10}\n", "milliseconds", "median", "p90", "p99", "rounds");
    for (const Series& series : report.series)
        fmt::print("{:<34} {:>10.3f} {:>10.3f} {:>10.3f} {:>10}\n", series.name, median(series),
                   quantile(series.rounds, 0.9), quantile(series.rounds, 0.99), series.rounds.size());
    print_comparisons(report.comparisons);
    if (!report.idle.empty()) print_idle(report.idle, report.idle_seconds);
}

void write_json(const Report& report, const std::string& path) {
    nlohmann::ordered_json json;
    for (const Series& series : report.series)
        json["milliseconds"][series.name] = {{"median", median(series)},
                                             {"p90", quantile(series.rounds, 0.9)},
                                             {"p99", quantile(series.rounds, 0.99)},
                                             {"rounds", series.rounds.size()}};
    for (const Comparison& one : report.comparisons)
        json["ratios"][one.name] = {{"ratio", one.ratio}, {"bar", one.bar}, {"aim", one.aim}};
    for (const IdleCost& cost : report.idle)
        json["idle"][cost.name] = {{"seconds", report.idle_seconds},
                                   {"wakeUps", cost.wake_ups},
                                   {"own", cost.own},
                                   {"switches", cost.switches},
                                   {"residentMegabytes", cost.resident_megabytes}};
    std::ofstream file(path);
    file << json.dump(2) << '\n';
    if (!file.flush()) cannot_measure("cannot write " + path);
}

}  // namespace hagi::test
