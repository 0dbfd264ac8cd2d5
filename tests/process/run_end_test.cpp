// How `run` ends: nothing of it outlives the lock, and the lock nothing of it.
#include <csignal>
#include <fstream>

#include "tests/process/running.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

bool lives(pid_t pid) { return identity_of(pid).has_value(); }

std::vector<pid_t> children_of(pid_t pid) {
    const std::string number = std::to_string(pid);
    std::ifstream list("/proc/" + number + "/task/" + number + "/children");
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
}

// ---- The end of the group ----

TEST_CASE("the lock is given back after the last process of the group has ended") {
    const Hagi hagi;
    const std::string gate = hagi.folder() + "/gate";
    const std::string trace = hagi.folder() + "/trace";
    REQUIRE(hagi.run_other({"mkfifo", gate}).code == 0);
    Process alice = hagi.start(
        run_line("alice", {}, shell("(read x <" + gate + "; echo alice >>" + trace + ") & echo $$; exit 3")));
    const End main_process(read_pid(alice));
    Process bob = hagi.start(run_line("bob", {}, shell("echo bob >>" + trace)));
    main_process.await();
    await_waiter(hagi);
    CHECK(hagi.json({"list"})["locks"][0]["holder"]["owner"] == "alice");

    std::ofstream(gate) << "go\n";
    CHECK(alice.wait() == 3);
    CHECK(bob.wait() == 0);
    CHECK(hagi.run_other({"cat", trace}).out == "alice\nbob\n");
}

TEST_CASE("when the lock is lost, all of the command's group is ended, even what ignores SIGTERM") {
    const auto* const by = GENERATE("requisition", "stop");
    CAPTURE(by);
    const Hagi hagi;
    Process run = hagi.start(run_line("alice", {"--kill-after", "1", "-E", "99"}, shell(kStubborn)));
    const pid_t group = read_pid(run);
    const pid_t grandchild = read_pid(run);
    hagi.done(verb(by, "bob", {"--reason", "the user wants it"}));

    // Its end is the end of the last process that could write.
    CHECK(run.rest_of_output().empty());
    const std::string said = run.rest_of_errors();
    INFO(said);
    CHECK(run.wait() == 32);
    CHECK(lines_in(said) == 1);
    CHECK(said.find("by bob") != std::string::npos);
    CHECK(said.find("the user wants it") != std::string::npos);
    CHECK(::kill(-group, 0) != 0);
    CHECK_FALSE(lives(grandchild));
    const auto holder = hagi.json(verb("status", "bob"));
    CHECK(holder["status"] == (std::string(by) == "stop" ? "None" : "Holding"));
}

TEST_CASE("a lost lock is exit 32 also where the command obeys, or is stopped") {
    const Hagi hagi;
    const bool stopped = GENERATE(false, true);
    CAPTURE(stopped);
    Process run =
        hagi.start(run_line("alice", {"--kill-after", "590"},
                            shell("trap 'echo told; kill -KILL $!; exit 0' TERM; sleep 300 & echo $$; wait")));
    const pid_t command = read_pid(run);
    if (stopped) REQUIRE(::kill(-command, SIGSTOP) == 0);
    hagi.done(verb("stop", "bob", {"--reason", "order"}));
    CHECK(run.rest_of_output() == "told\n");
    CHECK(run.wait() == 32);
}

TEST_CASE("a process that leaves the group is beyond reach, and keeps no lock") {
    const Hagi hagi;
    const std::string told = hagi.folder() + "/told";
    REQUIRE(hagi.run_other({"mkfifo", told}).code == 0);
    Process run = hagi.start(run_line(
        "alice", {}, shell("setsid sh -c 'exec >&- 2>&-; echo $$ >" + told + "; exec sleep 300' & cat " + told)));
    const pid_t far = read_pid(run);
    CHECK(run.wait() == 0);
    CHECK(is_free(hagi));
    CHECK(lives(far));
    ::kill(far, SIGKILL);
}

// ---- Killed ----

TEST_CASE("a killed run takes its command and its grandchildren along, and the next one has its turn at once") {
    const Hagi hagi;
    Process alice = hagi.start(run_line("alice", {}, shell(kStubborn)));
    const pid_t command = read_pid(alice);
    const pid_t grandchild = read_pid(alice);
    Process bob = hagi.start(verb("acquire", "bob", {"--wait"}));
    bob.await_line("place 1 of 1");

    alice.send(SIGKILL);
    bob.await_line("Holding");
    CHECK_FALSE(lives(command));
    CHECK_FALSE(lives(grandchild));
    CHECK(alice.rest_of_output().empty());
    CHECK(alice.wait() == 128 + SIGKILL);
    CHECK(bob.wait() == 0);
    bool told = false;
    const auto log = hagi.json({"log"});
    for (const auto& event : log["events"])
        told = told || (event["event"] == "ended" && event["owner"] == "alice" && event["cause"] == "process gone");
    CHECK(told);
}

TEST_CASE("with the guardian killed, too, the command still dies, and what it left keeps the lock") {
    const Hagi hagi;
    Process alice = hagi.start(run_line("alice", {}, shell(kStubborn)));
    const pid_t command = read_pid(alice);
    const pid_t grandchild = read_pid(alice);
    const auto children = children_of(alice.pid());
    REQUIRE(children.size() == 2);
    const pid_t guardian = children[0] == command ? children[1] : children[0];

    const End end_of_guardian(guardian);
    const End end_of_command(command);
    const End end_of_grandchild(grandchild);
    ::kill(guardian, SIGKILL);
    end_of_guardian.await();
    alice.send(SIGKILL);
    end_of_command.await();
    REQUIRE(lives(grandchild));
    CHECK(hagi.run(verb("acquire", "bob", {"--no-queue"})).code == 29);

    ::kill(grandchild, SIGKILL);
    end_of_grandchild.await();
    CHECK(hagi.run(verb("acquire", "bob", {"--no-queue"})).code == 0);
}

TEST_CASE("a guardian that is killed does not disturb a command that ends by itself") {
    const Hagi hagi;
    Process run = hagi.start(run_line("alice", {}, shell("echo $$; kill -STOP $$; exit 4")));
    const pid_t command = read_pid(run);
    for (const pid_t child : children_of(run.pid()))
        if (child != command) ::kill(child, SIGKILL);
    // Until it has stopped, it cannot go on.
    while (::kill(command, SIGCONT) == 0 && lives(command)) continue;
    CHECK(run.wait() == 4);
    CHECK(is_free(hagi));
}

TEST_CASE("a run that is killed while it waits leaves no process and never starts its command") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process run = hagi.start(run_line("bob", {}, mark(hagi)));
    await_waiter(hagi);
    const auto children = children_of(run.pid());
    REQUIRE(children.size() == 2);
    const End one(children[0]);
    const End other(children[1]);
    run.send(SIGKILL);
    one.await();
    other.await();
    CHECK(run.rest_of_output().empty());
    CHECK_FALSE(started(hagi));
}

}  // namespace
}  // namespace hagi::test
