// The doctor against real stores: that it sees what is wrong, writes nothing, and mends without losing an epoch.
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json examined(const Hagi& hagi, int code, const Words& more = {}) {
    Words words{"doctor", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = hagi.run(words);
    INFO(finished.out << finished.err);
    REQUIRE(finished.code == code);
    return Json::parse(finished.out);
}

Json check_named(const Json& report, const std::string& name) {
    for (const Json& check : report.at("checks"))
        if (check.at("name") == name) return check;
    FAIL("no check " << name << " in " << report);
    return {};
}

std::vector<std::string> problems(const Json& report) {
    std::vector<std::string> names;
    for (const Json& check : report.at("checks"))
        if (!check.at("ok").get<bool>()) {
            CHECK_FALSE(check.value("fix", "").empty());
            names.push_back(check.at("name"));
        }
    return names;
}

std::map<std::string, std::string> files_of(const Hagi& hagi) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(hagi.folder())) {
        if (!entry.is_regular_file()) continue;
        std::ostringstream text;
        text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        // The index beside the log is memory that readers share, not content.
        if (entry.path().extension() != ".db-shm") files[entry.path().string()] = text.str();
    }
    return files;
}

class Database {
public:
    explicit Database(const std::string& path) { REQUIRE(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK); }
    ~Database() { sqlite3_close(handle_); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const std::string& sql) {
        INFO(sql << ": " << sqlite3_errmsg(handle_));
        REQUIRE(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    std::string text(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        REQUIRE(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
        REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
        const std::string value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        return value;
    }
    std::int64_t number(const std::string& sql) { return std::stoll(text(sql)); }

private:
    sqlite3* handle_ = nullptr;
};

std::int64_t acquired_epoch(const Hagi& hagi, const std::string& owner = "alice") {
    return hagi.json(verb("acquire", owner)).at("epoch").get<std::int64_t>();
}

// Overwrites the page on which a table begins; what of it was in the log is in the file first.
void destroy_table(const Hagi& hagi, const std::string& table) {
    std::int64_t page = 0;
    std::int64_t size = 0;
    {
        Database database(hagi.store());
        database.run("PRAGMA wal_checkpoint(TRUNCATE)");
        page = database.number("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'");
        size = database.number("PRAGMA page_size");
    }
    std::fstream file(hagi.store(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * size);
    file << std::string(static_cast<std::size_t>(size), '\xff');
}

TEST_CASE("a store in use is well, and looking at it changes nothing") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    const auto before = files_of(hagi);
    const Json report = examined(hagi, 0);
    CHECK(report.at("ok") == true);
    CHECK(problems(report).empty());
    CHECK(report.at("store") == hagi.store());
    CHECK(report.at("journalMode") == "wal");
    CHECK(report.at("schema") == 1);
    CHECK(report.contains("filesystem"));
    CHECK(report.contains("clock"));
    CHECK(report.contains("sqlite"));
    for (const char* const name : {"filesystem", "time", "limits", "sqlite", "size", "permissions", "leftovers", "gate",
                                   "writer", "locks", "schema", "integrity", "log"})
        check_named(report, name);
    CHECK(check_named(report, "locks").at("message") == "1 held, 0 idle");
    CHECK(files_of(hagi) == before);
    CHECK(hagi.run({"doctor"}).out.find("all is well") != std::string::npos);
}

TEST_CASE("a store that is not there is said to be missing, and stays so, whatever is asked") {
    const Hagi hagi;
    const Words ask = GENERATE(Words{}, Words{"--convert-to-shared"}, Words{"--rebuild"}, Words{"--prune-idle"});
    Words words{"--store", hagi.folder() + "/none.db"};
    words.insert(words.end(), ask.begin(), ask.end());
    CHECK(check_named(examined(hagi, 0, words), "store").at("ok") == true);
    CHECK(fs::is_empty(hagi.folder()));
    CHECK(hagi.run({"doctor", "--store", hagi.folder() + "/no/folder.db"}).code == 24);
}

TEST_CASE("one thing at a time is asked of the doctor") {
    const Hagi hagi;
    CHECK(hagi.run({"doctor", "--rebuild", "--probe-lock"}).code == 2);
    CHECK(hagi.run({"doctor", "--prune-idle", "3", "--convert-to-shared"}).code == 2);
    CHECK(hagi.run({"doctor", "--prune-idle", "many"}).code == 2);
    CHECK(hagi.run({"doctor", "--owner", "alice"}).code == 2);
    CHECK(fs::is_empty(hagi.folder()));
}

TEST_CASE("what is no store, or damaged, or open to everybody, is a problem with its own code") {
    const Hagi hagi;
    const std::string notes = hagi.folder() + "/notes.txt";
    write_file(notes, std::string(400, '.'));
    CHECK(problems(examined(hagi, 50, {"--store", notes})) == std::vector<std::string>{"store"});

    hagi.done(verb("acquire", "alice"));
    ::chmod(hagi.store().c_str(), 0666);
    CHECK(problems(examined(hagi, 23)).front() == "permissions");
    ::chmod(hagi.store().c_str(), 0600);
    ::chmod((hagi.store() + "-gate").c_str(), 0400);
    CHECK(problems(examined(hagi, 23)) == std::vector<std::string>{"permissions"});
    ::chmod((hagi.store() + "-gate").c_str(), 0600);
    examined(hagi, 0);

    destroy_table(hagi, "locks");
    const Json report = examined(hagi, 50);
    CHECK(check_named(report, "integrity").at("fix").get<std::string>().find("--rebuild") != std::string::npos);
    CHECK(check_named(report, "store").at("fix").get<std::string>().find("--rebuild") != std::string::npos);
}

TEST_CASE("a store of a newer version cannot be used") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Database(hagi.store()).run("PRAGMA user_version = 99");
    const Json report = examined(hagi, 30);
    CHECK(report.at("schema") == 99);
}

TEST_CASE("whoever sits in the gate or in a transaction is named") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    {
        const auto sitter =
            hagi.start_other({"flock", "-F", hagi.store() + "-gate", "sh", "-c", "echo inside; exec sleep 1000"});
        sitter->await_line("inside");
        const Json report = examined(hagi, 60);
        CHECK(problems(report) == std::vector<std::string>{"gate"});
        CHECK(check_named(report, "gate")
                  .at("message")
                  .get<std::string>()
                  .find("process " + std::to_string(sitter->pid())) == 0);
        ::kill(sitter->pid(), SIGKILL);
    }
    Database database(hagi.store());
    database.run("BEGIN IMMEDIATE");
    const Json report = examined(hagi, 60);
    const auto names = problems(report);
    CHECK(std::find(names.begin(), names.end(), "writer") != names.end());
    CHECK(check_named(report, "writer").at("message").get<std::string>().find(std::to_string(::getpid())) !=
          std::string::npos);
}

TEST_CASE("what killed commands left behind is named, and what is in use is not") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const std::string old = hagi.store() + ".new-0123456789abcdef";
    write_file(old);
    write_file(hagi.store() + "-clock-0123456789abcdef");
    const timespec long_ago[2] = {{1, 0}, {1, 0}};
    REQUIRE(::utimensat(AT_FDCWD, old.c_str(), long_ago, 0) == 0);
    const std::string message = check_named(examined(hagi, 0), "leftovers").at("message");
    CHECK(message.find("1 left behind") == 0);
    CHECK(message.find("locks.db.new-0123456789abcdef") != std::string::npos);
}

