// A disk and what a power cut may make of it. POSIX promises little: of what was written since a file was last synced
// any part may be there, in any order and by sectors; of what was created, linked and removed since the folder was last
// synced, too. This disk takes all of those liberties.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/dice.hpp"

namespace hagi::test {

// Files of one folder by name, with what is in them.
using Image = std::map<std::string, std::string>;

struct Operation {
    enum class Kind {
        Create,  // empty
        Link,    // `name` becomes another name of `target`
        Unlink,
        SyncFolder,
        Write,  // `bytes` at `at`
        Truncate,
        Sync,
        Answer,  // nothing happens, but somebody was told something
    };
    Kind kind = Kind::Answer;
    std::string name;
    std::string target;
    std::int64_t at = 0;
    std::string bytes;
};

// What becomes of all that was not synced.
enum class Cut {
    Nothing,  // is there: the disk was told everything and kept none of it
    All,      // as if only the processes had been killed
    Names,    // what happened to names, but not what was written
    Bytes,    // what was written, but not what happened to names
    Some,     // whole writes, each or not
    Sectors,  // of each write some sectors, some of them with garbage
};
inline constexpr Cut kCuts[] = {Cut::Nothing, Cut::All, Cut::Names, Cut::Bytes, Cut::Some, Cut::Sectors};
const char* name_of(Cut cut);

class Disk {
public:
    explicit Disk(const Image& synced);

    void apply(const Operation& operation);
    [[nodiscard]] Image after(Cut cut, Dice& dice) const;

private:
    struct Write {
        std::int64_t at = 0;
        std::optional<std::string> bytes;  // absent: the file is cut off, or filled up with zeros, at `at`
    };
    struct File {
        std::string synced;
        std::vector<Write> since;
    };
    struct NameChange {
        std::string name;
        std::optional<std::size_t> file;  // absent: the name goes
    };
    void rename(NameChange change);

    std::vector<File> files_;
    std::map<std::string, std::size_t> names_;  // as processes see them
    std::map<std::string, std::size_t> synced_names_;
    std::vector<NameChange> names_since_;
};

}  // namespace hagi::test
