// The place where the store lies fails it: full, read-only, limited, or with half of its files gone. What was answered
// stays true, what cannot be done says so, and when the trouble is over all goes on.
#include <sys/mount.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

// A filesystem of its own at `folder`, seen by this test program and what it starts.
class SmallDisk {
public:
    SmallDisk(std::string folder, const std::string& size) : folder_(std::move(folder)) {
        REQUIRE(::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("mode=700,size=" + size).c_str()) == 0);
    }
    ~SmallDisk() { ::umount2(folder_.c_str(), MNT_DETACH); }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    void fill() const {
        std::ofstream ballast(folder_ + "/ballast", std::ios::binary);
        while (ballast) ballast.write(std::string(4096, 'x').data(), 4096).flush();
    }
    void free() const { fs::remove(folder_ + "/ballast"); }

    enum class May { Read, Write };
    void remount(May may) const {
        const unsigned long flags = may == May::Read ? MS_REMOUNT | MS_RDONLY : MS_REMOUNT;
        REQUIRE(::mount("none", folder_.c_str(), nullptr, flags, nullptr) == 0);
    }

private:
    std::string folder_;
};

// What changes something, by somebody for whom it would.
const std::vector<Words> kWriting = {
    verb("renew", "alice"),
    verb("accept", "alice"),
    verb("release", "alice"),
    verb("acquire", "dave"),
    verb("release", "bob"),
    verb("requisition", "boss", {"--reason", "by order"}),
    verb("stop", "boss", {"--reason", "by order"}),
    verb("nudge", "carol", {"--reason", "please"}),
};

void check_that_alice_holds_and_bob_waits(const Hagi& hagi) {
    const auto lock = hagi.json({"list"})["locks"][0];
    CHECK(lock["holder"]["owner"] == "alice");
    CHECK(lock["holder"]["epoch"] == 1);
    REQUIRE(lock["queue"].size() == 1);
    CHECK(lock["queue"][0]["owner"] == "bob");
}

void check_that_all_goes_on(const Hagi& hagi) {
    CHECK(hagi.integrity() == "ok");
    hagi.done(verb("renew", "alice", {"--epoch", "1"}));
    hagi.done(verb("release", "alice", {"--epoch", "1"}));
    CHECK(hagi.json(verb("status", "bob"))["epoch"] == 2);
}

std::set<std::string> files_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
}

TEST_CASE("a full disk takes nothing back, and what it cannot take is exit 60") {
    if (!can_mount()) return;
    const Hagi hagi;
    const SmallDisk disk(hagi.folder(), "1m");
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", {"--interval", "1"}));
    heartbeat.await_line("Heartbeat of a epoch 1");

    disk.fill();
    for (const Words& words : kWriting) {
        const Finished finished = hagi.run(words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 60);
        CHECK(finished.err.find("free some space") != std::string::npos);
        CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    }
    check_that_alice_holds_and_bob_waits(hagi);
    CHECK(hagi.run({"log"}).code == 0);
    CHECK(hagi.run(verb("acquire", "carol", {"--no-queue"})).code == 29);  // which changes nothing
    const Finished examined = hagi.run({"doctor"});
    CHECK(examined.code == 60);
    CHECK(examined.out.find("free some space") != std::string::npos);

    disk.free();
    const auto beat_at = [&] { return hagi.json({"list"})["locks"][0]["holder"]["heartbeatAt"]; };
    for (const auto before = beat_at(); beat_at() == before;) {
    }  // the heartbeat goes on by itself
    heartbeat.send(SIGTERM);
    CHECK(heartbeat.wait() == 0);
    check_that_all_goes_on(hagi);
}

TEST_CASE("a full disk without the index beside the log cannot even be read, and loses nothing by that") {
    if (!can_mount()) return;
    const Hagi hagi;
    const SmallDisk disk(hagi.folder(), "1m");
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    fs::remove(hagi.store() + "-shm");
    disk.fill();
    for (const Words& words : {Words{"list"}, Words{"log"}, verb("renew", "alice"), verb("status", "bob")}) {
        const Finished finished = hagi.run(words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 60);
        CHECK(finished.err.find("free some space") != std::string::npos);
    }
    disk.free();
    check_that_alice_holds_and_bob_waits(hagi);
    check_that_all_goes_on(hagi);
}

TEST_CASE("no store is made on a full disk, and nothing of one stays behind") {
    if (!can_mount()) return;
    const Hagi hagi;
    const SmallDisk disk(hagi.folder(), "64k");
    disk.fill();
    const Finished refused = hagi.run(verb("acquire", "alice"));
    CHECK(refused.code == 60);
    CHECK(refused.err.find("free some space") != std::string::npos);
    CHECK(files_in(hagi.folder()) == std::set<std::string>{"ballast"});
}

