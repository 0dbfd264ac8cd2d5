// `run` on a terminal: whose the keyboard is, and what Ctrl-C and Ctrl-Z do.
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "tests/process/terminal.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

Words run_of(const std::string& script) {
    return Hagi::line({"run", "--lock-id", "a", "--owner", "alice", "--", "sh", "-c", script});
}

// Of a script that does say_pid() first.
pid_t read_pid(Terminal& terminal, const Hagi& hagi) {
    terminal.await_text("ready");
    pid_t pid = 0;
    std::ifstream(hagi.folder() + "/pid") >> pid;
    return pid;
}
std::string say_pid(const Hagi& hagi) { return "echo $$ >" + hagi.folder() + "/pid; echo ready; "; }

TEST_CASE("the command is in the terminal's foreground: it reads what is typed") {
    const Hagi hagi;
    Terminal terminal(hagi, run_of("echo ready; read line; echo \"<$line>\"; exit 9"));
    terminal.await_text("ready");
    terminal.type("typed\n");
    terminal.await_text("<typed>");
    CHECK(terminal.wait() == 9);
}

TEST_CASE("Ctrl-C ends the command, run exits as it did, and the lock is free") {
    const Hagi hagi;
    Terminal terminal(hagi, run_of("echo ready; exec sleep 300"));
    terminal.await_text("ready");
    terminal.type(kCtrlC);
    CHECK(terminal.wait() == 128 + SIGINT);
    CHECK(hagi.json({"list"})["locks"].empty());
}

TEST_CASE("Ctrl-C while run waits ends the waiting") {
    const Hagi hagi;
    hagi.done(verb("acquire", "bob"));
    Terminal terminal(hagi, run_of("echo never"));
    terminal.await_text("place 1 of 1");
    terminal.type(kCtrlC);
    terminal.await_text("the place was left");
    CHECK(terminal.wait() == 30);
}

TEST_CASE("Ctrl-Z stops the command and run, and both go on together") {
    const Hagi hagi;
    Terminal terminal(hagi, run_of(say_pid(hagi) + "read line; echo \"<$line>\"; read line; echo \"<$line>\"; exit 9"));
    const pid_t command = read_pid(terminal, hagi);
    terminal.type(kCtrlZ);
    const int status = terminal.wait_for_change();
    REQUIRE(WIFSTOPPED(status));
    await([&] { return state_of(command) == 'T'; }, "the command does not stop");

    ::kill(terminal.pid(), SIGCONT);
    terminal.type("one\n");
    terminal.await_text("<one>");
    terminal.type(kCtrlZ);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    ::kill(terminal.pid(), SIGCONT);
    terminal.type("two\n");
    terminal.await_text("<two>");
    CHECK(terminal.wait() == 9);
}

TEST_CASE("a lock that was lost while all were stopped ends the command before it goes on") {
    const Hagi hagi;
    Terminal terminal(hagi, run_of("echo ready; read line; echo touched; read line"));
    terminal.await_text("ready");
    terminal.type(kCtrlZ);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    hagi.done(verb("requisition", "bob", {"--reason", "order"}));
    terminal.type("go on\n");
    ::kill(terminal.pid(), SIGCONT);
    const std::string said = terminal.rest();
    CHECK(said.find("Lost a epoch 1") != std::string::npos);
    CHECK(said.find("touched") == std::string::npos);
    CHECK(terminal.wait() == 32);
}

TEST_CASE("Ctrl-Z stops the command also where it does not read from the terminal") {
    const Hagi hagi;
    const std::string beat = hagi.folder() + "/beat";
    REQUIRE(hagi.run_other({"mkfifo", beat}).code == 0);
    Terminal terminal(hagi, {"sh", "-c", "exec \"$@\" </dev/null", "sh", HAGI_BINARY, "agent", "lock", "run",
                             "--lock-id", "a", "--owner", "alice", "--", "sh", "-c",
                             say_pid(hagi) + "read line <" + beat + "; echo \"<$line>\"; exit 9"});
    const pid_t command = read_pid(terminal, hagi);
    terminal.type(kCtrlZ);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    await([&] { return state_of(command) == 'T'; }, "the command does not stop");
    ::kill(terminal.pid(), SIGCONT);
    std::ofstream(beat) << "one\n";
    terminal.await_text("<one>");
    CHECK(terminal.wait() == 9);
}

TEST_CASE("Ctrl-Z while run waits stops it, and it waits on") {
    const Hagi hagi;
    hagi.done(verb("acquire", "bob"));
    Terminal terminal(hagi, run_of("echo \"<mine>\"; exit 9"));
    terminal.await_text("place 1 of 1");
    terminal.type(kCtrlZ);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    ::kill(terminal.pid(), SIGCONT);
    hagi.done(verb("release", "bob"));
    terminal.await_text("<mine>");
    CHECK(terminal.wait() == 9);
}

TEST_CASE("the terminal's foreground goes back to who started run") {
    const Hagi hagi;
    Terminal terminal(hagi, {"sh", "-c",
                             "\"$HAGI_TEST_BINARY\" agent lock run --lock-id a --owner alice -- sh -c 'read x; exit 3';"
                             "echo \"exit $?\"; read line; echo \"<$line>\""});
    terminal.type("\n");
    terminal.await_text("exit 3");
    terminal.type("mine again\n");
    terminal.await_text("<mine again>");
    CHECK(terminal.wait() == 0);
}

TEST_CASE("a command that cannot be run gives the terminal back, too") {
    const Hagi hagi;
    Terminal terminal(hagi, {"sh", "-c",
                             "\"$HAGI_TEST_BINARY\" agent lock run --lock-id a --owner alice -- no-such-command;"
                             "echo \"exit $?\"; read line; echo \"<$line>\""});
    terminal.await_text("exit 127");
    terminal.type("mine again\n");
    terminal.await_text("<mine again>");
    CHECK(terminal.wait() == 0);
}

}  // namespace
}  // namespace hagi::test
