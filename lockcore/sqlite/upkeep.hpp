// Looking after the store that the engine in SQLite keeps: Upkeep for one file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lockcore/clock.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/upkeep.hpp"
#include "platform/filesystem_kind.hpp"
#include "platform/paths.hpp"

namespace hagi {

struct UpkeepTerms {
    StorePath store;                  // as it was named
    std::optional<std::string> told;  // HAGI_LOCK_FILESYSTEM
    Duration busy_timeout = kBusyTimeout;

    // The clock of stores at a resolved path; it is read by what writes only.
    std::function<std::unique_ptr<Clock>(FilesystemKind, const std::string& path)> clock_for;
};

// Touches nothing yet.
std::unique_ptr<Upkeep> sqlite_upkeep(UpkeepTerms terms);

}  // namespace hagi
