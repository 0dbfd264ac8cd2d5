// Much of everything, little of everything, and machines without what is usually there.
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/faults/tracer.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

void change(const Hagi& hagi, const std::string& sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(hagi.store().c_str(), &database) == SQLITE_OK);
    const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    INFO(sql << ": " << sqlite3_errmsg(database));
    CHECK(code == SQLITE_OK);
    sqlite3_close(database);
}

std::string rows(int count) {
    return "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < " +
           std::to_string(count) + ") ";
}

bool is_error_line(const std::string& text) {
    return text.starts_with("hagi: ") && text.find('\n') == text.size() - 1 && text.find(": ", 6) != std::string::npos;
}

bool root() {
    if (::geteuid() == 0) return true;
    WARN("SKIPPED: needs root");
    return false;
}

// One of each kind of command, in an order in which each succeeds.
std::vector<Words> a_whole_life() {
    return {verb("acquire", "x"),
            verb("acquire", "y"),
            verb("status", "y"),
            verb("renew", "x", {"--phase", "test"}),
            verb("accept", "x"),
            verb("nudge", "y", {"--reason", "r"}),
            {"list"},
            {"log"},
            verb("release", "x"),
            verb("status", "y"),
            verb("requisition", "z", {"--reason", "r"}),
            verb("stop", "y", {"--reason", "r"}),
            verb("acquire", "x", {"--wait", "--timeout", "9"}),
            verb("release", "x"),
            verb("run", "x", {"--", "true"}),
            {"doctor"}};
}

// ---- Much ----------------------------------------------------------------------------------------------------

