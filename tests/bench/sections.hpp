// The parts of the benchmark, each of which can be had alone.
#pragma once

#include <string>

#include "tests/bench/report.hpp"

namespace hagi::test {

struct Bench {
    Programs programs;
    std::string folder;  // of this section; goes when it is done
    Effort effort;
    int seconds = 3;        // of each measurement of throughput
    int fair_seconds = 20;  // of the race
    int idle_seconds = 15;
    int crowd = 1000;    // watchers
    bool peers = false;  // whether those that are installed are measured beside
};

Section measure_commands(const Bench& bench);    // one command beside another, and beside the peers
Section measure_contention(const Bench& bench);  // 1 to 64 processes on one lock, and each on its own
Section measure_growth(const Bench& bench);      // what a command costs as the store, a queue and the log grow
Section measure_crowd(const Bench& bench);       // very many watchers
Section measure_fairness(const Bench& bench);    // 64 processes that take and give back as fast as they can
Section measure_idle(const Bench& bench);        // one watcher while nothing happens

}  // namespace hagi::test
