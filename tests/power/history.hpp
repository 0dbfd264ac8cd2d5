// What was asked of a store, what was answered when, and what went to the disk meanwhile.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockcore/clock.hpp"
#include "lockcore/sqlite/schema.hpp"
#include "tests/power/disk.hpp"

namespace hagi::test {

// One request that was answered, and how things stood then.
struct Moment {
    std::string request;                  // "x a acquire -> Holding #1"
    std::string rows;                     // all of the store; empty: there is none
    bool must_last = false;               // more than a heartbeat or a poll
    std::map<std::string, Epoch> epochs;  // by lock, the greatest that anybody was told so far
    ClockReading clock;
};

struct History {
    Image before;                       // what the folder held
    std::vector<Operation> operations;  // an Answer belongs to each moment but the first
    std::vector<Moment> moments;        // the first is the beginning
};

// Plays lines against the real engine in a folder of its own, over `before`:
//
//     1 x a acquire   a request on the lock x by the first of two processes, which opens the store where it has not
//     1 ends          that process is gone
//     later 30        seconds pass
//     prune           the doctor forgets idle locks
//     convert         the doctor gives the store a rollback journal
//     2 x b acquire during creation     what comes next will make the store: asked when it is about to sync the folder
//
// Throws where the engine gives an error.
History play(const std::vector<std::string>& lines, sqlite::Journal journal, const Image& before = {},
             const Moment& beginning = {});

// Requests for a random history: three owners, two locks, two processes that come and go.
std::vector<std::string> random_lines(Dice& dice, int requests);

// The whole store as a shell would show it.
std::string rows_of(const std::string& path);

}  // namespace hagi::test
