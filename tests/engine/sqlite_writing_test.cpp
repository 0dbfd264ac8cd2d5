// What the engine in SQLite writes, how durably, and what a failing disk leaves behind.
#include <filesystem>

#include "lockcore/rules.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/state_table.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/engine/watched_vfs.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using sqlite::Connection;
using sqlite::OpenMode;

// The rows that one request changes.
std::int64_t rows_written(StoreFixture& store, const LockId& lock_id, const Request& request) {
    auto connection = Connection::open(store.options.path, OpenMode::ReadWrite);
    REQUIRE(connection);
    sqlite::Transaction transaction(**connection);
    REQUIRE(transaction.begin(sqlite::Transaction::Kind::Write));
    const auto before = sqlite::load_lock(**connection, lock_id, {request.owner, store.clock.reading});
    REQUIRE(before);
    const Instant now = store_time(before->store.anchor, store.clock.reading);
    const Decision decision = decide(before->state, request, now);
    const auto wrote = sqlite::store_lock(**connection, lock_id, *before,
                                          {decision.state, decision.events, {now, store.clock.reading}});
    REQUIRE(wrote);
    CHECK(*wrote == ((*connection)->rows_changed() > 0));
    REQUIRE(transaction.commit());
    return (*connection)->rows_changed();
}

}  // namespace

TEST_CASE("Only rows that changed are written") {
    StoreFixture store;
    const auto engine = store.open();
    const LockId lock_id("x");
    CHECK(rows_written(store, lock_id, {Owner("a"), StatusRequest{}}) == 0);
    CHECK(rows_written(store, lock_id, {Owner("a"), AcquireRequest{}}) == 3);  // lock, event, the store's time
    CHECK(rows_written(store, lock_id, {Owner("a"), AcquireRequest{}}) == 0);
    CHECK(rows_written(store, lock_id, {Owner("a"), StatusRequest{}}) == 0);
    for (int i = 0; i < 1000; ++i) REQUIRE(submit(*engine, "w" + std::to_string(i) + " acquire"));
    store.clock.advance(1s);
    CHECK(rows_written(store, lock_id, {Owner("w500"), StatusRequest{}}) == 2);  // the waiter, the store's time
    CHECK(rows_written(store, lock_id, {Owner("a"), RenewRequest{}}) == 2);      // the lock, the store's time
    CHECK(rows_written(store, lock_id, {Owner("w300"), ReleaseRequest{}}) == 3);
    // The hold's lapse: lock, waiter, ending, two events, the store's time.
    store.clock.advance(589s);
    query(store.options.path, "UPDATE waiters SET heard_ms = 590000");
    query(store.options.path, "UPDATE store SET at_ms = 590000, steady_ms = steady_ms + 589000");
    store.clock.advance(11s);
    CHECK(rows_written(store, lock_id, {Owner("w1"), StatusRequest{}}) == 7);
    CHECK(query(store.options.path, "SELECT group_concat(owner) FROM (SELECT owner FROM waiters LIMIT 2)") == "w1,w2");
}

TEST_CASE("Old endings go when new ones come") {
    StoreFixture store;
    const auto engine = store.open();
    const auto endings = [&] { return query(store.options.path, "SELECT owner, cause FROM endings ORDER BY owner"); };
    ask(*engine, "a acquire");
    store.clock.advance(600s);
    ask(*engine, "b acquire");
    CHECK(endings() == "a|lease expired");
    store.clock.advance(24h);
    ask(*engine, "c status");
    CHECK(endings() == "b|lease expired");
    // The first of them is too old to be told long before it is gone.
    store.clock.advance(24h);
    CHECK(ask(*engine, "b status") == "None");
    CHECK(endings() == "b|lease expired");
}

TEST_CASE("What was granted survives a power cut; a heartbeat costs no sync") {
    WatchedVfs vfs;
    StoreFixture store;
    auto engine = store.open();
    const auto syncs_of = [&](std::string_view request, std::string_view answer) {
        const int before = vfs.syncs();
        CHECK(ask(*engine, request) == answer);
        return vfs.syncs() - before;
    };
    SECTION("with a write-ahead log") {
        CHECK(syncs_of("a acquire", "Holding #1") >= 1);
        CHECK(syncs_of("b acquire", "Queued 1/1") >= 1);
        store.clock.advance(1s);
        CHECK(syncs_of("b status", "Queued 1/1") == 0);
        CHECK(syncs_of("a renew", "Holding #1") == 0);
        CHECK(query(store.options.path, "SELECT feedback_ms, heard_ms FROM locks, waiters") == "1000|1000");
        CHECK(syncs_of("a accept", "Holding #1") >= 1);
        CHECK(syncs_of("a release", "None, released hold") >= 1);
        // Predicted to be quiet, but it claims.
        CHECK(syncs_of("b status", "Holding #2") >= 1);
        store.clock.advance(600s);
        CHECK(syncs_of("b renew", "refused LockLost lease expired") >= 1);
        CHECK(syncs_of("b status", "Expired lease expired") == 0);
        const int before = vfs.syncs();
        engine.reset();
        CHECK(vfs.syncs() == before);  // a command that ends leaves the log for others to empty
    }
    SECTION("with a rollback journal") {
        store.options.path += "2";
        store.options.journal = SqliteOptions::Journal::Rollback;
        engine = store.open();
        CHECK(syncs_of("a acquire", "Holding #1") >= 3);  // journal, database, and the journal's deletion
        CHECK(syncs_of("a renew", "Holding #1") == 0);    // nothing passed, nothing written
        store.clock.advance(1s);
        CHECK(syncs_of("a renew", "Holding #1") >= 3);
    }
}