TEST_CASE("on a read-only mount the store can be read, and every change is exit 23") {
    if (!can_mount()) return;
    const Hagi hagi;
    const SmallDisk disk(hagi.folder(), "4m");
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    disk.remount(SmallDisk::May::Read);
    for (const Words& words : kWriting) {
        const Finished finished = hagi.run(words);
        INFO(words[0] << ": " << finished.out << finished.err);
        CHECK(finished.code == 23);
        CHECK(finished.err.find("Read-only file system") != std::string::npos);
    }
    check_that_alice_holds_and_bob_waits(hagi);
    for (const char* const reading : {"list", "log", "doctor"}) CHECK(hagi.run({reading}).code == 0);

    disk.remount(SmallDisk::May::Write);
    fs::remove(hagi.store() + "-shm");
    disk.remount(SmallDisk::May::Read);
    const Finished listed = hagi.run({"list"});
    CHECK(listed.code == 60);
    CHECK(listed.err.find("reads again after the next command that may write") != std::string::npos);

    disk.remount(SmallDisk::May::Write);
    check_that_alice_holds_and_bob_waits(hagi);
    check_that_all_goes_on(hagi);
}

TEST_CASE("a limit on the size of files is an error like a full disk, and kills nothing") {
    const auto* const limit = GENERATE("ulimit -f 0", "ulimit -f 8", "ulimit -f 40");  // of 512 bytes
    CAPTURE(limit);
    const Hagi hagi;
    const Finished created = hagi.run_after(limit, verb("acquire", "alice"));
    CHECK((created.code == 0 || created.code == 60));
    if (created.code != 0) {
        CHECK(created.err.find("ulimit -f") != std::string::npos);
        CHECK(files_in(hagi.folder()).empty());
        hagi.done(verb("acquire", "alice"));
    }
    hagi.done(verb("acquire", "bob"));
    const Finished renewed = hagi.run_after(limit, verb("renew", "alice"));
    CHECK(renewed.code == 60);
    CHECK(renewed.err.find("ulimit -f") != std::string::npos);
    check_that_alice_holds_and_bob_waits(hagi);
    check_that_all_goes_on(hagi);
}

TEST_CASE("an older copy in the store's place is refused, and rebuilt without an epoch given twice") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const std::string copies = hagi.folder() + "/copies";
    fs::create_directory(copies);
    for (const char* suffix : {"", "-wal"}) fs::copy_file(hagi.store() + suffix, copies + "/locks.db" + suffix);
    hagi.done(verb("release", "alice"));
    hagi.done(verb("acquire", "bob"));
    Process heartbeat = hagi.start(verb("heartbeat", "bob", {"--interval", "590"}));
    heartbeat.await_line("Heartbeat of a epoch 2");

    hagi.delete_store();
    heartbeat.await_line("cannot be reached");
    for (const char* suffix : {"-wal", ""}) fs::copy_file(copies + "/locks.db" + suffix, hagi.store() + suffix);
    for (const Words& words : {verb("acquire", "carol"), verb("accept", "alice"), Words{"list"}}) {
        const Finished refused = hagi.run(words);
        INFO(words[0] << ": " << refused.out << refused.err);
        CHECK(refused.code == 50);
        CHECK(refused.err.find("has lost changes that were answered") != std::string::npos);
    }
    heartbeat.send(SIGTERM);
    CHECK(heartbeat.wait() == 0);
    CHECK(hagi.run({"doctor"}).code == 50);
    hagi.done({"doctor", "--rebuild"});
    hagi.delete_store();
    fs::rename(hagi.store() + ".rebuilt", hagi.store());
    CHECK(hagi.json(verb("acquire", "carol"))["epoch"] > 1'000'000);
}

TEST_CASE("where only the store's own file was removed, no new store is made over its log") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", {"--interval", "590"}));
    heartbeat.await_line("Heartbeat of a epoch 1");
    fs::rename(hagi.store(), hagi.folder() + "/away");
    heartbeat.await_line("cannot be reached");

    const auto files = files_in(hagi.folder());
    for (const Words& words : {verb("acquire", "carol"), verb("requisition", "boss", {"--reason", "by order"}),
                               verb("run", "dave", {"--", "true"})}) {
        const Finished refused = hagi.run(words);
        INFO(words[0] << ": " << refused.out << refused.err);
        CHECK(refused.code == 50);
        CHECK(refused.err.find("put the store back") != std::string::npos);
    }
    CHECK(files_in(hagi.folder()) == files);
    SECTION("put back, it is the same store") {
        fs::rename(hagi.folder() + "/away", hagi.store());
        heartbeat.await_line("can be reached again");
        check_that_alice_holds_and_bob_waits(hagi);
        check_that_all_goes_on(hagi);
    }
    SECTION("with its log gone, too, there is a new one, and the old one's holder is told") {
        hagi.delete_store();
        CHECK(hagi.json(verb("acquire", "carol"))["storeCreated"] == true);
        CHECK(heartbeat.await_line("Lost a epoch 1").find("its store was replaced by another") != std::string::npos);
        CHECK(heartbeat.wait() == 32);
        CHECK(hagi.run(verb("accept", "alice", {"--epoch", "1"})).code == 29);  // it is carol's, and new
    }
}

}  // namespace
}  // namespace hagi::test