TEST_CASE("ten thousand held locks are listed, and one of them is used as ever") {
    const Hagi hagi;
    hagi.done(verb("acquire", "x", {"--label", "one of many"}));
    change(hagi, "CREATE TEMP TABLE one AS SELECT * FROM locks;" + rows(9999) +
                     "INSERT INTO locks SELECT printf('lock-%05d', n), one.last_epoch, one.recent_holds, one.owner,"
                     " one.epoch, one.lease_ms, one.hard_cap_ms, one.label, one.granted_ms, one.granted_how,"
                     " one.claimed_ms, one.feedback_ms, one.accepted_ms, one.phase, one.phase_since_ms, one.note,"
                     " one.bound_pid, one.bound_start, one.bound_boot, one.bound_pid_ns, one.bound_host,"
                     " one.bound_group, one.attached FROM numbers, one");
    CHECK(hagi.json({"list"})["locks"].size() == 10'000);
    CHECK(hagi.json({"list", "--prefix", "lock-0999"})["locks"].size() == 10);
    CHECK(hagi.json({"acquire", "--lock-id", "lock-05000", "--owner", "y"})["position"] == 1);
    hagi.done({"release", "--lock-id", "lock-05000", "--owner", "x"});
    CHECK(hagi.json({"status", "--lock-id", "lock-05000", "--owner", "y"})["epoch"] == 2);
    CHECK(hagi.run({"doctor"}).code == 0);
}

TEST_CASE("a thousand wait for one lock, each in its place") {
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    hagi.done(verb("acquire", "w-1"));
    change(hagi, "CREATE TEMP TABLE one AS SELECT * FROM waiters;" + rows(1000) +
                     "INSERT INTO waiters (lock_id, ticket, owner, label, phase, note, lease_ms, max_hold_ms,"
                     " enqueued_ms, heard_ms) SELECT one.lock_id, one.ticket + n - 1, 'w-' || n, one.label, one.phase,"
                     " one.note, one.lease_ms, one.max_hold_ms, one.enqueued_ms, one.heard_ms FROM numbers, one"
                     " WHERE n > 1");
    CHECK(hagi.json(verb("status", "w-1000"))["position"] == 1000);
    CHECK(hagi.json(verb("acquire", "late"))["position"] == 1001);
    CHECK(hagi.run(verb("release", "w-500")).code == 0);
    CHECK(hagi.json(verb("status", "w-1000"))["position"] == 999);
    hagi.done(verb("release", "x"));
    CHECK(hagi.json(verb("status", "w-1"))["status"] == "Holding");
    CHECK(hagi.json({"list"})["locks"][0]["queue"].size() == 999);
}

TEST_CASE("a log of a hundred thousand rows is read from its end, and goes on") {
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    change(hagi, "CREATE TEMP TABLE one AS SELECT * FROM events;" + rows(100'000) +
                     "INSERT INTO events SELECT one.seq + n, one.at_ms, one.wall_ms, 'claimed', 'other', 'o-' || n,"
                     " one.epoch, NULL, NULL, NULL, NULL FROM numbers, one");
    hagi.done(verb("acquire", "y"));
    const auto newest = hagi.json({"log", "--limit", "2"})["events"];
    REQUIRE(newest.size() == 2);
    CHECK(newest[0]["owner"] == "o-100000");
    CHECK(newest[1]["event"] == "queued");
    CHECK(hagi.json({"log"})["events"].size() == 1000);
    CHECK(hagi.json({"log", "--owner", "o-7"})["events"].size() == 1);
    CHECK(hagi.json({"log", "--lock-id", "a"})["events"].size() == 2);
    CHECK(hagi.run({"doctor"}).code == 0);
}

TEST_CASE("a path that is too long for a store is said to be so, whatever is asked, and nothing is made") {
    const Hagi hagi;
    std::string folder = hagi.folder();
    while (folder.size() < 4000 - 101) folder += "/" + std::string(100, 'f');
    fs::create_directories(folder);
    const std::string path = folder + "/" + std::string(4000 - 1 - folder.size(), 's');
    REQUIRE(path.size() == 4000);
    for (const Words& command : a_whole_life()) {
        Words words = command;
        words.insert(words.begin() + 1, {"--store", path});
        const Finished refused = hagi.run(words);
        INFO(command[0] << ": " << refused.out << refused.err);
        if (command[0] == "doctor") continue;
        CHECK(refused.code == 20);
        CHECK(is_error_line(refused.err));
        CHECK(refused.err.find("too long") != std::string::npos);
    }
    CHECK(hagi.run({"doctor", "--store", path}).code == 20);
    CHECK(fs::is_empty(folder));
}

TEST_CASE("the longest path that is not refused works, and the refused one was a byte longer") {
    const Hagi hagi;
    bool refused_once = false;
    int worked = 0;
    for (std::size_t length = 430; length <= 530; ++length) {
        CAPTURE(length);
        std::string folder = hagi.folder();
        while (folder.size() + 150 < length) folder += "/" + std::string(100, 'f');
        fs::create_directories(folder);
        const std::string path = folder + "/" + std::string(length - 1 - folder.size(), 's');
        REQUIRE(path.size() == length);
        const Finished finished = hagi.run(verb("acquire", "x", {"--store", path}));
        INFO(finished.err);
        CHECK((finished.code == 0 || finished.code == 20));
        if (finished.code == 20) refused_once = true;
        CHECK(refused_once == (finished.code == 20));
        if (finished.code != 0) continue;
        ++worked;
        CHECK(hagi.run({"list", "--store", path}).code == 0);
        CHECK(hagi.run(verb("acquire", "y", {"--store", path, "--wait", "--timeout", "0"})).code == 31);
    }
    CHECK(worked > 10);
    CHECK(refused_once);
}

// ---- Little --------------------------------------------------------------------------------------------------

TEST_CASE("sixty-four descriptors are plenty") {
    const Hagi hagi;
    for (const Words& command : a_whole_life()) {
        const Finished finished = hagi.run_after("ulimit -n 64", command);
        INFO(command[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 0);
    }
}

TEST_CASE("too few descriptors are exit 60 with one line, and no harm") {
    const Hagi hagi;
    hagi.done(verb("acquire", "x"));
    for (int limit = 3; limit < 16; ++limit) {
        for (const Words& command : {verb("renew", "x"), verb("acquire", "y"), Words{"list"}, Words{"log"},
                                     verb("run", "z", {"--no-queue", "--", "true"})}) {
            const Finished finished = hagi.run_after("ulimit -n " + std::to_string(limit), command);
            INFO(limit << " " << command[0] << ": " << finished.out << finished.err);
            const int usual = command[0] == "run" ? 29 : 0;
            CHECK((finished.code == usual || finished.code == 60));
            if (finished.code == 60) CHECK(is_error_line(finished.err));
        }
    }
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "x");
    CHECK(hagi.integrity() == "ok");
}

// What a program opens as 0, 1 or 2 in a trace, once it has become hagi.
std::vector<std::string> opened_as_standard_streams(const std::string& trace) {
    std::vector<std::string> opened;
    std::ifstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("execve(")) opened.clear();
        for (const char* const fd : {" = 0", " = 1", " = 2"})
            if (line.ends_with(fd) && !line.starts_with("execve(")) opened.push_back(line);
    }
    return opened;
}

