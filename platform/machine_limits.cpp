#include "platform/machine_limits.hpp"

#include <sys/resource.h>

#include <sstream>

#include "platform/proc_file.hpp"

namespace hagi {

MachineLimits machine_limits() {
    MachineLimits limits;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) limits.open_files = files.rlim_cur;
    std::istringstream text(read_proc_file("/proc/sys/fs/inotify/max_user_instances").value_or(""));
    if (std::uint64_t instances = 0; text >> instances) limits.inotify_instances = instances;
    return limits;
}

// Lines like "monotonic           0         0": a clock, seconds, nanoseconds.
bool shifts_time(const std::string& offsets) {
    std::istringstream lines(offsets);
    std::string clock;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    while (lines >> clock >> seconds >> nanoseconds)
        if (clock == "monotonic" && (seconds != 0 || nanoseconds != 0)) return true;
    return false;
}

bool in_shifted_time() { return shifts_time(read_proc_file("/proc/self/timens_offsets").value_or("")); }

}  // namespace hagi
