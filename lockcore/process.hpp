// Which process is meant, told apart from every other that has or had its number. Plain values: the rules compare
// them, platform/process_identity.hpp makes them and asks the machine.
#pragma once

#include <cstdint>
#include <string>

namespace hagi {

struct ProcessIdentity {
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;    // when it started, in clock ticks since the boot; 0: not known
    std::string boot_id;              // empty: not known
    std::uint64_t pid_namespace = 0;  // 0: not known
    std::string host;                 // for people only

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// What a grant of `run` is bound to: gone only when the process is gone and no process of the group is left.
struct Binding {
    ProcessIdentity run;
    std::int32_t group = 0;  // the process group of the command; 0: not started yet

    friend bool operator==(const Binding&, const Binding&) = default;
};

}  // namespace hagi
