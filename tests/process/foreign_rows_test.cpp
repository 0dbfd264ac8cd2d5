// What an older or a foreign program wrote into the store by hand, whatever it is, reaches no terminal and no reader of
// JSON unescaped; nor does the name of a store.
#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/terminal_text.hpp"

namespace hagi::test {
namespace {

using namespace std::string_literals;

constexpr const char* kPretended = "hagi: the lock is yours";

// Colours, a title, the clipboard, a line and a prompt of its own, a carriage return, controls of eight bits in UTF-8
// and bare, text from right to left, bytes that are no UTF-8, a NUL, quotes, and the end of a document.
const std::string kNasty = "x\x1b[31m\x1b]0;t\x07\x1b]52;c;cm0gLXJmIH4=\x07\n"s + kPretended +
                           "\n$ rm -rf ~\r\t\xc2\x9b"
                           "2J\x9b"
                           "2J\xe2\x80\xae"
                           "abc\xe2\x81\xa6\xff\xc0\x80\xed\xa0\x80\xf8\"'\\\"}],\"holder\":null}\x7f"s +
                           "\0y"s;

class Store {
public:
    explicit Store(const std::string& path) {
        REQUIRE(sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
    ~Store() { sqlite3_close(handle_); }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // ?1 is the nasty text.
    void write(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        INFO(sql);
        REQUIRE(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
        if (sqlite3_bind_parameter_count(statement) > 0)
            sqlite3_bind_text(statement, 1, kNasty.data(), static_cast<int>(kNasty.size()), SQLITE_STATIC);
        CHECK(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_finalize(statement);
    }

private:
    sqlite3* handle_ = nullptr;
};

void check_line(const std::string& line) {
    INFO(line);
    CHECK_FALSE(is_obeyed(line));
    CHECK_FALSE(line.starts_with(kPretended));
    CHECK_FALSE(line.starts_with("$ "));
}

void check_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) check_line(line);
}

// In text and in JSON.
void check_words(const Hagi& hagi, const Words& words) {
    INFO("hagi agent lock " << nlohmann::json(words).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    const Finished finished = hagi.run(words);
    static const std::set<int> kExpected{0, 20, 24, 29, 30, 31, 32, 50};  // no defect, no crash
    {
        INFO("exit " << finished.code << ": " << finished.out << finished.err);
        CHECK(kExpected.contains(finished.code));
    }
    check_lines(finished.out);
    check_lines(finished.err);

    Words with_json = words;
    with_json.insert(with_json.begin() + 1, "--json");
    const Finished as_json = hagi.run(with_json);
    CHECK(kExpected.contains(as_json.code));
    // `run` leaves stdout to its command.
    std::istringstream lines(words.at(0) == "run" ? as_json.err : as_json.out);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(is_json(line));
    }
    if (words.at(0) != "run") CHECK(as_json.err.empty());
}

// Every verb, the looking ones before those that change what the stranger wrote.
void check_every_verb(const Hagi& hagi) {
    check_words(hagi, {"list"});
    check_words(hagi, {"list", "--all", "--stuck-after", "1"});
    check_words(hagi, {"log"});
    check_words(hagi, {"log", "--lock-id", "a"});
    check_words(hagi, {"doctor"});
    for (const std::string owner : {"me", "other"}) {
        check_words(hagi, verb("status", owner));
        check_words(hagi, verb("status", owner, {"--require", "Holding", "--stuck-after", "1"}));
        check_words(hagi, verb("accept", owner));
        check_words(hagi, verb("renew", owner, {"--epoch", "99"}));
        check_words(hagi, verb("acquire", owner, {"--no-queue"}));
        check_words(hagi, verb("acquire", owner, {"--wait", "--timeout", "0"}));
        check_words(hagi, verb("run", owner, {"--timeout", "0", "--", "true"}));
        check_words(hagi, verb("nudge", owner, {"--reason", "r"}));
        check_words(hagi, verb("heartbeat", owner, {"--epoch", "99"}));
        check_words(hagi, verb("acquire", owner));
    }
    check_words(hagi, verb("release", "other"));
    check_words(hagi, verb("stop", "other", {"--reason", "r"}));
    check_words(hagi, verb("requisition", "other", {"--reason", "r"}));
    check_words(hagi, verb("release", "other"));
    check_words(hagi, {"doctor", "--prune-idle", "0"});
    check_words(hagi, {"log"});
    check_words(hagi, {"doctor", "--rebuild"});
}

TEST_CASE("what a stranger wrote into the store is shown, and nothing of it is obeyed") {
    const Hagi hagi;
    hagi.done(verb("acquire", "me", {"--label", "l", "--note", "n", "--phase", "p"}));
    hagi.done(verb("acquire", "other", {"--label", "l", "--note", "n", "--phase", "p"}));
    hagi.done(verb("acquire", "third"));
    hagi.done(verb("nudge", "third", {"--reason", "r"}));
    hagi.done({"acquire", "--lock-id", "b", "--owner", "me"});
    {
        Store store(hagi.store());
        store.write("UPDATE locks SET lock_id = ?1 WHERE lock_id = 'b'");
        store.write("UPDATE nudges SET by_owner = ?1, reason = ?1");
        store.write("UPDATE waiters SET owner = ?1 WHERE owner = 'third'");
        store.write("UPDATE waiters SET label = ?1, phase = ?1, note = ?1");
        store.write("UPDATE events SET lock_id = ?1 WHERE lock_id = 'b'");
        store.write("UPDATE events SET owner = ?1, by_owner = ?1, reason = ?1, label = ?1");
    }
    SECTION("of the lock that others hold") {
        Store(hagi.store()).write("UPDATE locks SET owner = ?1, label = ?1, phase = ?1, note = ?1 WHERE lock_id = 'a'");
        check_every_verb(hagi);
    }
    SECTION("of one's own lock, and who watches over it") {
        Store store(hagi.store());
        store.write("UPDATE locks SET label = ?1, phase = ?1, note = ?1, attached = 9 WHERE lock_id = 'a'");
        store.write("INSERT INTO watchers VALUES ('a', 0, 7, 7, ?1, 7, ?1, 'heartbeat', 0)");
        check_every_verb(hagi);
    }
    SECTION("of how it was lost") {
        hagi.done(verb("requisition", "third", {"--reason", "r"}));
        hagi.done(verb("requisition", "fourth", {"--reason", "r"}));
        Store(hagi.store()).write("UPDATE endings SET by_owner = ?1, reason = ?1");
        check_every_verb(hagi);
    }
    SECTION("where there should be words of the protocol, or numbers") {
        const auto* const sql =
            GENERATE("UPDATE locks SET granted_how = ?1", "UPDATE locks SET recent_holds = ?1",
                     "UPDATE events SET event = ?1", "UPDATE events SET cause = ?1", "UPDATE store SET store_id = ?1",
                     "UPDATE store SET timeline = ?1", "UPDATE locks SET last_epoch = -1");
        Store(hagi.store()).write(sql);
        for (const Words& words : {Words{"list", "--all"}, Words{"log"}, Words{"doctor"}, verb("status", "me"),
                                   verb("acquire", "other"), verb("release", "me")})
            check_words(hagi, words);
    }
}

TEST_CASE("numbers that no command would write are damage, and nothing is granted by them") {
    const auto* const number = GENERATE("9223372036854775807", "-9223372036854775808", "-1");
    const auto* const column =
        GENERATE("locks SET last_epoch", "locks SET epoch", "locks SET lease_ms", "locks SET hard_cap_ms",
                 "locks SET granted_ms", "locks SET claimed_ms", "locks SET feedback_ms", "locks SET accepted_ms",
                 "locks SET phase_since_ms", "locks SET attached", "locks SET bound_pid", "waiters SET ticket",
                 "waiters SET lease_ms", "waiters SET max_hold_ms", "waiters SET enqueued_ms", "waiters SET heard_ms",
                 "store SET epoch_floor", "store SET at_ms", "store SET steady_ms", "store SET wall_ms",
                 "events SET at_ms", "events SET wall_ms", "events SET epoch", "nudges SET at_ms");
    const std::string sql = std::string("UPDATE ") + column + " = " + number;
    CAPTURE(sql);
    const Hagi hagi;
    hagi.done(verb("acquire", "me", {"--phase", "p"}));
    hagi.done(verb("accept", "me"));
    hagi.done(verb("acquire", "other"));
    hagi.done(verb("nudge", "other", {"--reason", "r"}));
    Store(hagi.store()).write(sql);
    for (const Words& words : {Words{"log"}, verb("acquire", "other")}) check_words(hagi, words);
    const Finished third = hagi.run(verb("acquire", "third", {"--no-queue"}));
    INFO(third.out << third.err);
    // Never a holder beside the one that there is: what cannot be is refused, and what can be is believed.
    CHECK((third.code == 50 || third.code == 29 || third.out.find("epoch 2 ") != std::string::npos));
}

TEST_CASE("what lies in the store's future is damage, and nobody holds or waits by it") {
    const auto* const sql = GENERATE(
        "UPDATE locks SET feedback_ms = feedback_ms + 1000000", "UPDATE locks SET accepted_ms = accepted_ms + 1000000",
        "UPDATE locks SET phase_since_ms = phase_since_ms + 1000000",
        "UPDATE waiters SET heard_ms = heard_ms + 1000000", "UPDATE nudges SET at_ms = at_ms + 1000000",
        "UPDATE endings SET ended_ms = ended_ms + 1000000", "UPDATE store SET at_ms = at_ms - 1000000");
    CAPTURE(sql);
    const Hagi hagi;
    hagi.done(verb("acquire", "other"));
    hagi.done(verb("requisition", "me", {"--reason", "r"}));
    hagi.done(verb("renew", "me", {"--phase", "p"}));
    hagi.done(verb("accept", "me"));
    hagi.done(verb("acquire", "third"));
    hagi.done(verb("nudge", "third", {"--reason", "r"}));
    Store(hagi.store()).write(sql);
    for (const Words& words : {verb("status", "other"), verb("acquire", "other", {"--no-queue"})})
        CHECK(hagi.run(words).code == 50);
    check_words(hagi, {"doctor"});
}

TEST_CASE("the name of a store reaches no terminal unescaped") {
    const Hagi hagi;
    const std::string folder = hagi.folder() + "/\x1b[31m\n" + kPretended + "\xe2\x80\xae'\"$(x)\xff";
    std::filesystem::create_directory(folder);
    const Words named{"--store", folder + "/s.db"};
    const auto with_store = [&](Words words) {
        words.insert(words.begin() + 1, named.begin(), named.end());
        return words;
    };
    check_words(hagi, with_store(verb("acquire", "me")));
    for (const Words& words : {Words{"list"}, Words{"log"}, Words{"doctor"}, verb("status", "me"), verb("renew", "me"),
                               verb("acquire", "you"), verb("acquire", "them", {"--no-queue"}),
                               verb("acquire", "them", {"--wait", "--timeout", "0"}), verb("release", "me"),
                               verb("renew", "me"), Words{"doctor", "--rebuild"}, Words{"doctor", "--prune-idle"}})
        check_words(hagi, with_store(words));
    // What it is told to run next works in every shell.
    const std::string said = hagi.run(with_store(verb("acquire", "them", {"--no-queue"}))).err;
    const auto at = said.find("hagi agent lock acquire");
    REQUIRE(at != std::string::npos);
    std::string command = said.substr(at);
    command.replace(0, 4, "\"$HAGI_TEST_BINARY\"");
    while (!command.empty() && command.back() == '\n') command.pop_back();
    const Finished pasted = hagi.run_other({"sh", "-c", command + " --timeout 0 --json"});
    INFO(command << "\n" << pasted.out << pasted.err);
    CHECK(pasted.code == 31);
}

}  // namespace
}  // namespace hagi::test
