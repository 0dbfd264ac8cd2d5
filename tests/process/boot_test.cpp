// A store that another boot of the machine has written: for the real program, with another boot id in /proc.
#include <sys/mount.h>

#include <csignal>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

// While it lives, this program and what it starts believe that the machine has been booted anew.
class AnotherBoot {
public:
    explicit AnotherBoot(const std::string& folder) {
        write_file(folder + "/boot_id", "00000000-1111-2222-3333-444444444444\n");
        REQUIRE(::mount((folder + "/boot_id").c_str(), kBootId, nullptr, MS_BIND, nullptr) == 0);
    }
    ~AnotherBoot() { ::umount2(kBootId, MNT_DETACH); }
    AnotherBoot(const AnotherBoot&) = delete;
    AnotherBoot& operator=(const AnotherBoot&) = delete;
};

bool is_held(const Hagi& hagi) { return !hagi.json({"list"})["locks"].empty(); }

TEST_CASE("after a reboot a lease runs on by the wall clock, and never back") {
    if (!can_mount()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const AnotherBoot boot(hagi.folder());
    CHECK(is_held(hagi));
    // As if so much more, or less, had passed between the two boots.
    hagi.change("UPDATE store SET wall_ms = wall_ms + 3600000");
    CHECK(is_held(hagi));
    hagi.change("UPDATE store SET wall_ms = wall_ms - 3600000 - 300000");
    CHECK(is_held(hagi));
    hagi.change("UPDATE store SET wall_ms = wall_ms - 300000");
    CHECK_FALSE(is_held(hagi));
    CHECK(hagi.json(verb("acquire", "bob"))["epoch"] == 2);
    CHECK(hagi.json(verb("status", "alice"))["cause"] == "lease expired");
}

TEST_CASE("of a run of another boot nothing is known, so its lease decides") {
    if (!can_mount()) return;
    const Hagi hagi;
    Process run = hagi.start(verb("run", "alice", {"--", "sh", "-c", "echo started; exec sleep 1000"}));
    run.await_line("started");
    {
        const AnotherBoot boot(hagi.folder());
        run.send(SIGKILL);
        CHECK(run.wait() == 128 + SIGKILL);
        CHECK(hagi.run(verb("acquire", "bob", {"--no-queue"})).code == 29);
        CHECK(is_held(hagi));
    }
    // On its own boot it is known to be gone, at the latest when its command has died with it.
    while (hagi.run(verb("acquire", "bob", {"--no-queue"})).code == 29) {
    }
    CHECK(hagi.json(verb("status", "bob"))["epoch"] == 2);
}

}  // namespace
}  // namespace hagi::test
