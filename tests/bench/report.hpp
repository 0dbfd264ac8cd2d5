// The figures as a table for people and as JSON for scripts.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/candidates.hpp"

namespace hagi::test {

// The value that `share` (0 to 1) of the rounds do not exceed.
Milliseconds quantile(std::vector<Milliseconds> rounds, double share);

constexpr double kMedian = 0.5;
constexpr double kTail = 0.99;

// What one figure is in terms of another, beside what it should be.
struct Comparison {
    std::string name;
    double ratio = 0;
    double bar = 0;  // more is too slow; 0: none
};

// A figure that is no round's time.
struct Figure {
    std::string name;
    double value = 0;
    std::string unit;
    double bar = 0;  // more is too much; 0: none
};

// What one section of the benchmark has to say.
struct Section {
    std::string title;
    std::vector<Series> series;
    std::vector<Comparison> comparisons;
    std::vector<Figure> figures;
};

// `share` of one series to the same share of another, which must both be in `section`.
Comparison compare(const Section& section, const std::string& one, const std::string& other, double share, double bar);

void print(const Section& section);
void write_json(const std::vector<Section>& sections, const std::string& path);

}  // namespace hagi::test
