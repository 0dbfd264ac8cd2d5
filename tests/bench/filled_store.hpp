// A store with as much in it as a measurement wants, written in one piece.
#pragma once

#include <string>

#include "tests/bench/candidates.hpp"

namespace hagi::test {

struct Filling {
    int locks = 0;    // held, "fill/1" ...
    int waiters = 0;  // on "bench/queue", "w1" ..., behind "holder"
    int events = 0;   // of the log
};

// Makes the store in `folder`.
void make_filled_store(const Programs& programs, const std::string& folder, const Filling& filling);

// Every waiter of the store in `folder` is heard from now, or those who only stand in rows would lapse after a minute.
void hear_waiters(const std::string& folder);

}  // namespace hagi::test
