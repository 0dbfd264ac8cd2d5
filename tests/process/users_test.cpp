// Several users and one store: a team, a stranger who was there first, a reader, and somebody who left the team. And
// that hagi leaves its traces in the store's folder and nowhere else. Only root can be several users.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAlice = 12345, kBob = 12346, kStranger = 12347;
constexpr gid_t kTeam = 23456;

bool is_root() {
    if (::geteuid() == 0) return true;
    WARN("SKIPPED: needs root, to be several users");
    return false;
}

enum class Membership { InTeam, Alone };

// A folder with a copy of the program in it, which everybody may run, and one for the store.
class Machine {
public:
    explicit Machine(mode_t mode, uid_t owner = 0, gid_t group = 0) {
        fs::copy_file(HAGI_BINARY, hagi_.folder() + "/hagi");
        set(hagi_.folder(), 0, 0, 0755);
        set(hagi_.folder() + "/hagi", 0, 0, 0755);
        fs::create_directory(folder());
        set(folder(), owner, group, mode);
    }

    [[nodiscard]] std::string folder() const { return hagi_.folder() + "/place"; }
    [[nodiscard]] std::string store() const { return folder() + "/locks.db"; }

    [[nodiscard]] Words line(uid_t user, const Words& words, Membership membership = Membership::InTeam,
                             const std::string& umask = "022") const {
        Words line{"setpriv", "--reuid", std::to_string(user), "--regid", std::to_string(user)};
        if (membership == Membership::InTeam)
            line.insert(line.end(), {"--groups", std::to_string(kTeam)});
        else
            line.emplace_back("--clear-groups");
        line.insert(line.end(),
                    {"sh", "-c", "umask " + umask + "; exec \"$@\"", "sh", hagi_.folder() + "/hagi", "agent", "lock"});
        line.insert(line.end(), words.begin(), words.end());
        line.insert(line.end() - std::ssize(words) + 1, {"--store", store()});
        return line;
    }
    [[nodiscard]] Finished run(uid_t user, const Words& words, Membership membership = Membership::InTeam,
                               const std::string& umask = "022") const {
        return hagi_.run_other(line(user, words, membership, umask));
    }
    [[nodiscard]] const Hagi& hagi() const { return hagi_; }

    static void set(const std::string& path, uid_t owner, gid_t group, mode_t mode) {
        REQUIRE(::lchown(path.c_str(), owner, group) == 0);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
    }

private:
    Hagi hagi_;
};

// Everything below a folder: what it is, whose, and what is in it; but for the index that even readers write.
std::map<std::string, std::string> inventory(const std::string& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        struct stat what {};
        ::lstat(entry.path().c_str(), &what);
        std::ostringstream text;
        text << what.st_mode << ' ' << what.st_uid << ' ' << what.st_gid << ' ' << what.st_nlink << ' ';
        if (S_ISREG(what.st_mode) && !entry.path().string().ends_with("-shm"))
            text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        found[entry.path()] = text.str();
    }
    return found;
}

const std::vector<Words> kLooking = {{"list"}, {"list", "--all", "--json"}, {"log"}, {"log", "--json"}, {"doctor"}};

std::vector<Words> every_verb(const std::string& owner) {
    std::vector<Words> all = kLooking;
    for (const Words& words : {verb("acquire", owner), verb("acquire", owner, {"--wait", "--timeout", "0"}),
                               verb("status", owner), verb("renew", owner), verb("accept", owner),
                               verb("heartbeat", owner, {"--epoch", "99"}), verb("release", owner),
                               verb("nudge", owner, {"--reason", "r"}), verb("requisition", owner, {"--reason", "r"}),
                               verb("stop", owner, {"--reason", "r"}), verb("run", owner, {"--", "true"})})
        all.push_back(words);
    return all;
}

// ---- A team ----

TEST_CASE("a team shares a store through a set-group-id folder, whatever their umasks") {
    if (!is_root()) return;
    const auto* const umask = GENERATE("077", "000", "777");
    CAPTURE(umask);
    const Machine machine(02770, 0, kTeam);
    const auto run = [&](uid_t user, const Words& words) {
        return machine.run(user, words, Membership::InTeam, umask);
    };
    CHECK(run(kAlice, verb("acquire", "alice")).code == 0);
    const auto bob =
        machine.hagi().start_other(machine.line(kBob, verb("acquire", "bob", {"--wait"}), Membership::InTeam, umask));
    bob->await_line("place 1 of 1");
    CHECK(run(kAlice, verb("release", "alice")).code == 0);
    bob->await_line("Holding");
    CHECK(bob->wait() == 0);
    const auto alice = machine.hagi().start_other(
        machine.line(kAlice, verb("acquire", "alice", {"--wait"}), Membership::InTeam, umask));
    alice->await_line("place 1 of 1");
    for (const auto& entry : fs::recursive_directory_iterator(machine.folder())) {
        INFO(entry.path());
        CHECK(mode_of(entry.path()) == (entry.is_directory() ? 0770U : 0660U));
        CHECK(group_of(entry.path()) == kTeam);
    }
    CHECK(run(kBob, verb("run", "bob", {"--epoch", "2", "--", "true"})).code == 0);
    CHECK(run(kBob, verb("release", "bob")).code == 0);
    CHECK(alice->wait() == 0);
    CHECK(run(kBob, {"doctor"}).code == 0);
    CHECK(run(kStranger, {"log"}).code == 0);
}

