// What the processes of a stress test saw with their own eyes, and when: the only thing that the judge knows.
// One file, one line a record, written by all of them at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hagi::test {

// CLOCK_MONOTONIC, the same for every process of the machine.
using Moment = std::chrono::nanoseconds;
Moment moment();

enum class Saw {
    Asked,    // the owner begins to ask for its turn; again where it has not had it yet (from before the command)
    Queued,   // it was told its place (from after the answer)
    Granted,  // it was told that it holds `epoch` (after)
    Entered,  // it uses the resource, sure of it until `until` (after)
    Left,     // it does not any more (before the command that gives the lock back)
    Lost,     // it was told that its turn or its grant is gone (after)
    Refused,  // the resource refused `epoch` as a stale one (after)
    Taken,    // `owner` took `epoch` by order, from the holder of `other` (before the command; 0: from nobody)
    Killed,  // the process `pid` was about to be killed, and its child with it; they may see things until they are dead
    Abandoned,  // the owner was killed, and nobody goes on for it (before)
};

struct Record {
    Moment at{};
    Saw saw = Saw::Asked;
    std::string lock;
    std::string owner;
    std::int64_t epoch = 0;
    std::int64_t other = 0;
    Moment until{};
    int pid = 0;
    int parent = 0;  // whose death is this process's, too
};

std::string line_of(const Record& record);

class History {
public:
    explicit History(std::string path);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    // One write, so that the lines of many processes stay whole. A record that cannot be kept ends the process.
    void add(const Record& record) const;

private:
    int fd_;
};

// In order of time.
std::vector<Record> read_history(const std::string& path);

std::string_view word_for(Saw saw);

}  // namespace hagi::test