TEST_CASE("a time namespace of one's own is a problem") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    if (!can_travel()) return;
    const Finished finished = hagi.run_later(100, {"doctor", "--json"});
    CHECK(finished.code == 30);
    CHECK(problems(Json::parse(finished.out)) == std::vector<std::string>{"time"});
}

TEST_CASE("who may only read can ask the doctor") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: needs root, to be somebody else");
        return;
    }
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const Finished finished = hagi.run_as_reader({"doctor"});
    INFO(finished.out << finished.err);
    CHECK(finished.code == 0);
    CHECK(finished.out.find("may only read") != std::string::npos);
}

TEST_CASE("a store is converted for a shared filesystem once nobody has it open, and is the same store") {
    const Hagi hagi;
    const std::int64_t epoch = acquired_epoch(hagi);
    const std::string id = Database(hagi.store()).text("SELECT store_id FROM store");
    const std::string shared = "HAGI_LOCK_FILESYSTEM=shared; export HAGI_LOCK_FILESYSTEM";
    CHECK(hagi.run_after(shared, {"list"}).code == 30);
    const Finished refused = hagi.run_after(shared, {"doctor", "--json"});
    CHECK(refused.code == 30);
    CHECK(check_named(Json::parse(refused.out), "store").at("fix").get<std::string>().find("--convert-to-shared") !=
          std::string::npos);
    {
        Process watcher = hagi.start(verb("heartbeat", "alice"));
        watcher.await_line("epoch");
        const Finished busy = hagi.run_after(shared, {"doctor", "--convert-to-shared"});
        CHECK(busy.code == 60);
        CHECK(busy.err.find("fuser") != std::string::npos);
        watcher.send(SIGTERM);
        CHECK(watcher.wait() == 0);
    }
    const Finished converted = hagi.run_after(shared, {"doctor", "--convert-to-shared", "--json"});
    INFO(converted.out << converted.err);
    CHECK(converted.code == 0);
    CHECK(Json::parse(converted.out).at("converted") == true);
    CHECK(Json::parse(hagi.run_after(shared, {"doctor", "--convert-to-shared", "--json"}).out).at("converted") ==
          false);
    CHECK_FALSE(fs::exists(hagi.store() + "-wal"));
    CHECK_FALSE(fs::exists(hagi.store() + "-shm"));
    CHECK(mode_of(hagi.store()) == 0600U);
    CHECK(hagi.integrity() == "ok");
    CHECK(Database(hagi.store()).text("SELECT store_id FROM store") == id);
    const Finished kept = hagi.run_after(shared, verb("acquire", "alice", {"--json"}));
    CHECK(Json::parse(kept.out).at("epoch") == epoch);
    const Finished well = hagi.run_after(shared, {"doctor", "--json"});
    INFO(well.out);
    CHECK(well.code == 0);
    CHECK(Json::parse(well.out).at("journalMode") == "rollback");
}

