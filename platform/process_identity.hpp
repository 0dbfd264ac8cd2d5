// Who a process is, and whether it is still there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lockcore/types.hpp"
#include "lockcore/witness.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

ProcessIdentity this_process();

// Of a living process that can be seen from here.
std::optional<ProcessIdentity> identity_of(pid_t pid);

enum class Liveness { Alive, Gone, Unknown };

// Gone only where it is proven: same boot, same pid namespace, and no process of that number and start time. Unknown
// for another boot, host or pid namespace, without /proc, or where the process is hidden from this user.
Liveness is_alive(const ProcessIdentity& process);

// Proven gone: the process of `run`, and every process of the group of its command.
class ProcessWitness : public Witness {
public:
    bool is_gone(const Binding& binding) override;
};

// A descriptor that becomes readable when the process ends. None where there is no such process or the kernel
// cannot do it; errno says which (ESRCH, ENOSYS). Compare identity_of afterwards: the number may be another's by now.
UniqueFd open_process(pid_t pid);

// Whether reading `fd` would not wait, now or within `at_most`: of a process descriptor, whether the process has ended.
// Without a descriptor (negative) it only takes that time.
bool is_readable(int fd, Duration at_most = Duration::zero());

// The group, the start time and whether it can still run, from a text in the form of /proc/PID/stat.
struct ProcessStat {
    pid_t group = 0;
    std::uint64_t start_ticks = 0;
    bool dead = false;  // ended and only not yet waited for
};
std::optional<ProcessStat> parse_process_stat(const std::string& text);

}  // namespace hagi
