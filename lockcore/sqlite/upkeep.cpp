#include "lockcore/sqlite/upkeep.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "lockcore/names.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/engine.hpp"
#include "lockcore/sqlite/examination.hpp"
#include "lockcore/sqlite/file_header.hpp"
#include "lockcore/sqlite/provenance.hpp"
#include "lockcore/sqlite/rebuild.hpp"
#include "lockcore/sqlite/schema.hpp"
#include "platform/file_gate.hpp"

namespace hagi {
namespace {

using sqlite::Connection;
using sqlite::Transaction;

// Free, nobody waits, nothing is remembered of an ending, nothing was logged of late.
#define IDLE                                                                \
    "owner IS NULL AND lock_id NOT IN (SELECT lock_id FROM waiters)"        \
    " AND lock_id NOT IN (SELECT lock_id FROM endings WHERE ended_ms > ?1)" \
    " AND lock_id NOT IN (SELECT lock_id FROM events WHERE wall_ms > ?2)"
constexpr char kReadAnchor[] = "SELECT at_ms, timeline, steady_ms, wall_ms FROM store WHERE id = 1";
constexpr char kRaiseFloor[] =
    "UPDATE store SET epoch_floor = max(epoch_floor, coalesce((SELECT max(last_epoch) FROM locks WHERE " IDLE
    "), 0)) WHERE id = 1";
// With the locks that go, what is no longer remembered of them.
constexpr char kForgetEndings[] = "DELETE FROM endings WHERE lock_id IN (SELECT lock_id FROM locks WHERE " IDLE ")";
constexpr char kForgetLocks[] = "DELETE FROM locks WHERE " IDLE;
constexpr char kReadFloor[] = "SELECT epoch_floor FROM store WHERE id = 1";
#undef IDLE

Error in_use(const std::string& path) {
    return {ErrorKind::Unreachable, "somebody has the store " + escaped(path) +
                                        " open: end every hagi that uses it (`fuser -v` with its path names those of "
                                        "this machine), then try again"};
}

Result<ClockAnchor> read_anchor(Connection& connection) {
    sqlite::Query query(connection, kReadAnchor);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return connection.damaged("the row about the store itself is missing");
    ClockAnchor anchor;
    anchor.at = query.take_instant();
    anchor.reading.timeline = query.take_text();
    anchor.reading.steady = query.take_duration();
    anchor.reading.wall = query.take_duration();
    return anchor;
}

Result<Pruning> prune(Connection& connection, Duration age, const ClockReading& now) {
    const Result<ClockAnchor> anchor = read_anchor(connection);
    if (!anchor) return anchor.error();
    const Instant forgotten = store_time(*anchor, now) - kEndingKept;
    const Duration since = now.wall - age;
    // First the floor: it covers the epochs of exactly the locks that go next.
    for (const char* const sql : {kRaiseFloor, kForgetEndings})
        if (Outcome done = connection.run(sql, forgotten, since); !done) return done.error();
    const std::int64_t before = connection.rows_changed();
    if (Outcome done = connection.run(kForgetLocks, forgotten, since); !done) return done.error();
    Pruning pruning;
    pruning.locks = connection.rows_changed() - before;
    sqlite::Query query(connection, kReadFloor);
    if (const Result<bool> row = query.step(); !row) return row.error();
    pruning.floor = query.take_epoch();
    return pruning;
}

// One user, who needs no shared memory for the log. Whoever else has the store open keeps it from this.
Outcome leave_the_log(Connection& connection) {
    // Before anything that reads the file, since that would open the log with its shared memory.
    if (Outcome alone = connection.execute("PRAGMA locking_mode = EXCLUSIVE"); !alone) return alone;
    if (Outcome set = connection.set_durability(sqlite::Durability::PowerCut, false); !set) return set;
    int persist = 0;
    sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    sqlite::Query query(connection, "PRAGMA journal_mode = DELETE");
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (*row && query.take_text() != "delete") return in_use(connection.path());
    return Done{};
}

class SqliteUpkeep final : public Upkeep {
public:
    explicit SqliteUpkeep(UpkeepTerms terms) : terms_(std::move(terms)) {}

    Result<Examination> examine() override { return sqlite::examine(terms_); }
    Result<Conversion> convert_to_shared() override;
    Result<Rebuilding> rebuild(const std::optional<std::string>& target) override;
    Result<Pruning> prune_idle(Duration age) override;

private:
    // The place of something that is to be written, on a filesystem that can bear it.
    struct Place {
        StorePlace store;
        FilesystemKind kind = FilesystemKind::Unknown;
        [[nodiscard]] sqlite::Journal journal() const {
            return kind == FilesystemKind::Shared ? sqlite::Journal::Rollback : sqlite::Journal::Wal;
        }
    };
    [[nodiscard]] Result<Place> place_of(const std::string& path) const;
    [[nodiscard]] std::unique_ptr<FileGate> gate_of(const Place& place) const {
        return std::make_unique<FileGate>(gate_path(place.store.path), place.store.mode);
    }
    [[nodiscard]] sqlite::Deadline patience() const { return std::chrono::steady_clock::now() + terms_.busy_timeout; }

