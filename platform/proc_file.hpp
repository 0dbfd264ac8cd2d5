// The small texts that the kernel offers under /proc.
#pragma once

#include <optional>
#include <string>

namespace hagi {

// The whole of `path`; absent where it cannot be read or is larger than a mebibyte.
std::optional<std::string> read_proc_file(const std::string& path);

// Names this boot of this kernel; empty where there is no /proc. Read once for a process.
const std::string& boot_id();

}  // namespace hagi
