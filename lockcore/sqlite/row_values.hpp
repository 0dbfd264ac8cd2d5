// What rows of several tables have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lockcore/process.hpp"
#include "lockcore/sqlite/connection.hpp"

namespace hagi::sqlite {

// The five columns of a process, from the next one on.
ProcessIdentity take_process(Query& row);

// The same to be written, as long as the process lives: NULLs for none.
struct ProcessColumns {
    std::optional<std::int64_t> pid;
    std::optional<std::int64_t> start;
    std::optional<std::string_view> boot;
    std::optional<std::int64_t> pid_namespace;
    std::optional<std::string_view> host;
};
ProcessColumns columns_of(const ProcessIdentity* process);

// What the rows of a lock say cannot be.
Error damaged_lock(const Connection& connection, const std::string& lock_id, const std::string& what);

}  // namespace hagi::sqlite
