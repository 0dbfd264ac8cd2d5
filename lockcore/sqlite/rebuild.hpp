// A new store out of what can be read of a damaged one.
#pragma once

#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/schema.hpp"
#include "lockcore/upkeep.hpp"

namespace hagi::sqlite {

struct RebuildPlan {
    std::string target;
    Journal journal = Journal::Wal;
    SideFileMode mode;
};

// Reads what `old` still gives, row by row, and makes the new store of it. Call it under the gate of the old one. What
// the new one starts its epochs above is also above what a lost part may have held: see rebuild.cpp.
Result<Rebuilding> rebuild(Connection& old, const RebuildPlan& plan, Clock& clock);

}  // namespace hagi::sqlite
