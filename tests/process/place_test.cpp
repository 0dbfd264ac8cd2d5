// The store's file and what is beside it: who may read it, and that nothing else is ever written there.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("what cannot be printed is not written into the store") {
    const auto* const closed = GENERATE("exec >&-", "exec 2>&-", "exec <&- >&-", "exec <&- >&- 2>&-");
    CAPTURE(closed);
    const Hagi hagi;
    CHECK(hagi.run_after(closed, verb("acquire", "alice")).code == 0);
    CHECK(hagi.run_after(closed, verb("acquire", "bob", {"--wait", "--timeout", "0", "--keep-place"})).code == 31);
    CHECK(hagi.run_after(closed, verb("heartbeat", "bob")).code == 32);
    CHECK(hagi.run_after(closed, verb("acquire", "bob", {"--bogus"})).code == 2);
    CHECK(hagi.json({"list"})["locks"][0]["queue"].size() == 1);
    CHECK(hagi.integrity() == "ok");
    for (const auto& entry : fs::directory_iterator(hagi.folder())) {
        const auto found = run_process({"grep", "-qE", "Holding|Timeout|hagi:", entry.path()}, {"PATH=/usr/bin:/bin"});
        INFO(entry.path());
        if (entry.is_regular_file()) CHECK(found.code == 1);
    }
}

TEST_CASE("every file of a store has one mode, whatever the umask") {
    const auto* const umask = GENERATE("umask 000", "umask 077");
    CAPTURE(umask);
    const Hagi hagi;
    CHECK(hagi.run_after(umask, verb("acquire", "alice")).code == 0);
    Process bob = hagi.start_after(umask, verb("acquire", "bob", {"--wait"}));  // makes the bells
    bob.await_line("place 1 of 1");
    for (const auto& entry : fs::recursive_directory_iterator(hagi.folder())) {
        INFO(entry.path());
        CHECK(mode_of(entry.path()) == (entry.is_directory() ? 0700U : 0600U));
    }
}

TEST_CASE("the default's folders are made by the first command that writes, for their owner only") {
    const Hagi hagi;
    const std::string unset = "unset HAGI_LOCK_STORE; umask 000";
    CHECK(hagi.run_after(unset, {"list"}).code == 0);
    CHECK(hagi.run_after(unset, verb("release", "alice")).code == 0);
    CHECK(hagi.run_after(unset, verb("renew", "alice")).code == 32);
    CHECK(fs::is_empty(hagi.folder()));

    CHECK(hagi.run_after(unset, verb("acquire", "alice")).code == 0);
    CHECK(mode_of(hagi.folder() + "/.local/state/hagi") == 0700U);
    CHECK(mode_of(hagi.folder() + "/.local/state/hagi/locks.db") == 0600U);
}

TEST_CASE("a store that cannot be used says why by its exit code") {
    const Hagi hagi;
    CHECK(hagi.run(verb("acquire", "x", {"--store", hagi.folder() + "/no/such/folder.db"})).code == 24);
    CHECK(hagi.run({"list", "--store", hagi.folder() + "/no/such/folder.db"}).code == 24);
    const std::string notes = hagi.folder() + "/notes.txt";
    const std::string text =
        "no store, but longer than the header of a database, which is a hundred bytes long: " + std::string(100, '.');
    write_file(notes, text);
    CHECK(hagi.run(verb("acquire", "x", {"--store", notes})).code == 50);
    CHECK(hagi.run({"list", "--store", notes}).code == 50);
    CHECK(hagi.run_other({"cat", notes}).out == text);
}

TEST_CASE("who may only read the store can list it, and nothing more") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: needs root, to be somebody else");
        return;
    }
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const Finished listed = hagi.run_as_reader({"list", "--json"});
    INFO(listed.err);
    REQUIRE(listed.code == 0);
    CHECK(nlohmann::json::parse(listed.out)["locks"][0]["holder"]["owner"] == "alice");
    CHECK(hagi.run_as_reader(verb("acquire", "bob")).code == 23);
    CHECK(hagi.run_as_reader(verb("status", "alice")).code == 23);
    CHECK(hagi.json({"list"})["locks"][0]["queue"].empty());
}

}  // namespace
}  // namespace hagi::test
