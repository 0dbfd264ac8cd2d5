// What the machine allows this process, and in which time it lives: for who looks after a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hagi {

struct MachineLimits {
    std::optional<std::uint64_t> open_files;         // absent: not known, or no limit
    std::optional<std::uint64_t> inotify_instances;  // of the user; absent: not known
};

MachineLimits machine_limits();

// Whether this process is in a time namespace whose monotonic clock is not the machine's.
bool in_shifted_time();

// The same, out of a text in the form of /proc/self/timens_offsets.
bool shifts_time(const std::string& offsets);

}  // namespace hagi
