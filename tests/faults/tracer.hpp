// strace as the hand that disturbs a program: at the n-th call of one system call it is killed or told of an error.
#pragma once

#include <string>
#include <vector>

#include "tests/process/hagi.hpp"

namespace hagi::test {

enum class Fault {
    Kill,         // before the call does anything
    InputOutput,  // EIO: the call does nothing
    NoSpace,      // ENOSPC
    Quota,        // EDQUOT
    NoMemory,     // ENOMEM
    Stop,         // as Kill, but by SIGSTOP: it goes on after SIGCONT
};

struct Call {
    std::string name;
    int nth = 1;
    bool frees = false;  // a lock, which no machine refuses
};

// The system calls that the program makes between its start in main() and its end, in their order. Those of the
// processes that it starts are not among them, nor are they disturbed.
std::vector<Call> calls_of(const Hagi& hagi, const Words& line);

// The words that run `line` with this one call disturbed.
Words disturbed(const Words& line, const Call& call, Fault fault, const std::string& trace);

// Whether the trace, once the program has ended, says that it came so far.
bool was_disturbed(const std::string& trace);

// Whether this machine lets strace do that; says loudly that a test is skipped where it does not.
bool can_disturb();

std::string name_of(Fault fault);

}  // namespace hagi::test
