// What SQLite's result codes mean to who uses the store, and what there is to do: the only place that knows them.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "lockcore/result.hpp"

namespace hagi::sqlite {

// Somebody else writes. A connection, which knows for how long it has waited, says so itself.
bool is_busy(int code);

// For any other result code of the last call on `handle`, which may be null, and whose database is at `path`.
Error failure_of(sqlite3* handle, const std::string& path, int code);

// What was read from the database at `path` contradicts itself.
Error damage_of(const std::string& path, std::string_view what);

}  // namespace hagi::sqlite
