// Which process is meant, told apart from every other that has or had its number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "platform/unique_fd.hpp"

namespace hagi {

struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;    // when it started, in clock ticks since the boot; 0: not known
    std::string boot_id;              // empty: not known
    std::uint64_t pid_namespace = 0;  // 0: not known
    std::string host;                 // for people only

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();

// Of a living process that can be seen from here.
std::optional<ProcessIdentity> identity_of(pid_t pid);

enum class Liveness { Alive, Gone, Unknown };

// Gone only where it is proven: same boot, same pid namespace, and no process of that number and start time. Unknown
// for another boot, host or pid namespace, without /proc, or where the process is hidden from this user.
Liveness is_alive(const ProcessIdentity& process);

// A descriptor that becomes readable when the process ends. None where there is no such process or the kernel
// cannot do it; errno says which (ESRCH, ENOSYS). Compare identity_of afterwards: the number may be another's by now.
UniqueFd open_process(pid_t pid);

// The start time, and whether it can still run, from a text in the form of /proc/PID/stat.
struct ProcessStat {
    std::uint64_t start_ticks = 0;
    bool dead = false;  // ended and only not yet waited for
};
std::optional<ProcessStat> parse_process_stat(const std::string& text);

}  // namespace hagi
