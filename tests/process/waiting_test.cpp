// `acquire --wait`: turns, interrupts, and what happens to a waiter that dies.
#include <csignal>
#include <filesystem>

#include "tests/process/hagi.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

const Words kWaitBob = verb("acquire", "bob", {"--wait"});

std::size_t waiting(const Hagi& hagi) { return hagi.json({"list"})["locks"][0]["queue"].size(); }

TEST_CASE("two waiters have their turns in the order in which they came") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start(kWaitBob);
    bob.await_line("place 1 of 1");
    Process carol = hagi.start(verb("acquire", "carol", {"--wait"}));
    carol.await_line("place 2 of 2");

    hagi.done(verb("release", "alice"));
    CHECK(bob.await_line("Holding").find("epoch 2 owner bob") != std::string::npos);
    CHECK(bob.wait() == 0);
    carol.await_line("place 1 of 1");

    hagi.done(verb("release", "bob"));
    CHECK(carol.await_line("Holding").find("epoch 3 owner carol") != std::string::npos);
    CHECK(carol.wait() == 0);
    CHECK(carol.rest_of_errors().empty());
}

TEST_CASE("a second process that waits as the same owner is told of the first, once") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process first = hagi.start(kWaitBob);
    first.await_line("place 1 of 1");
    const std::string warning = "Another process waits for a as bob, pid " + std::to_string(first.pid()) + " on ";

    Process second = hagi.start(kWaitBob);
    second.await_line(warning);
    second.await_line("place 1 of 1");
    hagi.done(verb("release", "alice"));
    CHECK(second.await_line("Holding").find("epoch 2") != std::string::npos);
    CHECK(second.rest_of_output().find("Another") == std::string::npos);
    CHECK(second.wait() == 0);
    CHECK(first.await_line("Holding").find("epoch 2") != std::string::npos);
}

TEST_CASE("a process that waited and ended is no second one") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process first = hagi.start(kWaitBob);
    first.await_line("place 1 of 1");
    first.send(SIGKILL);
    first.wait();
    Process again = hagi.start(kWaitBob);
    again.await_line("place 1 of 1");
    hagi.done(verb("release", "alice"));
    CHECK(again.rest_of_output().find("Another") == std::string::npos);
}

TEST_CASE("who waits for what its owner holds already is told of the watcher that keeps it") {
    const Hagi hagi;
    hagi.done(verb("acquire", "bob"));
    Process keeper = hagi.start(verb("heartbeat", "bob"));
    keeper.await_line("Heartbeat of");
    const Finished ran = hagi.run(kWaitBob);
    CHECK(ran.code == 0);
    CHECK(ran.out.find("Another watcher keeps a alive for bob since ") != std::string::npos);
    CHECK(ran.out.find("pid " + std::to_string(keeper.pid()) + " on ") != std::string::npos);
}

// A user of its own, who may have no inotify instance.
Words without_inotify(const Words& words) {
    Words line{"unshare", "--user", "--map-root-user",
               "sh",      "-c",     R"(echo 0 >/proc/sys/user/max_inotify_instances && exec "$@")",
               "sh"};
    const Words rest = Hagi::line(words);
    line.insert(line.end(), rest.begin(), rest.end());
    return line;
}

TEST_CASE("who cannot watch the store's file says so once, and has its turn at once all the same") {
    const Hagi hagi;
    if (hagi.run_other(without_inotify({"list"})).code != 0) {
        WARN("SKIPPED: this machine does not let a process be a user of its own");
        return;
    }
    const std::string weakness = "This user has no inotify instance left";
    hagi.done(verb("acquire", "alice"));
    const auto beating = hagi.start_other(without_inotify(verb("heartbeat", "alice")));
    beating->await_line(weakness);
    const auto waiting = hagi.start_other(without_inotify(kWaitBob));
    waiting->await_line("place 1 of 1");
    waiting->await_line(weakness);
    hagi.done(verb("release", "alice"));
    CHECK(waiting->await_line("Holding").find("epoch 2 owner bob") != std::string::npos);
    CHECK(waiting->rest_of_output().find(weakness) == std::string::npos);
    CHECK(waiting->wait() == 0);
    CHECK(beating->wait() == 32);
}

TEST_CASE("a waiter that is interrupted leaves its place") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    CAPTURE(signal);
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start(kWaitBob);
    bob.await_line("place 1 of 1");

    bob.send(signal);
    CHECK(bob.rest_of_output() == "Stopped waiting for a: the place was left\n");
    CHECK(bob.wait() == 30);
    CHECK(waiting(hagi) == 0);
}

TEST_CASE("a hang-up that was ignored from the start stays ignored") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start_after("trap '' HUP", kWaitBob);
    bob.await_line("place 1 of 1");

    bob.send(SIGHUP);
    hagi.done(verb("release", "alice"));
    bob.await_line("Holding");
    CHECK(bob.wait() == 0);
}

TEST_CASE("the place of a waiter that was killed lapses, and its bell goes with it") {
    if (!can_travel()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start(kWaitBob);
    bob.await_line("place 1 of 1");
    const std::string bells = hagi.store() + "-bells";
    await([&] { return std::filesystem::exists(bells) && !std::filesystem::is_empty(bells); }, "no bell");

    bob.send(SIGKILL);
    CHECK(bob.wait() == 128 + SIGKILL);
    CHECK(waiting(hagi) == 1);
    CHECK(hagi.run_later(61, verb("renew", "alice")).code == 0);
    CHECK(waiting(hagi) == 0);
    CHECK(std::filesystem::is_empty(bells));
}

TEST_CASE("a waiter whose store is replaced says so and ends when its place is not known there") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process bob = hagi.start(kWaitBob);
    bob.await_line("place 1 of 1");

    hagi.delete_store();
    bob.await_line("cannot be reached");
    hagi.done(verb("acquire", "carol"));
    bob.await_line("can be reached again");
    CHECK(bob.await_line("Dropped").find("its store was replaced by another") != std::string::npos);
    CHECK(bob.wait() == 32);
}

}  // namespace
}  // namespace hagi::test
