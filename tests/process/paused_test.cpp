// Paused past the lease or the turn, and woken again: what must not start does not, what must end does.
#include <csignal>

#include "tests/process/running.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

void await_stop(const Process& process) {
    await([&] { return state_of(process.pid()) == 'T'; }, "the process does not stop");
}

void pause(const Process& process) {
    process.send(SIGSTOP);
    await_stop(process);
}

// For everybody: the store's time does not go back when the next command is of the present.
void let_pass(const Hagi& hagi, int seconds) {
    REQUIRE(hagi.run_later(seconds, {"acquire", "--lock-id", "clock", "--owner", "time"}).code == 0);
}

TEST_CASE("a holder that is paused between its grant and its start past its lease does not start") {
    if (!can_travel()) return;
    const Hagi hagi;
    const std::string lock = "\"$HAGI_TEST_BINARY\" agent lock ";
    const auto alice =
        hagi.start_other(shell(lock + "acquire --lock-id a --owner alice --require Holding >&2 && kill -STOP $$ && " +
                               lock + "accept --lock-id a --owner alice --epoch 1 && touch " + marker(hagi)));
    await_stop(*alice);
    const int away = GENERATE(500, 600);
    CAPTURE(away);
    let_pass(hagi, away);
    const bool in_time = away < 600;
    CHECK(hagi.run(verb("acquire", "bob", {"--no-queue"})).code == (in_time ? 29 : 0));

    alice->send(SIGCONT);
    CHECK(alice->wait() == (in_time ? 0 : 32));
    CHECK(started(hagi) == in_time);
}

TEST_CASE("a run that is paused past its turn does not start its command") {
    if (!can_travel()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start(run_line("bob", {}, mark(hagi)));
    await_waiter(hagi);
    pause(bob);
    hagi.done(verb("release", "alice"));
    let_pass(hagi, 30);
    CHECK(hagi.run(verb("acquire", "carol", {"--no-queue"})).code == 0);

    bob.send(SIGCONT);
    const std::string said = bob.rest_of_errors();
    INFO(said);
    CHECK(said.find("claim missed") != std::string::npos);
    CHECK(bob.wait() == 32);
    CHECK_FALSE(started(hagi));
}

TEST_CASE("a run that is paused past its lease ends its command as soon as it goes on") {
    if (!can_travel()) return;
    const Hagi hagi;
    Process alice = hagi.start(
        run_line("alice", {}, shell("trap 'echo told; kill -KILL $!; exit 0' TERM; sleep 300 & echo ready; wait")));
    alice.await_line("ready");
    pause(alice);
    let_pass(hagi, 600);
    CHECK(hagi.run(verb("acquire", "carol", {"--no-queue"})).code == 0);

    alice.send(SIGCONT);
    CHECK(alice.rest_of_output() == "told\n");
    const std::string said = alice.rest_of_errors();
    INFO(said);
    CHECK(said.find("lease expired") != std::string::npos);
    CHECK(alice.wait() == 32);
    CHECK(hagi.json(verb("status", "carol"))["status"] == "Holding");
}

}  // namespace
}  // namespace hagi::test
