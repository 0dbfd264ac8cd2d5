// One command on a real store, in this process: quicker than a program, and a crash shows where.
#pragma once

#include <string>
#include <vector>

namespace hagi::test {

struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
};

// `hagi agent lock WORDS...` with the store at `path`, at one and the same instant. A heartbeat is told to stop as soon
// as it listens.
Outcome run_command(const std::string& path, const std::vector<std::string>& words);

}  // namespace hagi::test
