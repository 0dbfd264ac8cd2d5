// `heartbeat`: how it ends, what it notices at once, and what it survives.
#include <csignal>
#include <filesystem>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// Its own beats would come far too late to be the reason for anything here.
const Words kRarely = {"--interval", "590"};

TEST_CASE("a heartbeat that is stopped exits 0 and leaves the lock held") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    CAPTURE(signal);
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice"));
    heartbeat.await_line("Heartbeat of a epoch 1");

    heartbeat.send(signal);
    heartbeat.await_line("the lock is not released");
    CHECK(heartbeat.wait() == 0);
    CHECK(hagi.json(verb("status", "alice"))["status"] == "Holding");
}

TEST_CASE("a heartbeat notices at once that its lock was taken, by whom and why") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", kRarely));
    heartbeat.await_line("Heartbeat of a epoch 1");

    hagi.done(verb("requisition", "boss", {"--reason", "Ann: hotfix 12"}));
    const std::string line = heartbeat.await_line("Lost a epoch 1");
    CHECK(line.find("requisitioned by boss") != std::string::npos);
    CHECK(line.find("Ann: hotfix 12") != std::string::npos);
    CHECK(heartbeat.wait() == 32);
}

TEST_CASE("a heartbeat notices at once that its lock was given back elsewhere") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", {"--interval", "590", "--json"}));
    heartbeat.await_line("started");

    hagi.done(verb("release", "alice"));
    const auto lost = nlohmann::json::parse(heartbeat.await_line("lost"));
    CHECK(lost["error"]["cause"] == "released");
    CHECK(lost["epoch"] == 1);
    CHECK(heartbeat.wait() == 32);
}

TEST_CASE("a heartbeat that nobody reads beats on") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", {"--interval", "1", "--verbose"}));
    heartbeat.await_line("Heartbeat of a epoch 1");
    heartbeat.close_output();

    // Two more beats: the first tells it that its reader is gone.
    for (int beats = 0; beats < 2; ++beats) {
        const auto beat_at = [&] { return hagi.json({"list"})["locks"][0]["holder"]["heartbeatAt"]; };
        const auto before = beat_at();
        while (beat_at() == before) {
        }
    }
    heartbeat.send(SIGTERM);
    CHECK(heartbeat.wait() == 0);
}

TEST_CASE("a heartbeat ends with the process that it was started for") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process agent({"sleep", "1000"}, {"PATH=/usr/bin:/bin"});
    Process heartbeat = hagi.start(verb("heartbeat", "alice", {"--while-pid", std::to_string(agent.pid())}));
    heartbeat.await_line("Heartbeat of a epoch 1");

    agent.send(SIGKILL);  // and nobody has waited for it yet
    heartbeat.await_line("its process is gone");
    CHECK(heartbeat.wait() == 0);
    CHECK(hagi.run(verb("heartbeat", "alice", {"--while-pid", std::to_string(agent.pid())})).code == 0);
}

TEST_CASE("the lock of a heartbeat that was killed is kept for its lease, and no longer") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice"));
    heartbeat.await_line("Heartbeat of a epoch 1");
    heartbeat.send(SIGKILL);
    CHECK(heartbeat.wait() == 128 + SIGKILL);
    CHECK(hagi.run(verb("acquire", "bob", {"--no-queue"})).code == 29);

    if (!can_travel()) return;
    const Finished later = hagi.run_later(601, verb("acquire", "bob", {"--no-queue"}));
    CHECK(later.code == 0);
    CHECK(later.out.find("Holding a epoch 2 owner bob") == 0);
    CHECK(hagi.json(verb("status", "alice"))["cause"] == "lease expired");
}

TEST_CASE("a heartbeat whose store is replaced says so and ends when its grant is not known there") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", kRarely));
    heartbeat.await_line("Heartbeat of a epoch 1");

    hagi.delete_store();
    heartbeat.await_line("cannot be reached");
    hagi.done(verb("acquire", "carol"));
    heartbeat.await_line("can be reached again");
    CHECK(heartbeat.await_line("Lost a epoch 1").find("its store was replaced by another") != std::string::npos);
    CHECK(heartbeat.wait() == 32);
}

TEST_CASE("a heartbeat whose store comes back goes on") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process heartbeat = hagi.start(verb("heartbeat", "alice", kRarely));
    heartbeat.await_line("Heartbeat of a epoch 1");

    // With its log, since what was promised may be in there only.
    for (const char* suffix : {"", "-wal", "-shm"})
        std::filesystem::rename(hagi.store() + suffix, hagi.folder() + "/away" + suffix);
    heartbeat.await_line("cannot be reached");
    for (const char* suffix : {"-shm", "-wal", ""})
        std::filesystem::rename(hagi.folder() + "/away" + suffix, hagi.store() + suffix);
    heartbeat.await_line("can be reached again");
    heartbeat.send(SIGTERM);
    CHECK(heartbeat.wait() == 0);
    CHECK(hagi.json(verb("status", "alice"))["epoch"] == 1);
}

}  // namespace
}  // namespace hagi::test
