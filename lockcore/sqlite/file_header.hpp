// What the first hundred bytes of a file say of it.
#pragma once

#include <cstdint>

#include "lockcore/sqlite/connection.hpp"

namespace hagi::sqlite {

struct FileHeader {
    bool empty = false;   // nothing there at all
    bool sqlite = false;  // else the rest means nothing
    bool wal = false;
    std::uint32_t application_id = 0;
};

// As the file itself has it: what is still in a write-ahead log is not seen. Where a power cut has torn the first page,
// and a journal or a log that may mend it is beside the file, as SQLite reads it from there; only that waits.
Result<FileHeader> read_header(Connection& connection);

}  // namespace hagi::sqlite