TEST_CASE("a pruned lock's next epoch is above its old ones") {
    const Hagi hagi;
    for (int i = 0; i < 3; ++i) {
        hagi.done(verb("acquire", "alice"));
        hagi.done(verb("release", "alice"));
    }
    hagi.done({"acquire", "--lock-id", "held", "--owner", "bob"});
    CHECK(hagi.json({"doctor", "--prune-idle"}).at("pruned") == 0);  // released today
    CHECK(hagi.json({"list", "--all"}).at("locks").size() == 2);

    const Json pruned = hagi.json({"doctor", "--prune-idle", "0"});
    CHECK(pruned.at("pruned") == 1);
    CHECK(pruned.at("epochFloor") == 3);
    CHECK(hagi.json({"list", "--all"}).at("locks").size() == 1);
    CHECK(acquired_epoch(hagi) == 4);
    examined(hagi, 0);
}

TEST_CASE("a lock of which an ending is remembered is not pruned") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("requisition", "bob", {"--reason", "told to"}));
    hagi.done(verb("release", "bob"));
    CHECK(hagi.json({"doctor", "--prune-idle", "0"}).at("pruned") == 0);
    CHECK(hagi.json(verb("status", "alice")).at("status") == "Requisitioned");
}

TEST_CASE("what can be read of a damaged store is rebuilt, with greater epochs, and put in place as told") {
    const auto* const table = GENERATE("locks", "events", "store", "endings");
    CAPTURE(table);
    const Hagi hagi;
    std::int64_t epoch = 0;
    for (int i = 0; i < 5; ++i) {
        epoch = acquired_epoch(hagi);
        if (i < 4) hagi.done(verb("release", "alice"));
    }
    const std::string id = Database(hagi.store()).text("SELECT store_id FROM store");
    destroy_table(hagi, table);
    const auto before = files_of(hagi);
    const Json rebuilt = hagi.json({"doctor", "--rebuild"});
    for (const auto& [path, content] : before) CHECK(files_of(hagi)[path] == content);
    CHECK_FALSE(rebuilt.at("losses").empty());
    CHECK(rebuilt.at("locks") == (std::string(table) == "locks" ? 0 : 1));
    CHECK(rebuilt.at("events") == (std::string(table) == "events" ? 0 : 9));
    CHECK(rebuilt.at("epochFloor") > epoch);
    CHECK(hagi.run({"doctor", "--rebuild"}).code == 20);  // what it made is there now

    REQUIRE(hagi.run_other({"sh", "-c", rebuilt.at("command").get<std::string>()}).code == 0);
    CHECK(fs::exists(hagi.store() + ".damaged"));
    CHECK_FALSE(fs::exists(hagi.store() + ".rebuilt"));
    CHECK(mode_of(hagi.store()) == 0600U);
    CHECK(Database(hagi.store()).text("SELECT store_id FROM store") != id);
    CHECK(hagi.json({"list"}).at("locks").empty());
    CHECK(acquired_epoch(hagi) > epoch);
    examined(hagi, 0);
}

