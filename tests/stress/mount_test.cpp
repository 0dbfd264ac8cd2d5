// A filesystem that hosts share, played by bindfs: as it comes, each mount of one folder is a host whose locks and
// caches the others do not see; with its locks passed on and no cache, one whose file server keeps them all.
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "tests/stress/crowd.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

enum class Locks { Local, PassedOn };

class Mount {
public:
    Mount(const std::string& folder, std::string point, Locks locks) : point_(std::move(point)) {
        fs::create_directory(folder);
        fs::create_directory(point_);
        Words words{"bindfs"};
        if (locks == Locks::PassedOn)
            words.insert(words.end(), {"--multithreaded", "--enable-lock-forwarding", "-o",
                                       "direct_io,attr_timeout=0,entry_timeout=0"});
        words.insert(words.end(), {folder, point_});
        const Finished mounted = run_process(words, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
        INFO(mounted.out << mounted.err);
        REQUIRE(mounted.code == 0);
    }
    // bindfs ends with its mount.
    ~Mount() { ::umount2(point_.c_str(), MNT_DETACH); }
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;

    [[nodiscard]] std::string store() const { return point_ + "/locks.db"; }

    // In front of a command that is to use the store through this mount.
    [[nodiscard]] Words place() const { return {"env", "HAGI_LOCK_FILESYSTEM=shared", "HAGI_LOCK_STORE=" + store()}; }

private:
    std::string point_;
};

bool has_bindfs() {
    const bool can = ::geteuid() == 0 && ::access("/dev/fuse", R_OK | W_OK) == 0 &&
                     run_process({"sh", "-c", "command -v bindfs"}, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}).code == 0;
    if (!can) WARN("SKIPPED: needs root, /dev/fuse and bindfs(1)");
    return can;
}

// Two hosts of one file server, and the server itself.
struct Site {
    explicit Site(Locks locks)
        : here(hagi.folder() + "/server", hagi.folder() + "/here", locks),
          there(hagi.folder() + "/server", hagi.folder() + "/there", locks) {}

    [[nodiscard]] Words line(const Mount& mount, const Words& words) const {
        Words line = mount.place();
        const Words own = Hagi::line(words);
        line.insert(line.end(), own.begin(), own.end());
        return line;
    }
    [[nodiscard]] Finished run(const Mount& mount, const Words& words) const {
        return hagi.run_other(line(mount, words));
    }
    [[nodiscard]] std::unique_ptr<Process> start(const Mount& mount, const Words& words) const {
        return hagi.start_other(line(mount, words));
    }

    Hagi hagi;
    Mount here;
    Mount there;
};

}  // namespace

TEST_CASE("on a filesystem that nobody knows a store is refused, with the way out, and nothing is made there") {
    if (!has_bindfs()) return;
    const Hagi hagi;
    const Mount mount(hagi.folder() + "/server", hagi.folder() + "/here", Locks::Local);
    const Finished refused = hagi.run(verb("acquire", "alice", {"--store", mount.store()}));
    CHECK(refused.code == 30);
    CHECK(refused.err.find("filesystem fuse is not known to share locks") != std::string::npos);
    CHECK(refused.err.find("HAGI_LOCK_FILESYSTEM=local|shared") != std::string::npos);
    CHECK(hagi.run({"doctor", "--store", mount.store()}).code == 30);
    CHECK(fs::is_empty(hagi.folder() + "/server"));
    // What someone who knows is told to set.
    CHECK(hagi.run_after("export HAGI_LOCK_FILESYSTEM=local", verb("acquire", "alice", {"--store", mount.store()}))
              .code == 0);
}

