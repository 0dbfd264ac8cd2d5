// What an operator may ask of a store beyond its locks: how it is, and to mend it. Behind `doctor`; no agent needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"

namespace hagi {

// One thing that was looked at.
struct Finding {
    std::string name;                  // one word, the same from release to release
    std::optional<ErrorKind> trouble;  // absent: as it should be
    std::string message;               // one line, escaped
    std::string fix;                   // what to do, one line; empty: nothing
};

struct Examination {
    std::string store;         // its path
    std::string filesystem;    // "ext4 (local)"
    std::string journal_mode;  // "wal", "rollback"; empty: not known
    std::string clock;         // whose time counts
    std::string sqlite;        // the library's version
    std::optional<std::int64_t> schema;
    std::vector<Finding> findings;
};

enum class Conversion { Converted, AlreadyShared };

struct Pruning {
    std::int64_t locks = 0;  // forgotten
    Epoch floor;             // above which locks that are new, or come back, start
};

struct Rebuilding {
    std::string store;
    std::string rebuilt;      // the new file
    std::int64_t locks = 0;   // carried over, all of them free
    std::int64_t events = 0;  // of the log, carried over
    Epoch floor;
    std::vector<std::string> losses;  // one line each; empty: everything but holds and places was carried over
};

class Upkeep {
public:
    virtual ~Upkeep() = default;

    // Writes nothing and waits for nobody longer than the busy timeout. A missing store is a finding without trouble.
    // NotFound: the folder that was named does not exist.
    virtual Result<Examination> examine() = 0;

    // Gives a store that was made for one machine the journal that a shared filesystem can bear; its id, epochs, holds
    // and permissions stay. Unreachable: somebody has it open. Also where commands refuse the store for its journal.
    virtual Result<Conversion> convert_to_shared() = 0;

    // Makes a new store at `target` (absent: "<store>.rebuilt") of what can be read of this one: its locks, free, and
    // its log. Every epoch that it will issue is above every one that was ever issued. Neither this store nor anything
    // at `target` is changed: InvalidArgument where something is there.
    virtual Result<Rebuilding> rebuild(const std::optional<std::string>& target) = 0;

    // Forgets locks that are free, of whose endings nothing is remembered, and of which nothing was logged within
    // `age`. Their epochs still never come back.
    virtual Result<Pruning> prune_idle(Duration age) = 0;
};

}  // namespace hagi
