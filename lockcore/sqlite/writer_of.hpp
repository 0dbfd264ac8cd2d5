// Who writes to a database just now: for the message of a command that waited for it in vain.
#pragma once

#include <optional>
#include <string>

#include "platform/file_gate.hpp"

namespace hagi::sqlite {

// A process other than this one that holds one of SQLite's write locks on the database at `path`; absent: none that
// can be seen from here. Opens neither file, since closing it again would drop this process's own locks.
std::optional<GateHolder> writer_of(const std::string& path);

}  // namespace hagi::sqlite