TEST_CASE(
    "told that it is shared, a store has a rollback journal and the file server's clock; one with a log is refused") {
    if (!has_bindfs()) return;
    const Site site(Locks::PassedOn);
    CHECK(site.run(site.here, verb("acquire", "alice")).code == 0);
    const auto report = nlohmann::json::parse(site.run(site.there, {"doctor", "--json"}).out);
    CHECK(report.at("journalMode") == "rollback");
    CHECK(report.at("clock") == "the file server's");
    CHECK(report.at("filesystem").get<std::string>().find("fuse") != std::string::npos);
    CHECK(report.at("ok") == true);
    CHECK_FALSE(fs::exists(site.here.store() + "-wal"));
    // As which clock the store's time was told by.
    CHECK(site.hagi.run_other({"grep", "-q", "file server", site.hagi.folder() + "/server/locks.db"}).code == 0);

    const std::string local = site.hagi.folder() + "/server/local.db";
    CHECK(site.hagi.run(verb("acquire", "alice", {"--store", local})).code == 0);
    for (const Words& words : {verb("acquire", "bob"), verb("status", "alice"), Words{"list"}, Words{"log"}}) {
        Words with_store = words;
        with_store.insert(with_store.end(), {"--store", site.hagi.folder() + "/here/local.db"});
        const Finished refused = site.run(site.here, with_store);
        INFO(words[0] << refused.out);
        CHECK(refused.code == 30);
        CHECK(refused.err.find("--convert-to-shared") != std::string::npos);
    }
}

TEST_CASE("a turn is handed from one host to another, whose watchers look for themselves") {
    if (!has_bindfs()) return;
    const Site site(Locks::PassedOn);
    REQUIRE(site.run(site.here, verb("acquire", "alice")).code == 0);
    const auto bob = site.start(site.there, verb("acquire", "bob", {"--wait"}));
    bob->await_line("place 1 of 1");
    const auto carol = site.start(site.here, verb("acquire", "carol", {"--wait"}));
    carol->await_line("place 2 of 2");
    CHECK(site.run(site.here, verb("release", "alice")).code == 0);
    CHECK(bob->await_line("Holding").find("epoch 2 owner bob") != std::string::npos);
    CHECK(bob->wait() == 0);
    const auto heartbeat = site.start(site.here, verb("heartbeat", "bob"));
    heartbeat->await_line("epoch 2");
    CHECK(site.run(site.there, verb("requisition", "dave", {"--reason", "on fire"})).code == 0);
    heartbeat->await_line("on fire");
    CHECK(heartbeat->wait() == 32);
    CHECK(site.run(site.there, verb("release", "dave")).code == 0);
    CHECK(carol->wait() == 0);
}

TEST_CASE("a gate that stays taken is given up in time, though a mount hears no interrupt") {
    if (!has_bindfs()) return;
    const Site site(Locks::PassedOn);
    REQUIRE(site.run(site.here, verb("acquire", "alice")).code == 0);
    const auto inside = site.hagi.start_other(
        {"flock", "-F", site.here.store() + "-gate", "sh", "-c", "echo inside; exec cat"}, Process::Input::Pipe);
    inside->await_line("inside");
    for (const Mount* const mount : {&site.here, &site.there})
        CHECK(site.run(*mount, verb("renew", "alice", {"--busy-timeout", "1"})).code == 60);
    inside->close_input();
    CHECK(inside->wait() == 0);
    CHECK(site.run(site.there, verb("renew", "alice")).code == 0);
}

TEST_CASE("a probe from both sides tells whether locks cross") {
    if (!has_bindfs()) return;
    const auto locks = GENERATE(Locks::Local, Locks::PassedOn);
    const Site site(locks);
    const auto first = site.start(site.here, {"doctor", "--probe-lock"});
    first->await_line("Holding locks");
    const Finished second = site.run(site.there, {"doctor", "--probe-lock"});
    INFO(second.out << second.err);
    if (locks == Locks::Local) {
        CHECK(second.code == 30);
        CHECK(second.err.find("do NOT cross") != std::string::npos);
    } else {
        CHECK(second.code == 0);
        CHECK(second.out.find("The locks cross") == 0);
    }
}

TEST_CASE("a crowd on a mount sees every promise kept") {
    if (!has_bindfs()) return;
    const Site site(Locks::PassedOn);
    Measure small = measure(std::chrono::seconds{3}, std::chrono::seconds{60});
    small.takers = 4;
    small.runners = 2;
    small.fewest = 16;
    // From host to host a turn takes as long as a watcher sleeps between two looks: only where there is time for it.
    std::vector<Words> places{site.here.place()};
    if (std::getenv("HAGI_TEST_LONG") != nullptr) places.push_back(site.there.place());
    Crowd crowd(site.hagi, small, places);
    crowd.take_turns();
    WARN(crowd.summary());
    for (const std::string& complaint : crowd.verdict()) FAIL_CHECK(complaint);
    CHECK(site.run(site.there, {"doctor"}).code == 0);
}

}  // namespace hagi::test