TEST_CASE("with any of the standard streams closed, nothing but /dev/null gets its number") {
    if (!can_disturb()) return;
    for (int closed = 1; closed < 8; ++closed) {
        std::string exec = "exec";
        if ((closed & 1) != 0) exec += " <&-";
        if ((closed & 2) != 0) exec += " >&-";
        if ((closed & 4) != 0) exec += " 2>&-";
        const Hagi hagi;
        for (const bool shared : {false, true}) {
            for (const Words& command : a_whole_life()) {
                CAPTURE(exec, shared, command[0]);
                const std::string trace = hagi.folder() + "/trace";
                Words words{"strace",
                            "-qq",
                            "-o",
                            trace,
                            "-e",
                            "trace=execve,openat,inotify_init1,signalfd4,pidfd_open,socket,dup",
                            "-E",
                            shared ? "HAGI_LOCK_FILESYSTEM=shared" : "HAGI_LOCK_FILESYSTEM=local",
                            "-E",
                            "HAGI_LOCK_STORE=" + hagi.store() + (shared ? "-shared" : ""),
                            "sh",
                            "-c",
                            exec + "; exec \"$@\"",
                            "sh"};
                const Words line = Hagi::line(command);
                words.insert(words.end(), line.begin(), line.end());
                CHECK(hagi.run_other(words).code == 0);
                for (const std::string& opened : opened_as_standard_streams(trace))
                    CHECK(opened.find("\"/dev/null\"") != std::string::npos);
            }
        }
    }
}

TEST_CASE("an answer that a full device does not take is no failure of the command") {
    const Hagi hagi;
    const Finished finished = hagi.run_after("exec >/dev/full", verb("acquire", "x"));
    CHECK(finished.code == 0);
    CHECK(is_error_line(finished.err));
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "x");
}

// ---- Nothing -------------------------------------------------------------------------------------------------

TEST_CASE("without a home a store must be named, and then all works") {
    const Hagi hagi;
    const Finished lost = hagi.run_after("unset HOME HAGI_LOCK_STORE", verb("acquire", "x"));
    CHECK(lost.code == 20);
    CHECK(is_error_line(lost.err));
    for (const Words& command : a_whole_life()) {
        const Finished finished = hagi.run_after("unset HOME", command);
        INFO(command[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 0);
    }
}

TEST_CASE("an empty environment changes no byte of an answer, nor does a locale that is not there") {
    const Hagi hagi;
    hagi.done(verb("acquire", "x", {"--label", "Prüfstand № 7"}));
    const std::string usual = hagi.run({"log"}).out;
    CHECK(usual.find("Prüfstand № 7") != std::string::npos);
    for (const std::string locale : {"", "LC_ALL=tlh_KL.UTF-8", "LC_ALL=de_DE", "LANG=C"}) {
        Words words{"env", "-i"};
        if (!locale.empty()) words.push_back(locale);
        const Words line = Hagi::line({"log", "--store", hagi.store()});
        words.insert(words.end(), line.begin(), line.end());
        CHECK(hagi.run_other(words).out == usual);
    }
}

TEST_CASE("without /proc everything works, and who has one shares the store") {
    if (!root()) return;
    const Hagi hagi;
    const auto without_proc = [&](const Words& command) {
        Words words{"unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
        const Words line = Hagi::line(command);
        words.insert(words.end(), line.begin(), line.end());
        return hagi.run_other(words);
    };
    if (without_proc({"list"}).err.find("unshare") != std::string::npos) {
        WARN("SKIPPED: this machine does not let unshare(1) hide /proc");
        return;
    }
    for (const Words& command : a_whole_life()) {
        const Finished finished = without_proc(command);
        INFO(command[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 0);
    }
    // Their clocks are read in two ways, and neither runs away from the other.
    hagi.done(verb("acquire", "mixed"));
    CHECK(without_proc(verb("renew", "mixed")).code == 0);
    hagi.done(verb("renew", "mixed"));
    CHECK(without_proc(verb("release", "mixed")).code == 0);
    CHECK(hagi.integrity() == "ok");
}

TEST_CASE("in a root without anything but the program, everything works") {
    if (!root()) return;
    const Hagi hagi;
    const std::string top = hagi.folder() + "/root";
    fs::create_directories(top + "/var");
    fs::copy_file(HAGI_BINARY, top + "/hagi");
    for (const Words& command : a_whole_life()) {
        Words words{"chroot", top, "/hagi", "agent", "lock"};
        words.insert(words.end(), command.begin(), command.end());
        words.insert(words.begin() + 6, {"--store", "/var/locks.db"});
        if (command[0] == "run") {
            words.back() = "/hagi";
            words.push_back("--version");
        }
        const Finished finished = hagi.run_other(words);
        INFO(command[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 0);
    }
}

}  // namespace
}  // namespace hagi::test
