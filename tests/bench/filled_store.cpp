#include "tests/bench/filled_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

namespace hagi::test {
namespace {

constexpr char kCount[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) ";
constexpr const char* kLocks =
    "INSERT INTO locks (lock_id, last_epoch, recent_holds, owner, epoch, lease_ms, hard_cap_ms, label, granted_ms,"
    " granted_how, claimed_ms, feedback_ms, phase, note, attached)"
    " SELECT 'fill/' || i, 1, '', 'owner-' || i, 1, 600000, at_ms + 86400000, 'a label', at_ms, 'taken free', at_ms,"
    " at_ms, '', '', 0 FROM n, store";
constexpr const char* kWaiters =
    "INSERT INTO waiters (lock_id, ticket, owner, label, phase, note, lease_ms, max_hold_ms, enqueued_ms, heard_ms,"
    " pid, start, boot, pid_ns, host) SELECT 'bench/queue', i, 'w' || i, 'a label', '', '', 600000, 86400000, at_ms,"
    " at_ms, 1, 1, '00000000-0000-0000-0000-000000000000', 1, 'a-host' FROM n, store";
constexpr const char* kEvents =
    "INSERT INTO events (at_ms, wall_ms, event, lock_id, owner, epoch, label)"
    " SELECT at_ms, wall_ms, 'granted', 'fill/' || (i % 1000), 'owner-' || i, 1, 'a label' FROM n, store";

void execute(sqlite3* database, const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        cannot_measure(std::string("the store cannot be filled: ") + sqlite3_errmsg(database));
}

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Database open_store(const std::string& folder) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2((folder + "/locks.db").c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    Database database(opened, &sqlite3_close);
    if (code != SQLITE_OK) cannot_measure("the store to be filled does not open");
    // The log stays as it is between two commands.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    int persist = 1;
    sqlite3_file_control(opened, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    return database;
}

}  // namespace

void hear_waiters(const std::string& folder) {
    const Database database = open_store(folder);
    execute(database.get(), "PRAGMA synchronous = OFF; UPDATE waiters SET heard_ms = (SELECT at_ms FROM store)");
}

void make_filled_store(const Programs& programs, const std::string& folder, const Filling& filling) {
    run(lock_command(programs, folder, {"acquire", "--lock-id", "bench/queue", "--owner", "holder"}));
    const Database database = open_store(folder);
    const auto fill = [&](const char* sql, int count) {
        if (count > 0) execute(database.get(), fmt::format(kCount, count) + sql);
    };
    execute(database.get(), "BEGIN");
    fill(kLocks, filling.locks);
    fill(kWaiters, filling.waiters);
    fill(kEvents, filling.events);
    execute(database.get(), "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace hagi::test
