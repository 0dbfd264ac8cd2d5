#include "tests/bench/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hagi::test {
namespace {

constexpr double kNinth = 0.9;

const Series& find(const Section& section, const std::string& name) {
    const auto& all = section.series;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.name == name; });
    if (found == all.end()) cannot_measure("nothing was measured of " + name);
    return *found;
}

const char* verdict(double value, double bar) {
    if (bar <= 0) return "";
    return value <= bar ? "ok" : "MISSED";
}

void print_series(const std::vector<Series>& all) {
    if (all.empty()) return;
    fmt::print("{:<52} {:>9} {:>9} {:>9} {:>7}\n", "milliseconds", "p50", "p90", "p99", "rounds");
    for (const Series& one : all)
        fmt::print("{:<52} {:>9.3f} {:>9.3f} {:>9.3f} {:>7}\n", one.name, quantile(one.rounds, kMedian),
                   quantile(one.rounds, kNinth), quantile(one.rounds, kTail), one.rounds.size());
}

void print_line(const std::string& name, double value, const std::string& unit, double bar) {
    fmt::print("{:<72} {:>9.2f} {:<8}", name, value, unit);
    if (bar > 0) fmt::print(" <= {:>7.2f}  {}", bar, verdict(value, bar));
    fmt::print("\n");
}

nlohmann::ordered_json json_of(const Section& section) {
    nlohmann::ordered_json json;
    for (const Series& one : section.series)
        json["milliseconds"][one.name] = {{"p50", quantile(one.rounds, kMedian)},
                                          {"p90", quantile(one.rounds, kNinth)},
                                          {"p99", quantile(one.rounds, kTail)},
                                          {"rounds", one.rounds.size()}};
    for (const Comparison& one : section.comparisons)
        json["ratios"][one.name] = {{"ratio", one.ratio}, {"bar", one.bar}};
    for (const Figure& one : section.figures)
        json["figures"][one.name] = {{"value", one.value}, {"unit", one.unit}, {"bar", one.bar}};
    return json;
}

}  // namespace

Milliseconds quantile(std::vector<Milliseconds> rounds, double share) {
    if (rounds.empty()) return 0;
    std::sort(rounds.begin(), rounds.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(rounds.size())));
    return rounds[std::clamp<std::size_t>(rank, 1, rounds.size()) - 1];
}

Comparison compare(const Section& section, const std::string& one, const std::string& other, double share, double bar) {
    const double ratio = quantile(find(section, one).rounds, share) / quantile(find(section, other).rounds, share);
    return {fmt::format("{} / {}{}", one, other, share == kMedian ? "" : fmt::format(", p{:.0f}", share * 100)), ratio,
            bar};
}

void print(const Section& section) {
    fmt::print("\n== {}\n", section.title);
    print_series(section.series);
    for (const Comparison& one : section.comparisons) print_line(one.name, one.ratio, "times", one.bar);
    for (const Figure& one : section.figures) print_line(one.name, one.value, one.unit, one.bar);
    std::fflush(stdout);
}

void write_json(const std::vector<Section>& sections, const std::string& path) {
    nlohmann::ordered_json json;
    for (const Section& section : sections) json[section.title] = json_of(section);
    std::ofstream file(path);
    file << json.dump(2) << '\n';
    if (!file.flush()) cannot_measure("cannot write " + path);
}

}  // namespace hagi::test
