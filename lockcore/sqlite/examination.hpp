// What can be seen of a store without changing anything: its place, its surroundings, and what SQLite says of it.
#pragma once

#include "lockcore/engine.hpp"
#include "lockcore/sqlite/upkeep.hpp"

namespace hagi::sqlite {

// Upkeep::examine().
Result<Examination> examine(const UpkeepTerms& terms);

// Every lock as the next command finds it; on a shared filesystem as of the last change, since its clock cannot be
// read without writing. The errors are those of the engine.
Result<ListAnswer> look_into(const StorePlace& place, FilesystemKind kind, Duration busy_timeout);

}  // namespace hagi::sqlite
