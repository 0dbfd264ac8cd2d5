#include <algorithm>
#include <iterator>

#include "tests/bench/peers.hpp"
#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

// Ahead of every peer by two or more.
constexpr double kHalf = 0.5;

void compare_with_peers(Section& section) {
    namespace names = candidate_names;
    const auto measured = [&](const char* name) {
        return std::any_of(section.series.begin(), section.series.end(),
                           [&](const Series& one) { return one.name == name; });
    };
    for (const char* const peer : {peer_names::kEtcd, peer_names::kRedis, peer_names::kPostgres, peer_names::kSem}) {
        if (!measured(peer)) continue;
        const double bar = peer == peer_names::kSem ? 0 : kHalf;
        section.comparisons.push_back(compare(section, names::kPair, peer, kMedian, bar));
        section.comparisons.push_back(compare(section, names::kRun, peer, kMedian, bar));
    }
}

}  // namespace

Section measure_commands(const Bench& bench) {
    namespace names = candidate_names;
    Section section{"commands", {}, {}, {}};
    {
        auto candidates = make_candidates(bench.programs, bench.folder);
        auto peers = bench.peers ? make_peers(bench.programs, bench.folder) : std::vector<Candidate>{};
        std::move(peers.begin(), peers.end(), std::back_inserter(candidates));
        section.series = take_turns(candidates, bench.effort);
    }
    section.comparisons = {
        compare(section, names::kPair, names::kTwoFlocks, kMedian, 1.2),
        compare(section, names::kWatchedPair, names::kTwoFlocks, kMedian, 1.2),
        compare(section, names::kRun, names::kFlock, kMedian, 1.3),
        compare(section, names::kRunHandOff, names::kFlockHandOff, kMedian, 1.5),
        compare(section, names::kRunHandOff, names::kFlockHandOff, kTail, 3.0),
        compare(section, names::kHandOff, names::kFlockUnlock, kMedian, 1.5),
        compare(section, names::kHandOff, names::kFlockUnlock, kTail, 3.0),
        compare(section, names::kKilledRun, names::kFlockHandOff, kMedian, 0),
        compare(section, names::kStatus, names::kFlock, kMedian, 0),
    };
    compare_with_peers(section);
    return section;
}

}  // namespace hagi::test