TEST_CASE("a rebuild reads on behind a damaged part of the log") {
    const Hagi hagi;
    for (int i = 0; i < 60; ++i) {
        hagi.done(verb("acquire", "alice", {"--label", std::string(150, 'x')}));
        hagi.done(verb("release", "alice"));
    }
    std::int64_t page = 0;
    std::int64_t size = 0;
    {
        // One of the pages in which the log's rows lie, found by a label that only rows have.
        Database database(hagi.store());
        database.run("PRAGMA wal_checkpoint(TRUNCATE)");
        size = database.number("PRAGMA page_size");
    }
    std::fstream file(hagi.store(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::vector<std::int64_t> leaves;
    while (file.seekg(page * size) && file.read(bytes.data(), size)) {
        if (bytes[0] == '\x0d' && bytes.find("granted") != std::string::npos) leaves.push_back(page);
        ++page;
    }
    REQUIRE(leaves.size() > 3);
    file.clear();
    file.seekp(leaves[1] * size);
    file << std::string(static_cast<std::size_t>(size), '\xff');
    file.close();

    const Json rebuilt = hagi.json({"doctor", "--rebuild-to", hagi.folder() + "/new.db"});
    CHECK(rebuilt.at("losses").size() == 1);
    CHECK(rebuilt.at("events") < 120);
    Database database(hagi.folder() + "/new.db");
    CHECK(database.number("SELECT count(*) FROM events") == rebuilt.at("events"));
    CHECK(database.number("SELECT max(seq) FROM events") == 120);
    CHECK(database.number("SELECT min(seq) FROM events") == 1);
}

TEST_CASE("nothing is rebuilt of another program's database, nor over anything") {
    const Hagi hagi;
    Database(hagi.store()).run("PRAGMA application_id = 7; CREATE TABLE t (x)");
    CHECK(hagi.run({"doctor", "--rebuild"}).code == 50);
    CHECK(hagi.run({"doctor", "--convert-to-shared"}).code == 50);
    CHECK(hagi.run({"doctor", "--prune-idle"}).code == 50);
    CHECK_FALSE(fs::exists(hagi.store() + ".rebuilt"));

    const std::string precious = hagi.folder() + "/precious";
    write_file(precious, "precious");
    hagi.delete_store();
    hagi.done(verb("acquire", "alice"));
    CHECK(hagi.run({"doctor", "--rebuild-to", precious}).code == 20);
    CHECK(hagi.run_other({"cat", precious}).out == "precious");
}

TEST_CASE("two probes on one machine see each other's locks, and leave nothing behind") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const auto before = files_of(hagi);
    Process first = hagi.start({"doctor", "--probe-lock"});
    first.await_line("Holding locks");
    const Finished second = hagi.run({"doctor", "--probe-lock"});
    CHECK(second.code == 0);
    CHECK(second.out.find("The locks cross: process " + std::to_string(first.pid())) == 0);
    CHECK(second.out.find("this very machine") != std::string::npos);
    first.send(SIGTERM);
    CHECK(first.wait() == 0);
    CHECK(files_of(hagi) == before);
}

TEST_CASE("a probe that is alive and yet locks nothing shows that locks do not cross") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    // What another machine looks like whose locks are not seen here.
    const auto other = hagi.start_other(
        {"sh", "-c",
         "n=0; while :; do n=$((n+1)); echo \"other-boot 7 $n elsewhere\" 1<> \"$0\"; test $n != 1 || echo here; done",
         hagi.store() + "-probe"});
    other->await_line("here");
    const Finished here = hagi.run({"doctor", "--probe-lock"});
    CHECK(here.code == 30);
    CHECK(here.err.find("do NOT cross") != std::string::npos);
}

TEST_CASE("the first side learns, too, that locks do not cross") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process first = hagi.start({"doctor", "--probe-lock"});
    first.await_line("Holding locks");
    write_file(hagi.store() + "-probe", "other-boot 7 1 elsewhere\n");
    CHECK(first.wait() == 30);
    CHECK(first.rest_of_errors().find("process 7 on elsewhere") != std::string::npos);
}

TEST_CASE("what a killed probe left behind is no other side") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    write_file(hagi.store() + "-probe", "other-boot 7 1 elsewhere\n");
    Process first = hagi.start({"doctor", "--probe-lock"});
    first.await_line("Holding locks");
    first.send(SIGINT);
    CHECK(first.wait() == 0);
    CHECK_FALSE(fs::exists(hagi.store() + "-probe"));
    CHECK_FALSE(fs::exists(hagi.store() + "-probe-bytes"));
}

}  // namespace
}  // namespace hagi::test