TEST_CASE("A request that changes nothing leaves the file alone") {
    StoreFixture store;
    const auto engine = store.open();
    ask(*engine, "a acquire");
    const std::string log = read_file(store.options.path + "-wal");
    ask(*engine, "a status");
    ask(*engine, "b status");
    ask(*engine, "b renew");
    ask(*engine, "b no-queue");
    REQUIRE(engine->list({}));
    CHECK(read_file(store.options.path + "-wal") == log);
}

TEST_CASE("Whichever write fails, nothing is half done and the next command goes on") {
    const bool wal = GENERATE(true, false);
    const int code = GENERATE(SQLITE_IOERR_WRITE, SQLITE_FULL);
    const std::string request = GENERATE("a release", "c requisition", "b status");
    CAPTURE(wal, code, request);
    bool reached_the_end = false;
    for (int nth = 1; nth < 100 && !reached_the_end; ++nth) {
        CAPTURE(nth);
        WatchedVfs vfs;
        StoreFixture store;
        store.options.journal = wal ? SqliteOptions::Journal::Wal : SqliteOptions::Journal::Rollback;
        auto engine = store.open();
        ask(*engine, "a acquire");
        ask(*engine, "b acquire");
        store.clock.advance(1s);

        vfs.fail_from(nth, code);
        const auto answer = submit(*engine, request);
        reached_the_end = !vfs.failed();
        if (!answer) CHECK(answer.error().kind == ErrorKind::Unreachable);
        vfs.fail_from(0, SQLITE_OK);

        // The same engine and a new one find one whole story.
        REQUIRE(submit(*engine, request));
        engine = store.open();
        REQUIRE(submit(*engine, "d status"));
        CHECK(query(store.options.path, "PRAGMA integrity_check") == "ok");
        CHECK(query(store.options.path,
                    "SELECT count(*) - count(DISTINCT epoch) FROM events"
                    " WHERE event IN ('granted', 'handed off')") == "0");
        const std::string grants = query(store.options.path, "SELECT max(epoch) FROM events");
        CHECK(query(store.options.path, "SELECT last_epoch FROM locks") == grants);
        CHECK(grants == (request == "b status" ? "1" : "2"));
    }
    CHECK(reached_the_end);
}

TEST_CASE("What keeps a store from being written is called by its name") {
    WatchedVfs vfs;
    StoreFixture store;
    store.options.journal = GENERATE(SqliteOptions::Journal::Wal, SqliteOptions::Journal::Rollback);
    const auto engine = store.open();
    ask(*engine, "a acquire");
    const auto [code, number, words] = GENERATE(table<int, int, std::string>({
        {SQLITE_FULL, ENOSPC, "is full (No space left on device): free some space"},
        {SQLITE_IOERR_WRITE, EDQUOT, "(Disk quota exceeded): free some space"},
        {SQLITE_IOERR_WRITE, EFBIG, "(File too large): raise the limit of file sizes (ulimit -f)"},
        {SQLITE_IOERR_WRITE, EIO, "Input/output error: check its disk"},
    }));
    vfs.fail_from(1, code, number);
    const auto answer = submit(*engine, "b acquire");
    vfs.fail_from(0, SQLITE_OK);
    REQUIRE(!answer);
    INFO(answer.error().message);
    CHECK(answer.error().kind == ErrorKind::Unreachable);
    CHECK(answer.error().message.find(words) != std::string::npos);
    CHECK(ask(*engine, "b acquire") == "Queued 1/1");
}

TEST_CASE("A commit rings for those whose turn or place it changed") {
    StoreFixture store;
    const auto engine = store.open();
    for (const char* const request : {"a acquire", "b acquire", "c acquire", "d acquire"}) ask(*engine, request);
    store.signal.rung.clear();
    ask(*engine, "c status");
    ask(*engine, "a renew");
    CHECK(store.signal.rung.empty());
    ask(*engine, "a release");
    CHECK(store.signal.rung == "b a c d ");
}

TEST_CASE("The log stays short however many commands come and go") {
    StoreFixture store;
    std::uintmax_t longest = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto engine = store.open();
        REQUIRE(submit(*engine, i % 2 ? "a release" : "a acquire"));
        longest = std::max(longest, std::filesystem::file_size(store.options.path + "-wal"));
    }
    CHECK(longest > 0);
    CHECK(longest < 80 * (4096 + 24));
    // They stay for who may only read.
    CHECK(store.folder.files() ==
          std::vector<std::string>{"locks.db", "locks.db-gate", "locks.db-shm", "locks.db-wal"});
}

TEST_CASE("The log shrinks in passing, and keeps what is young or among the newest") {
    StoreFixture store;
    const auto engine = store.open();
    const bool old = GENERATE(true, false);
    const std::string day_90_and_before = old ? "-8000000000" : "-1";
    query(store.options.path,
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101000) INSERT INTO events"
          " (at_ms, wall_ms, event, lock_id, owner) SELECT " +
              day_90_and_before + ", 0, 'queued', 'x', 'o' FROM n");
    for (int turn = 0; turn < 300; ++turn) {
        ask(*engine, "a acquire");
        ask(*engine, "a release");
    }
    // 600 events came, so the log was looked at twice, and each time 512 of the oldest could go.
    CHECK(query(store.options.path, "SELECT count(*), min(seq), max(seq) FROM events") ==
          (old ? "100576|1025|101600" : "101600|1|101600"));
}

}  // namespace hagi::test
