// The store as a file: how it comes into being, who may use it, and what is not ours.
#include <grp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lockcore/sqlite/connection.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;
using Access = SqliteOptions::Access;
using Journal = SqliteOptions::Journal;

std::optional<Error> error_of(const Result<std::unique_ptr<Engine>>& engine) {
    return engine ? std::nullopt : std::optional(engine.error());
}

mode_t mode_of(const fs::path& path) {
    struct stat file {};
    REQUIRE(::stat(path.c_str(), &file) == 0);
    return file.st_mode & 07777U;
}

}  // namespace

TEST_CASE("The stored format is pinned") {
    StoreFixture store;
    store.open();
    CHECK(query(store.options.path,
                "PRAGMA user_version; PRAGMA application_id; PRAGMA journal_mode; "
                "PRAGMA integrity_check; PRAGMA encoding") == "1\n1751213929\nwal\nok\nUTF-8");
    CHECK(query(store.options.path,
                "SELECT m.name, (SELECT group_concat(name || iif(\"notnull\", '!', '') || iif(pk, pk, '')"
                " || iif(type = 'TEXT', '$', '#'), ' ') FROM pragma_table_info(m.name))"
                " FROM sqlite_schema m WHERE type = 'table' ORDER BY name") ==
          "endings|lock_id!1$ owner!2$ kind!$ epoch!# ended_ms!# cause!$ by_owner!$ reason!$\n"
          "events|seq1# at_ms!# wall_ms!# event!$ lock_id!$ owner!$ epoch# by_owner$ reason$ cause$ label$\n"
          "locks|lock_id!1$ last_epoch!# recent_holds!$ owner$ epoch# lease_ms# hard_cap_ms# label$ granted_ms# "
          "granted_how$ claimed_ms# feedback_ms# accepted_ms# phase$ phase_since_ms# note$ bound_pid# bound_start# "
          "bound_boot$ bound_pid_ns# bound_host$ bound_group# attached#\n"
          "nudges|lock_id!1$ place!2# by_owner!$ at_ms!# reason!$\n"
          "store|id1# store_id!$ epoch_floor!# at_ms!# timeline!$ steady_ms!# wall_ms!#\n"
          "waiters|lock_id!1$ ticket!2# owner!$ label!$ phase!$ note!$ lease_ms!# max_hold_ms!# enqueued_ms!# "
          "heard_ms!# pid# start# boot$ pid_ns# host$\n"
          "watchers|lock_id!1$ place!2# pid!# start!# boot!$ pid_ns!# host!$ kind!$ since_ms!#");
}

TEST_CASE("The rows read like words") {
    StoreFixture store;
    const auto engine = store.open();
    ask(*engine, "a acquire");
    ask(*engine, "b acquire");
    store.clock.advance(1500ms);
    ask(*engine, "a release");
    ask(*engine, "c requisition");
    CHECK(query(store.options.path, "SELECT * FROM locks") ==
          "x|3|1500,0|c|3|600000|86401500||1500|requisitioned|1500|1500|||||||||||0");
    CHECK(query(store.options.path, "SELECT owner, kind, epoch, ended_ms, cause, by_owner, reason FROM endings") ==
          "b|hold|2|1500|requisitioned|c|by order");
    CHECK(query(store.options.path,
                "SELECT seq, at_ms, wall_ms - 1700000000000, event, owner, epoch, by_owner, cause"
                " FROM events") ==
          "1|0|0|granted|a|1||\n2|0|0|queued|b|||\n3|1500|1500|released|a|1||released\n"
          "4|1500|1500|handed off|b|2||\n5|1500|1500|requisitioned|b|2|c|requisitioned\n6|1500|1500|granted|c|3||");
    CHECK(query(store.options.path, "SELECT length(store_id), epoch_floor, at_ms, timeline, steady_ms FROM store") ==
          "32|0|1500|boot-1|1001500");
}

TEST_CASE("New locks start above the store's floor") {
    StoreFixture store;
    const auto engine = store.open();
    query(store.options.path, "UPDATE store SET epoch_floor = 41");
    CHECK(ask(*engine, "a accept") == "refused NotFound");
    CHECK(ask(*engine, "a acquire") == "Holding #42");
}