TEST_CASE("who is not in the team, or not any more, is kept out of all of it") {
    if (!is_root()) return;
    // Whether they may look into the folder or not.
    const mode_t mode = GENERATE(mode_t{02770}, mode_t{02775});
    CAPTURE(mode);
    const Machine machine(mode, 0, kTeam);
    REQUIRE(machine.run(kAlice, verb("acquire", "alice")).code == 0);
    REQUIRE(machine.run(kBob, verb("acquire", "bob")).code == 0);
    const auto before = inventory(machine.folder());
    for (const Words& words : every_verb("bob")) {
        const Finished finished = machine.run(kBob, words, Membership::Alone);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 23);
    }
    CHECK(inventory(machine.folder()) == before);
    const auto listed = nlohmann::json::parse(machine.run(kAlice, {"list", "--json"}).out);
    CHECK(listed["locks"][0]["queue"][0]["owner"] == "bob");
}

TEST_CASE("who may only read can list, read the log and ask the doctor, and changes nothing") {
    if (!is_root()) return;
    const Machine machine(0755, kAlice, kAlice);
    REQUIRE(machine.run(kAlice, verb("acquire", "alice")).code == 0);
    for (const auto& entry : fs::directory_iterator(machine.folder())) ::chmod(entry.path().c_str(), 0644);
    const auto before = inventory(machine.folder());
    for (const Words& words : every_verb("bob")) {
        const bool looks = std::find(kLooking.begin(), kLooking.end(), words) != kLooking.end();
        const Finished finished = machine.run(kBob, words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == (looks ? 0 : 23));
        if (looks && words[0] != "doctor") CHECK(finished.out.find("alice") != std::string::npos);
    }
    CHECK(inventory(machine.folder()) == before);
}

// ---- A stranger who was there first ----

// What a stranger can put where the store or a file beside it would be. The target belongs to who is to be harmed.
void plant(const std::string& what, const std::string& path, const std::string& target) {
    if (what == "symbolic link") {
        REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
    } else if (what == "dangling link") {
        REQUIRE(::symlink((target + "-new").c_str(), path.c_str()) == 0);
    } else if (what == "hard link") {
        REQUIRE(::link(target.c_str(), path.c_str()) == 0);
        return;  // it is still its owner's
    } else if (what == "FIFO") {
        REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
    } else if (what == "directory") {
        REQUIRE(::mkdir(path.c_str(), 0777) == 0);
    } else {
        write_file(path, "");
    }
    REQUIRE(::lchown(path.c_str(), kStranger, kStranger) == 0);
    if (what == "file") REQUIRE(::chmod(path.c_str(), 0666) == 0);
}

TEST_CASE("in a folder that everybody may write nothing that a stranger put in the store's place is touched") {
    if (!is_root()) return;
    const std::string what = GENERATE("symbolic link", "dangling link", "hard link", "FIFO", "directory", "file");
    const uid_t user = GENERATE(kAlice, 0U);
    CAPTURE(what, user);
    const Machine machine(01777);
    const std::string target = machine.hagi().folder() + "/precious";
    write_file(target, std::string(200, 'p'));
    Machine::set(target, user, user, 0600);
    plant(what, machine.store(), target);
    const auto before = inventory(machine.hagi().folder());
    for (const Words& words : every_verb("alice")) {
        const Finished finished = machine.run(user, words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 23);
    }
    CHECK(inventory(machine.hagi().folder()) == before);
}

