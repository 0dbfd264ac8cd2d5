// Judges a history by what the protocol promises. It has never heard of the product: no store, no rules, no library of
// it; what it knows of the numbers is in Terms.
#pragma once

#include <string>
#include <vector>

#include "tests/stress/history.hpp"

namespace hagi::test {

struct Terms {
    Moment lease = std::chrono::seconds{30};  // that every owner of the history asked for
    Moment claim_window = std::chrono::seconds{30};
};

// Every way in which `history` (in order of time, to its end: nobody who is alive still waits) breaks a promise, each
// as one line; empty: none.
//
//   - two unexpired holders at once
//   - an epoch that two owners had, or one that is not above all earlier ones
//   - a later comer had its turn before an earlier one that was alive all along
//   - a live waiter that never had its turn
//   - a lock that nobody used for longer than a claim window and a lease while somebody alive waited
//   - a resource that refused a holder whose grant had neither lapsed nor been taken
std::vector<std::string> broken_promises(const std::vector<Record>& history, const Terms& terms = {});

}  // namespace hagi::test
