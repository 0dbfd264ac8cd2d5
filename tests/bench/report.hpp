// The figures as a table for people and as JSON for scripts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/bench/candidates.hpp"
#include "tests/bench/idle.hpp"

namespace hagi::test {

struct Series {
    std::string name;
    std::vector<Milliseconds> rounds;
};

// The value that `share` (0 to 1) of the rounds do not exceed.
Milliseconds quantile(std::vector<Milliseconds> rounds, double share);

// What one figure is in terms of another, beside what it should be.
struct Comparison {
    std::string name;
    double ratio = 0;
    double bar = 0;  // more is too slow
    double aim = 0;
};

struct Report {
    std::vector<Series> series;
    std::vector<Comparison> comparisons;
    std::vector<IdleCost> idle;
    int idle_seconds = 0;
};

std::vector<Comparison> compare(const std::vector<Series>& series);

void print(const Report& report);
void write_json(const Report& report, const std::string& path);

}  // namespace hagi::test