TEST_CASE("nor what a stranger put in the place of a file beside the store") {
    if (!is_root()) return;
    const std::string what = GENERATE("symbolic link", "dangling link", "hard link", "FIFO", "directory", "file");
    const std::string suffix = GENERATE("-gate", "-wal", "-shm", "-journal", "-bells", "-probe");
    const bool beforehand = GENERATE(true, false);
    CAPTURE(what, suffix, beforehand);
    const Machine machine(01777);
    if (!beforehand) {
        REQUIRE(machine.run(kAlice, verb("acquire", "alice")).code == 0);
        fs::remove_all(machine.store() + suffix);
    }
    const std::string target = machine.hagi().folder() + "/precious";
    write_file(target, std::string(200, 'p'));
    Machine::set(target, kAlice, kAlice, 0600);
    plant(what, machine.store() + suffix, target);
    const auto before = inventory(machine.hagi().folder());
    for (const Words& words : every_verb("alice")) {
        const Finished finished = machine.run(kAlice, words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 23);
    }
    CHECK(inventory(machine.hagi().folder()) == before);
}

// ---- Traces ----

TEST_CASE("nothing of what a command is given beside the protocol's texts is kept") {
    const Hagi hagi;
    hagi.done({"run", "--lock-id", "a", "--owner", "alice", "--", "env", "TOKEN=sesame", "true", "sesame"});
    hagi.done(verb("acquire", "alice"));
    CHECK(hagi.run_other({"env", "TOKEN=sesame", HAGI_BINARY, "agent", "lock", "release", "--lock-id", "a", "--owner",
                          "alice", "--json"})
              .out.find("sesame") == std::string::npos);
    CHECK(hagi.run({"log", "--json"}).out.find("sesame") == std::string::npos);
    for (const auto& [path, content] : inventory(hagi.folder())) {
        INFO(path);
        CHECK(content.find("sesame") == std::string::npos);
    }
}

// A line of strace(1): `4711  openat(AT_FDCWD, "/a/b", O_RDWR|O_CREAT, 0600) = 3`.
struct Call {
    explicit Call(const std::string& line) : text(line) {
        const auto name_at = line.find_first_not_of("0123456789 ");
        const auto open = line.find('(');
        if (name_at == std::string::npos || open == std::string::npos) return;
        name = line.substr(name_at, open - name_at);
        for (auto from = line.find('"'); from != std::string::npos; from = line.find('"', from)) {
            const auto to = line.find('"', from + 1);
            if (to == std::string::npos) return;
            paths.push_back(line.substr(from + 1, to - from - 1));
            from = to + 1;
        }
    }

    // Makes, opens for writing, renames or removes something by its name.
    [[nodiscard]] bool writes() const {
        static const std::set<std::string> kWriting = {
            "creat",  "mkdir",   "mkdirat",   "mknod",  "mknodat",  "rename",   "renameat", "renameat2", "link",
            "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "truncate", "chmod",    "fchmodat"};
        const bool opens_to_write =
            (name == "open" || name == "openat") &&
            (text.find("O_WRONLY") != std::string::npos || text.find("O_RDWR") != std::string::npos ||
             text.find("O_CREAT") != std::string::npos);
        return opens_to_write || kWriting.contains(name);
    }

    std::string text;
    std::string name;
    std::vector<std::string> paths;
};

TEST_CASE("no verb writes anywhere but in the store's folder") {
    const Hagi hagi;
    const std::string store_folder = hagi.folder() + "/store";
    const std::string elsewhere = hagi.folder() + "/elsewhere";
    const std::string trace = hagi.folder() + "/trace";
    fs::create_directory(store_folder);
    fs::create_directory(elsewhere);
    if (hagi.run_other({"strace", "-o", trace, "true"}).code != 0) {
        WARN("SKIPPED: strace(1) cannot trace here");
        return;
    }
    std::size_t written = 0;
    for (const Words& words : every_verb("alice")) {
        Words line{"env", "-C", elsewhere};
        for (const char* const name : {"HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"})
            line.push_back(std::string(name) + "=" + elsewhere);
        line.push_back("HAGI_LOCK_STORE=" + store_folder + "/s");
        line.insert(line.end(), {"strace", "-f", "-o", trace, "-e", "trace=%file", HAGI_BINARY, "agent", "lock"});
        line.insert(line.end(), words.begin(), words.end());
        CHECK(hagi.run_other(line).code != 1);
        std::ifstream calls(trace);
        for (std::string text; std::getline(calls, text);) {
            const Call call(text);
            if (!call.writes()) continue;
            ++written;
            INFO(text);
            for (const std::string& path : call.paths) {
                // A pipe in the folder of the bells is named within it.
                const bool inside = path.starts_with(store_folder + "/") || path.find('/') == std::string::npos;
                CHECK((inside || path == "/dev/null"));
            }
        }
    }
    CHECK(written > 0);
    CHECK(fs::is_empty(elsewhere));
    CHECK(fs::exists(store_folder + "/s-bells"));
}

}  // namespace
}  // namespace hagi::test
