#include "lockcore/sqlite/schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"
#include "platform/unique_fd.hpp"

namespace hagi::sqlite {
namespace {

constexpr const char* kSteps[] = {
    R"(
CREATE TABLE store (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    store_id    TEXT    NOT NULL,
    epoch_floor INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    timeline    TEXT    NOT NULL,
    steady_ms   INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
) STRICT;

CREATE TABLE locks (
    lock_id      TEXT    NOT NULL PRIMARY KEY,
    last_epoch   INTEGER NOT NULL,
    recent_holds TEXT    NOT NULL,
    owner        TEXT,
    epoch        INTEGER,
    lease_ms     INTEGER,
    hard_cap_ms  INTEGER,
    label        TEXT,
    granted_ms   INTEGER,
    granted_how  TEXT,
    claimed_ms   INTEGER,
    feedback_ms  INTEGER,
    accepted_ms  INTEGER,
    phase        TEXT,
    phase_since_ms INTEGER,
    note         TEXT,
    bound_pid    INTEGER,
    bound_start  INTEGER,
    bound_boot   TEXT,
    bound_pid_ns INTEGER,
    bound_host   TEXT,
    bound_group  INTEGER,
    attached     INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE waiters (
    lock_id      TEXT    NOT NULL,
    ticket       INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    label        TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    note         TEXT    NOT NULL,
    lease_ms     INTEGER NOT NULL,
    max_hold_ms  INTEGER NOT NULL,
    enqueued_ms  INTEGER NOT NULL,
    heard_ms     INTEGER NOT NULL,
    pid          INTEGER,
    start        INTEGER,
    boot         TEXT,
    pid_ns       INTEGER,
    host         TEXT,
    PRIMARY KEY (lock_id, ticket)
) STRICT, WITHOUT ROWID;

CREATE TABLE endings (
    lock_id  TEXT    NOT NULL,
    owner    TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    epoch    INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    cause    TEXT    NOT NULL,
    by_owner TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    PRIMARY KEY (lock_id, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    seq      INTEGER PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    wall_ms  INTEGER NOT NULL,
    event    TEXT    NOT NULL,
    lock_id  TEXT    NOT NULL,
    owner    TEXT    NOT NULL,
    epoch    INTEGER,
    by_owner TEXT,
    reason   TEXT,
    cause    TEXT,
    label    TEXT
) STRICT;

CREATE TABLE watchers (
    lock_id  TEXT    NOT NULL,
    place    INTEGER NOT NULL,
    pid      INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    boot     TEXT    NOT NULL,
    pid_ns   INTEGER NOT NULL,
    host     TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (lock_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE nudges (
    lock_id  TEXT    NOT NULL,
    place    INTEGER NOT NULL,
    by_owner TEXT    NOT NULL,
    at_ms    INTEGER NOT NULL,
    reason   TEXT    NOT NULL,
    PRIMARY KEY (lock_id, place)
) STRICT, WITHOUT ROWID;
)",
};

// Bytes 18 and 19 of SQLite's file format say how the file is written and read; 2 is with a write-ahead log.
constexpr std::size_t kWriteVersionAt = 18;
constexpr std::size_t kReadVersionAt = 19;
constexpr char kWalVersion = 2;

Outcome fill(Connection& store, const ClockReading& now) {
    const std::string identity = "PRAGMA application_id = " + std::to_string(kApplicationId);
    if (Outcome marked = store.execute(identity.c_str()); !marked) return marked;
    if (Outcome migrated = migrate(store, schema_steps()); !migrated) return migrated;
    return store.run("INSERT INTO store VALUES (1, lower(hex(randomblob(16))), 0, 0, ?1, ?2, ?3)", now.timeline,
                     now.steady, now.wall);
}

// A new store is made in memory and written in one piece: no journal, no side file, nothing to roll back.
Result<std::string> new_image(Journal journal, Clock& clock, const Furnish& furnish) {
    const Result<ClockReading> now = clock.read();
    if (!now) return now.error();
    Result<std::unique_ptr<Connection>> store = Connection::in_memory();
    if (!store) return store.error();
    if (Outcome filled = fill(**store, *now); !filled) return filled.error();
    if (furnish)
        if (Outcome furnished = furnish(**store); !furnished) return furnished.error();
    Result<std::string> image = (*store)->serialized();
    if (image && journal == Journal::Wal) {
        image->at(kWriteVersionAt) = kWalVersion;
        image->at(kReadVersionAt) = kWalVersion;
    }
    return image;
}

bool write_durably(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
}

bool sync_folder_of(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const UniqueFd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some filesystems cannot sync a folder, and say EINVAL.
    return fd && (::fsync(fd.get()) == 0 || errno == EINVAL);
}

// Neither replaces what is at `to`. Some filesystems know only one of them.
int move_into_place(const std::string& from, const std::string& to) {
    if (::link(from.c_str(), to.c_str()) == 0) {
        ::unlink(from.c_str());
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return errno;
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

bool is_there(const std::string& path) {
    struct stat file {};
    return ::lstat(path.c_str(), &file) == 0;
}

bool has_content(const std::string& path) {
    struct stat file {};
    return ::stat(path.c_str(), &file) == 0 && file.st_size > 0;
}

// SQLite would play them into the new store. That the store itself is missing is looked at last: a log comes into being
// after its store.
Outcome require_no_leftovers(const std::string& path) {
    for (const char* const suffix : {"-wal", "-journal"})
        if (has_content(path + suffix) && !is_there(path))
            return Error{ErrorKind::Damaged, "the store " + escaped(path) + " was removed, but " +
                                                 escaped(path + suffix) +
                                                 " is still there with what it holds: put the store back, or remove "
                                                 "that file, too, for a new store"};
    return Done{};
}

std::string name_for_building(const std::string& path) {
    std::uint64_t random = 0;
    sqlite3_randomness(sizeof random, &random);
    char suffix[24];
    std::snprintf(suffix, sizeof suffix, ".new-%016jx", static_cast<std::uintmax_t>(random));
    return path + suffix;
}

}  // namespace

std::span<const char* const> schema_steps() { return kSteps; }

std::int64_t schema_version() { return std::int64_t{std::ssize(schema_steps())}; }

Result<std::int64_t> stored_version(Connection& connection) {
    Query query(connection, "PRAGMA user_version");
    const Result<bool> row = query.step();
    if (!row) return row.error();
    return query.take_integer();
}

Outcome migrate(Connection& connection, std::span<const char* const> steps) {
    const Result<std::int64_t> version = stored_version(connection);
    if (!version) return version.error();
    if (*version < 0) return connection.damaged("a negative version");
    for (auto step = static_cast<std::size_t>(*version); step < steps.size(); ++step)
        if (Outcome applied = connection.execute(steps[step]); !applied) return applied;
    const std::string reached = "PRAGMA user_version = " + std::to_string(steps.size());
    return connection.execute(reached.c_str());
}

Result<Creation> create_store(const std::string& path, Journal journal, const SideFileMode& mode, Clock& clock,
                              const Furnish& furnish) {
    if (Outcome clean = require_no_leftovers(path); !clean) return clean.error();
    const Result<std::string> image = new_image(journal, clock, furnish);
    if (!image) return image.error();

    const std::string building = name_for_building(path);
    const std::string what = "cannot create the store " + path;
    UniqueFd file(::open(building.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return posix_error(errno, what, Absence::NotFound);
    int failure = 0;
    if (!apply_mode(file.get(), mode) || !write_durably(file.get(), *image)) failure = errno;
    file.reset();  // before anybody can open it through SQLite
    if (failure == 0) failure = move_into_place(building, path);
    if (failure != 0) ::unlink(building.c_str());

    if (failure != 0 && failure != EEXIST) return posix_error(failure, what);
    // The other creator may have been killed before it came so far. Who finds the store in that instant and does not
    // create has SQLite's own sync of the folder, which goes with the first commit to a new log or journal.
    if (!sync_folder_of(path)) return posix_error(errno, "cannot make the new store durable: " + path);
    return failure == EEXIST ? Creation::AlreadyThere : Creation::Created;
}

}  // namespace hagi::sqlite