    UpkeepTerms terms_;
};

Result<SqliteUpkeep::Place> SqliteUpkeep::place_of(const std::string& path) const {
    const auto store = check_store_place(path, Access::Write);
    if (!store) return store.error();
    const auto filesystem = examine_filesystem(store->folder, terms_.told);
    if (!filesystem) return filesystem.error();
    if (const auto usable = require_usable(*filesystem); !usable) return usable.error();
    return Place{*store, filesystem->kind};
}

Result<Conversion> SqliteUpkeep::convert_to_shared() {
    const auto place = place_of(terms_.store.path);
    if (!place) return place.error();
    const std::string& path = place->store.path;
    auto connection = Connection::open(path, sqlite::OpenMode::ReadWrite);
    if (!connection) return connection.error();
    const auto header = read_header(**connection);
    if (!header) return header.error();
    if (!header->sqlite || header->application_id != sqlite::kApplicationId)
        return Error{ErrorKind::Damaged, escaped(path) + " is not a hagi store: name another with --store"};
    if (!header->wal) return Conversion::AlreadyShared;

    const auto gate = gate_of(*place);
    if (Outcome entered = gate->enter(terms_.busy_timeout); !entered) return entered.error();
    const GateLeaver leaver(*gate);
    Outcome left = leave_the_log(**connection);
    // Who has it open does not go away by waiting.
    if (!left && left.error().kind == ErrorKind::Unreachable) return in_use(path);
    if (!left) return left.error();
    ::unlink((path + "-shm").c_str());  // nobody has it open, and nobody will look for it again
    return Conversion::Converted;
}

Result<Rebuilding> SqliteUpkeep::rebuild(const std::optional<std::string>& target) {
    const auto place = place_of(terms_.store.path);
    if (!place) return place.error();
    auto new_place = place_of(target.value_or(place->store.path + ".rebuilt"));
    if (!new_place) return new_place.error();
    new_place->store.mode = place->store.mode;

    const auto gate = gate_of(*place);
    if (Outcome entered = gate->enter(terms_.busy_timeout); !entered) return entered.error();
    const GateLeaver leaver(*gate);
    auto old = Connection::open(place->store.path, sqlite::OpenMode::ReadWrite);
    if (!old) return old.error();
    const auto header = read_header(**old);
    if (!header) return header.error();
    if (header->sqlite && header->application_id != sqlite::kApplicationId && header->application_id != 0)
        return Error{ErrorKind::Damaged,
                     escaped(place->store.path) + " is another program's database: name the store with --store"};
    (*old)->set_patience(patience());
    if (Outcome belongs = sqlite::check_log(**old); !belongs) return belongs.error();
    const auto clock = terms_.clock_for(new_place->kind, new_place->store.path);
    return sqlite::rebuild(**old, {new_place->store.path, new_place->journal(), new_place->store.mode}, *clock);
}

Result<Pruning> SqliteUpkeep::prune_idle(Duration age) {
    const auto place = place_of(terms_.store.path);
    if (!place) return place.error();
    // Ours, of this version, and undamaged as far as commands can see.
    if (const auto seen = sqlite::look_into(place->store, place->kind, terms_.busy_timeout); !seen) return seen.error();

    auto connection = Connection::open(place->store.path, sqlite::OpenMode::ReadWrite);
    if (!connection) return connection.error();
    const auto header = read_header(**connection);
    if (!header) return header.error();
    const auto gate = gate_of(*place);
    if (Outcome entered = gate->enter(terms_.busy_timeout); !entered) return entered.error();
    const GateLeaver leaver(*gate);
    (*connection)->set_patience(patience());
    if (Outcome set = (*connection)->set_durability(sqlite::Durability::PowerCut, header->wal); !set)
        return set.error();

    Transaction transaction(**connection);
    if (Outcome begun = transaction.begin(Transaction::Kind::Write); !begun) return begun.error();
    const auto clock = terms_.clock_for(place->kind, place->store.path);
    const Result<ClockReading> now = clock->read();
    if (!now) return now.error();
    Result<Pruning> pruning = prune(**connection, age, *now);
    if (!pruning) return pruning;
    if ((*connection)->has_moved())
        return Error{ErrorKind::Gone, "the store's file was deleted or replaced: check who did it"};
    if (Outcome committed = transaction.commit(); !committed) return committed.error();
    if (header->wal) (*connection)->checkpoint();
    return pruning;
}

}  // namespace

std::unique_ptr<Upkeep> sqlite_upkeep(UpkeepTerms terms) { return std::make_unique<SqliteUpkeep>(std::move(terms)); }

}  // namespace hagi