TEST_CASE("A store that is missing is made only where that was asked for") {
    StoreFixture store;
    for (const Access access : {Access::Existing, Access::ReadOnly}) {
        store.options.access = access;
        CHECK(error_of(store.try_open())->kind == ErrorKind::NotFound);
    }
    CHECK(store.folder.files().empty());
    CHECK(store.open(Access::Create)->describe().created);
    CHECK(store.folder.files() == std::vector<std::string>{"locks.db"});
    CHECK(!store.open(Access::Create)->describe().created);
    store.options.path = store.folder.path() + "/no/locks.db";
    CHECK(error_of(store.try_open())->kind == ErrorKind::NotFound);
}

TEST_CASE("Many creators make one store") {
    StoreFixture store;
    int go[2];
    REQUIRE(::pipe(go) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            char ignored;
            ::close(go[1]);
            if (::read(go[0], &ignored, 1) < 0) ::_exit(99);  // until all are there
            auto engine = store.try_open();
            const bool granted = engine && submit(**engine, "a acquire", "lock-" + std::to_string(i));
            ::_exit(!granted ? 99 : (*engine)->describe().created ? 1 : 0);
        }
        children.push_back(child);
    }
    ::close(go[0]);
    ::close(go[1]);
    int created = 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        created += WEXITSTATUS(status);
    }
    CHECK(created == 1);
    CHECK(query(store.options.path, "SELECT count(*) FROM locks") == "8");
    CHECK(store.folder.files().size() == 4);  // no half-made store is left behind
}

TEST_CASE("Every file gets the store's mode, whatever the umask") {
    const mode_t mask = GENERATE(mode_t{077}, mode_t{0});
    const mode_t mode = GENERATE(mode_t{0600}, mode_t{0660});
    StoreFixture store;
    store.options.mode.mode = mode;
    const mode_t before = ::umask(mask);
    const auto engine = store.open();
    ask(*engine, "a acquire");
    ::umask(before);
    REQUIRE(store.folder.files().size() == 4);
    for (const std::string& file : store.folder.files()) CHECK(mode_of(store.folder.path() + "/" + file) == mode);
}

