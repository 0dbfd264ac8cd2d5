// The engine that keeps the locks in one SQLite file, shared by every process of a machine (or, with a rollback
// journal, of a shared filesystem). README.md, "The stored format", says what it writes and why.
#pragma once

#include <memory>
#include <string>

#include "lockcore/clock.hpp"
#include "lockcore/engine.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/sqlite/schema.hpp"
#include "lockcore/witness.hpp"
#include "platform/side_file.hpp"

namespace hagi {

struct SqliteOptions {
    using Journal = sqlite::Journal;
    enum class Access {
        Create,    // a store that is missing is made
        Existing,  // a store that is missing is NotFound
        ReadOnly,  // the same, and submit() is never called; works for who may only read
    };

    std::string path;                // resolved: everything beside the store is named after it
    Journal journal = Journal::Wal;  // of a new store, and the most that this filesystem can bear
    Access access = Access::Existing;
    Duration busy_timeout = kBusyTimeout;  // for the gate and for SQLite together, in each call
    SideFileMode mode;                     // of a new store and of the gate
};

// The file beside the store at `path` that whoever writes to it holds locked. Never remove it.
std::string gate_path(const std::string& path);

// Looks at the store's file, or makes it, but waits for nobody. `clock`, `signal` and `witness` outlive the engine.
// NotFound: there is no such file, or with Access::Create no such folder. Damaged: the file is no store of hagi's.
// Unusable: it was made for one machine and `options.journal` says that this filesystem is shared.
Result<std::unique_ptr<Engine>> open_sqlite_engine(SqliteOptions options, Clock& clock, ChangeSignal& signal,
                                                   Witness& witness);

}  // namespace hagi
