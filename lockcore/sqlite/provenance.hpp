// Whether a store's file, the log beside it and what the gate remembers belong together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lockcore/result.hpp"
#include "lockcore/sqlite/state_table.hpp"

namespace hagi::sqlite {

// Tells the file at `path` from any other that is put in its place. 0: it cannot be told.
enum class FileNumber : std::uint64_t {};
FileNumber file_number(const std::string& path);

// What the gate is to remember of the store in `file` once its newest event is durable, so never ahead of it: for
// FileGate::leave_note.
std::string note_of(FileNumber file, const std::string& store_id, std::int64_t newest_event);

// `note`: what the gate remembered before `store` was read from `path`. Damaged: changes that were answered are lost,
// or the log beside the file is another store's. `file`: 0 where there is no log. Where the note does not know the
// file, it is read once more, without its log.
Outcome check_provenance(const std::string& path, FileNumber file, const StoreRow& store, std::string_view note);

// Damaged: the log beside the store that `connection` has open is another store's. The same, for who has no note.
Outcome check_log(Connection& connection);

}  // namespace hagi::sqlite