TEST_CASE("A file that is not ours is left as it is") {
    StoreFixture store;
    const std::string& path = store.options.path;
    store.options.access = GENERATE(Access::Create, Access::Existing, Access::ReadOnly);
    store.options.journal = GENERATE(Journal::Wal, Journal::Rollback);
    const std::string what = GENERATE("a text", "a short text", "nothing", "a database", "a database with a log");
    CAPTURE(what);
    if (what == "a text") write_file(path, std::string(5000, 'x'));
    if (what == "a short text") write_file(path, "SQLite format");
    if (what == "nothing" || what.starts_with("a database")) write_file(path, "");
    if (what == "a database") query(path, "CREATE TABLE t (a)");
    if (what == "a database with a log") query(path, "PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
    const std::string bytes = read_file(path);
    const auto files = store.folder.files();
    const auto error = error_of(store.try_open());
    REQUIRE(error);
    CAPTURE(error->message);
    CHECK(error->kind == ErrorKind::Damaged);
    CHECK(error->message.find("not a hagi store") != std::string::npos);
    CHECK(read_file(path) == bytes);
    CHECK(store.folder.files() == files);
}

TEST_CASE("A first page that a power cut has torn is mended, if there is something to mend it from") {
    StoreFixture store;
    const std::string& path = store.options.path;
    ask(*store.open(), "a acquire");
    query(path, "PRAGMA user_version = 1");  // so that the log has that page
    std::string bytes = read_file(path);
    std::fill_n(bytes.begin(), 512, 'x');
    SECTION("from the log") {
        write_file(path, bytes);
        store.options.access = GENERATE(Access::Create, Access::ReadOnly);
        const auto engine = store.open();
        REQUIRE(engine->list({}));
        CHECK(engine->list({})->locks.size() == 1);
        if (store.options.access == Access::Create) CHECK(ask(*engine, "b acquire") == "Queued 1/1");
    }
    SECTION("not from nothing, and not from what is no log") {
        write_file(path, bytes);
        const std::string log = GENERATE("", "a text that somebody keeps there");
        write_file(path + "-wal", log);
        const auto error = error_of(store.try_open());
        REQUIRE(error);
        CHECK(error->kind == ErrorKind::Damaged);
        CHECK(read_file(path) == bytes);
        CHECK(read_file(path + "-wal") == log);
    }
    SECTION("not from a log that does not have it") {
        write_file(path, bytes);
        write_file(path + "-wal", read_file(path + "-wal").substr(0, 32));
        const auto error = error_of(store.try_open());
        REQUIRE(error);
        CHECK(error->kind == ErrorKind::Damaged);
        CHECK(read_file(path) == bytes);
    }
}

TEST_CASE("A store of a newer version is refused and left as it is") {
    StoreFixture store;
    const auto engine = store.open();
    ask(*engine, "a acquire");
    query(store.options.path, "PRAGMA user_version = 99");
    const std::string log = read_file(store.options.path + "-wal");
    CHECK(ask(*engine, "a renew") == "error Unusable");  // also under a watcher that has it open
    CHECK(ask(*store.open(), "a acquire") == "error Unusable");
    CHECK(store.open(Access::ReadOnly)->list({}).error().kind == ErrorKind::Unusable);
    CHECK(read_file(store.options.path + "-wal") == log);
}

TEST_CASE("A store that contradicts itself is damaged") {
    StoreFixture store;
    const auto engine = store.open();
    for (const char* const request : {"a acquire", "b acquire"}) ask(*engine, request);
    const std::string spoil =
        GENERATE("UPDATE locks SET granted_how = 'somehow'", "UPDATE locks SET recent_holds = '1,x'",
                 "UPDATE locks SET owner = NULL", "UPDATE locks SET last_epoch = 0", "DELETE FROM locks",
                 "UPDATE waiters SET owner = 'a'", "DELETE FROM store", "DROP TABLE waiters",
                 "UPDATE locks SET lease_ms = NULL");
    CAPTURE(spoil);
    query(store.options.path, spoil);
    const auto answer = submit(*engine, "a renew");
    REQUIRE(!answer);
    CHECK(answer.error().kind == ErrorKind::Damaged);
    CHECK(answer.error().message.find("hagi agent lock doctor") != std::string::npos);
    CHECK(engine->list({}).error().kind == ErrorKind::Damaged);
}

TEST_CASE("The journal is chosen once") {
    StoreFixture store;
    SECTION("a store for one machine is refused on a shared filesystem") {
        ask(*store.open(), "a acquire");
        store.options.journal = Journal::Rollback;
        const auto error = error_of(store.try_open());
        REQUIRE(error);
        CHECK(error->kind == ErrorKind::Unusable);
        CHECK(error->message.find("hagi agent lock doctor --convert-to-shared") != std::string::npos);
    }
    SECTION("a store for many stays so on one") {
        store.options.journal = Journal::Rollback;
        ask(*store.open(), "a acquire");
        store.options.journal = Journal::Wal;
        CHECK(ask(*store.open(), "b acquire") == "Queued 1/1");
        CHECK(query(store.options.path, "PRAGMA journal_mode") == "delete");
        CHECK(store.folder.files() == std::vector<std::string>{"locks.db", "locks.db-gate"});
    }
}

TEST_CASE("A store that is deleted, moved or replaced is gone") {
    StoreFixture store;
    store.options.journal = GENERATE(Journal::Wal, Journal::Rollback);
    const auto engine = store.open();
    CHECK(ask(*engine, "a acquire") == "Holding #1");
    SECTION("deleted") {
        for (const std::string& file : store.folder.files()) fs::remove(store.folder.path() + "/" + file);
        CHECK(ask(*engine, "a renew") == "error Gone");
        CHECK(ask(*engine, "a acquire") == "error Gone");  // a store that was there is not silently made anew
        CHECK(engine->list({}).error().kind == ErrorKind::Gone);
    }
    SECTION("moved away and back") {
        fs::rename(store.options.path, store.options.path + ".away");
        CHECK(ask(*engine, "a renew") == "error Gone");
        fs::rename(store.options.path + ".away", store.options.path);
        CHECK(ask(*engine, "a renew") == "Holding #1");
        CHECK(!engine->describe().replaced);
    }
    SECTION("replaced") {
        for (const std::string& file : store.folder.files()) fs::remove(store.folder.path() + "/" + file);
        store.open();
        CHECK(ask(*engine, "a renew") == "error Gone");
        CHECK(ask(*engine, "a renew epoch=1") == "refused LockLost stale epoch");
        CHECK(engine->describe().replaced);
    }
    SECTION("its folder, too") {
        fs::remove_all(store.folder.path());
        CHECK(ask(*engine, "a renew") == "error Gone");
        CHECK(ask(*engine, "a renew") == "error Gone");
        fs::create_directory(store.folder.path());
    }
}

namespace {

std::unique_ptr<StoreFixture> another_store() {
    auto store = std::make_unique<StoreFixture>();
    for (const char* const request : {"a acquire", "a renew"}) {
        store->clock.advance(1s);
        REQUIRE(ask(*store->open(), request) == "Holding #1");
    }
    return store;
}

}  // namespace

TEST_CASE("A store that has lost what was answered gives no epoch twice: it is refused") {
    StoreFixture store;
    const std::string& path = store.options.path;
    store.options.journal = GENERATE(Journal::Wal, Journal::Rollback);
    const bool wal = store.options.journal == Journal::Wal;
    for (const char* const request : {"a acquire", "a release"}) ask(*store.open(), request);
    const std::string older = read_file(path);
    const std::string older_log = wal ? read_file(path + "-wal") : "";
    store.clock.advance(1s);
    CHECK(ask(*store.open(), "b acquire") == "Holding #2");
    const auto put_back = [&] {
        write_file(path, older);
        if (wal) write_file(path + "-wal", older_log);
        fs::remove(path + "-shm");
    };
    const auto is_refused = [&] {
        store.options.access = Access::Create;
        CHECK(ask(*store.open(), "c acquire") == "error Damaged");
        CHECK(ask(*store.open(), "b status") == "error Damaged");
        CHECK(store.open(Access::ReadOnly)->list({}).error().kind == ErrorKind::Damaged);
    };
    SECTION("an older copy was put in its place") {
        put_back();
        is_refused();
    }
    SECTION("its log was removed") {
        if (!wal) return;
        fs::remove(path + "-wal");
        fs::remove(path + "-shm");
        is_refused();
    }
    SECTION("the log beside it is another store's") {
        if (!wal) return;
        const auto other = another_store();
        write_file(path + "-wal", read_file(other->options.path + "-wal"));
        fs::remove(path + "-shm");
        is_refused();
        fs::remove(path + "-gate");
        is_refused();
    }
    SECTION("another store's file was put under its log") {
        if (!wal) return;
        const auto other = another_store();
        fs::remove(path);
        fs::copy_file(other->options.path, path + ".theirs");
        fs::rename(path + ".theirs", path);
        fs::remove(path + "-shm");
        is_refused();
    }
    SECTION("a copy of all of it is the same store") {
        for (const char* const suffix : {"", "-wal"}) {
            fs::copy_file(path + suffix, path + suffix + ".copy");
            fs::rename(path + suffix + ".copy", path + suffix);
            if (!wal) break;
        }
        fs::remove(path + "-shm");
        CHECK(ask(*store.open(), "c acquire") == "Queued 1/1");
        CHECK(ask(*store.open(), "b release") == "None, released hold");
        CHECK(ask(*store.open(), "c status") == "Holding #3");
    }
    SECTION("its log lost its end") {
        if (!wal) return;
        fs::resize_file(path + "-wal", older_log.size() + 100);
        fs::remove(path + "-shm");
        is_refused();
    }
    SECTION("what was lost was a beat") {
        const std::string log = wal ? read_file(path + "-wal") : "";
        const std::string bytes = read_file(path);
        store.clock.advance(1s);
        CHECK(ask(*store.open(), "b renew") == "Holding #2");
        write_file(path, bytes);
        if (wal) write_file(path + "-wal", log);
        fs::remove(path + "-shm");
        CHECK(ask(*store.open(), "b renew") == "Holding #2");
    }
    SECTION("without the gate nobody can know") {
        put_back();
        fs::remove(path + "-gate");
        CHECK(ask(*store.open(), "c acquire") == "Holding #2");
    }
    SECTION("another store knows nothing of it") {
        for (const char* const suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
        CHECK(ask(*store.open(), "c acquire") == "Holding #1");
        CHECK(ask(*store.open(), "c release") == "None, released hold");
    }
    SECTION("a note that cannot be read says nothing") {
        put_back();
        write_file(path + "-gate", GENERATE("", "x", "\n", std::string(500, '9')));
        CHECK(ask(*store.open(), "c acquire") == "Holding #2");
    }
}

namespace {

std::string doomed_file;

// Deletes it as soon as a connection writes an event.
int doom(sqlite3* handle, char**, const void*) {
    const auto remove = [](void*, int, const char*, const char*, sqlite3_int64) { fs::remove(doomed_file); };
    sqlite3_update_hook(handle, remove, nullptr);
    return SQLITE_OK;
}

}  // namespace

TEST_CASE("A store that is deleted while a request is decided is gone, too") {
    StoreFixture store;
    store.options.journal = GENERATE(Journal::Wal, Journal::Rollback);
    doomed_file = store.options.path;
    const auto hook = reinterpret_cast<void (*)()>(&doom);  // how SQLite wants it
    sqlite3_auto_extension(hook);
    const auto engine = store.open();
    CHECK(ask(*engine, "a acquire") == "error Gone");
    sqlite3_cancel_auto_extension(hook);
}

TEST_CASE("Who may only read can list") {
    StoreFixture store;
    store.options.mode.mode = 0644;
    ask(*store.open(), "a acquire");
    fs::permissions(store.folder.path(), fs::perms{0755});
    if (::geteuid() != 0) {
        for (const std::string& file : store.folder.files())
            fs::permissions(store.folder.path() + "/" + file, fs::perms{0444});
        fs::permissions(store.folder.path(), fs::perms{0555});
    }
    const auto as_stranger = [&](Access access, const std::function<int(Engine&)>& use) {
        return in_child([&] {
            constexpr unsigned kNobody = 65534;
            if (::geteuid() == 0 && (::setgroups(0, nullptr) || ::setgid(kNobody) || ::setuid(kNobody))) return 99;
            store.options.access = access;
            auto engine = store.try_open();
            return engine ? use(**engine) : 100 + static_cast<int>(engine.error().kind);
        });
    };
    CHECK(as_stranger(Access::ReadOnly, [](Engine& engine) {
              const auto locks = engine.list({});
              return locks ? static_cast<int>(locks->locks.size()) : 50;
          }) == 1);
    CHECK(as_stranger(Access::Existing, [](Engine&) { return 0; }) ==
          100 + static_cast<int>(ErrorKind::PermissionDenied));
    fs::permissions(store.folder.path(), fs::perms{0755});
}

TEST_CASE("A step takes an older store to the next version") {
    StoreFixture store;
    ask(*store.open(), "a acquire");
    auto connection = sqlite::Connection::open(store.options.path, sqlite::OpenMode::ReadWrite);
    REQUIRE(connection);
    std::vector<const char*> steps(sqlite::schema_steps().begin(), sqlite::schema_steps().end());
    steps.push_back("ALTER TABLE locks ADD COLUMN colour TEXT");
    steps.push_back("UPDATE locks SET colour = 'green'");
    {
        sqlite::Transaction transaction(**connection);
        REQUIRE(transaction.begin(sqlite::Transaction::Kind::Write));
        REQUIRE(sqlite::migrate(**connection, steps));
        REQUIRE(transaction.commit());
    }
    CHECK(query(store.options.path, "PRAGMA user_version; SELECT owner, colour FROM locks") == "3\na|green");

    steps.push_back("ALTER TABLE locks ADD COLUMN size TEXT; SELECT no_such_function()");
    {
        sqlite::Transaction transaction(**connection);
        REQUIRE(transaction.begin(sqlite::Transaction::Kind::Write));
        CHECK(!sqlite::migrate(**connection, steps));
    }
    CHECK(query(store.options.path,
                "PRAGMA user_version; SELECT count(*) FROM pragma_table_info('locks')"
                " WHERE name = 'size'") == "3\n0");
}

}  // namespace hagi::test
