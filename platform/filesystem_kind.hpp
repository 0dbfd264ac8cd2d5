// What a store may expect of the filesystem that it lies on. The mount table and statfs must agree, since either alone
// can be fooled; what is on no list is refused, since locks that are not really shared lose grants without a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lockcore/result.hpp"

namespace hagi {

enum class FilesystemKind {
    Local,   // one kernel: shared memory works
    Shared,  // several hosts: byte-range locks work, shared memory does not
    Unknown,
};

struct FilesystemReport {
    FilesystemKind kind = FilesystemKind::Unknown;
    std::string type;     // as mounted, e.g. "ext4", "nfs4"; escaped
    std::string refusal;  // why no store may lie here, one line with what to do; empty: usable
};

// Pure. `mountinfo` is a text in the form of /proc/self/mountinfo (empty: unknown, then statfs alone decides),
// `resolved_path` absolute and without symbolic links, `statfs_type` the f_type of statfs.
FilesystemReport judge_filesystem(std::string_view mountinfo, std::string_view resolved_path,
                                  std::uint64_t statfs_type);

// The filesystem of `resolved_path`, which must exist (give the store's folder while there is no store). `told` is
// HAGI_LOCK_FILESYSTEM, "local" or "shared": it is believed and nothing is refused; empty counts as absent, any other
// text is InvalidArgument. Unreachable where statfs fails.
Result<FilesystemReport> examine_filesystem(const std::string& resolved_path, const std::optional<std::string>& told);

// Unusable with the refusal, if there is one.
Outcome require_usable(const FilesystemReport& report);

}  // namespace hagi
