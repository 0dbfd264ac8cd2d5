// `run`: what its command gets, and what its exit code says.
#include <fcntl.h>
#include <sys/file.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/process/running.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

nlohmann::json last_event(const Hagi& hagi) { return hagi.json({"log"})["events"].back(); }

// ---- Exit codes ----

TEST_CASE("run exits as its command does, and the lock is free again") {
    const Hagi hagi;
    CHECK(hagi.run(run_line("alice", {}, {"true"})).code == 0);
    CHECK(hagi.run(run_line("alice", {}, shell("exit 7"))).code == 7);
    CHECK(hagi.run(run_line("alice", {"-E", "99"}, shell("exit 29"))).code == 29);
    CHECK(hagi.run(run_line("alice", {}, shell("kill -TERM $$"))).code == 128 + SIGTERM);
    CHECK(hagi.run(run_line("alice", {}, shell("kill -KILL $$"))).code == 128 + SIGKILL);
    CHECK(is_free(hagi));
    CHECK(last_event(hagi)["event"] == "released");
    CHECK(last_event(hagi)["epoch"] == 5);
}

TEST_CASE("a command that cannot be run is said to be so, and the lock is free again") {
    const Hagi hagi;
    write_file(hagi.folder() + "/plain");
    const auto [name, code] = GENERATE(table<const char*, int>(
        {{"no-such-command", 127}, {"HERE/plain/below", 127}, {"HERE/plain", 126}, {"/", 126}}));
    std::string command = name;
    if (command.starts_with("HERE")) command.replace(0, 4, hagi.folder());
    const Finished finished = hagi.run(run_line("alice", {"-E", "99"}, {command}));
    CAPTURE(command, finished.err);
    CHECK(finished.code == code);
    CHECK(finished.err.starts_with("hagi: cannot run "));
    CHECK(lines_in(finished.err) == 1);
    CHECK(finished.out.empty());
    CHECK(is_free(hagi));
    CHECK(last_event(hagi)["event"] == "released");
}

TEST_CASE("without the turn the command never starts, and the exit says why or as -E wants it") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    hagi.done(verb("acquire", "bob"));
    const auto [owner, option, value, code] = GENERATE(table<const char*, const char*, const char*, int>({
        {"carol", "--no-queue", "", 29},
        {"alice", "--no-queue", "", 29},
        {"alice", "--timeout", "5", 29},
        {"bob", "--no-queue", "", 29},
        {"bob", "--timeout", "5", 29},
        {"carol", "--timeout", "0", 31},
        {"carol", "--epoch", "1", 29},
    }));
    CAPTURE(owner, option, value);
    Words options{option};
    if (*value != '\0') options.push_back(value);
    const Finished finished = hagi.run(run_line(owner, options, mark(hagi)));
    INFO(finished.err);
    CHECK(finished.code == code);
    CHECK(finished.out.empty());

    options.insert(options.end(), {"-E", "99"});
    CHECK(hagi.run(run_line(owner, options, mark(hagi))).code == 99);
    CHECK_FALSE(started(hagi));
    const auto lock = hagi.json({"list"})["locks"][0];
    CHECK(lock["holder"]["epoch"] == 1);
    CHECK(lock["queue"].size() == 1);
    CHECK(lock["queue"][0]["owner"] == "bob");
}

TEST_CASE("what run cannot make sense of is exit 2, and no store is made") {
    const Hagi hagi;
    const auto wrong = GENERATE(values<Words>({
        {"--lock-id", "a", "--owner", "x"},
        {"--lock-id", "a", "--owner", "x", "--"},
        {"--lock-id", "a", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "--lease-seconds", "30", "--kill-after", "28", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "--lease-seconds", "30", "--interval", "30", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "--kill-after", "soon", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "-E", "256", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "--no-queue", "--timeout", "5", "--", "true"},
        {"--lock-id", "a", "--owner", "x", "--epoch", "1", "--keep-place", "--", "true"},
    }));
    Words words{"run"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Finished finished = hagi.run(words);
    CAPTURE(words, finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK_FALSE(std::filesystem::exists(hagi.store()));
}

// ---- What the command gets ----

TEST_CASE("stdout is the command's alone, also with --json") {
    const Hagi hagi;
    const Finished quiet = hagi.run(run_line("alice", {}, {"echo", "hi"}));
    CHECK(quiet.out == "hi\n");
    CHECK(quiet.err.empty());

    hagi.done(verb("acquire", "alice"));
    // Its place is shown by `list` before the lock is given back.
    const auto bob = hagi.start_other(Hagi::line(run_line("bob", {"--json"}, {"echo", "hi"})));
    await_waiter(hagi);
    hagi.done(verb("release", "alice"));
    CHECK(bob->rest_of_output() == "hi\n");
    std::istringstream events(bob->rest_of_errors());
    Words kinds;
    for (std::string line; std::getline(events, line);) kinds.push_back(nlohmann::json::parse(line)["event"]);
    CHECK(kinds == Words{"queued", "holding"});
    CHECK(bob->wait() == 0);
}

TEST_CASE("the command knows its lock by its environment") {
    const Hagi hagi;
    const Finished finished = hagi.run(
        run_line("alice", {}, shell("echo $HAGI_LOCK_ID $HAGI_LOCK_OWNER $HAGI_LOCK_EPOCH $HAGI_LOCK_STORE $HOME")));
    CHECK(finished.out == "a alice 1 " + hagi.store() + " " + hagi.folder() + "\n");
}

TEST_CASE("the command has no descriptor more than without run, and its input and output") {
    const Hagi hagi;
    const Words list{"ls", "/proc/self/fd"};
    const Finished without = hagi.run_other(list);
    CHECK(hagi.run(run_line("alice", {}, list)).out == without.out);
    CHECK(hagi.run_other(shell("echo text | \"$HAGI_TEST_BINARY\" agent lock run --lock-id a --owner x -- cat")).out ==
          "text\n");
    // One that the caller meant to pass on is passed on.
    CHECK(hagi.run_after("exec 7>&1", run_line("alice", {}, shell("echo seven >&7"))).out == "seven\n");
}

TEST_CASE("with its standard streams closed run works all the same, and writes into no file") {
    const auto* const closed = GENERATE("exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&- 2>&-");
    CAPTURE(closed);
    const Hagi hagi;
    CHECK(hagi.run_after(closed, run_line("alice", {}, mark(hagi))).code == 0);
    CHECK(started(hagi));
    CHECK(hagi.run_after(closed, run_line("alice", {}, {"no-such-command"})).code == 127);
    CHECK(hagi.integrity() == "ok");
    CHECK(last_event(hagi)["event"] == "released");
}

// ---- Signals ----

const std::vector<int> kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

TEST_CASE("a signal to run reaches the command") {
    const int signal = GENERATE(from_range(kPassedOn));
    CAPTURE(signal);
    const Hagi hagi;
    const std::string number = std::to_string(signal);
    Process run = hagi.start(run_line(
        "alice", {},
        shell("trap 'kill -KILL $!; echo got " + number + "; exit 5' " + number + "; sleep 300 & echo ready; wait")));
    run.await_line("ready");
    run.send(signal);
    run.await_line("got " + number);
    CHECK(run.wait() == 5);
    CHECK(is_free(hagi));
}

TEST_CASE("a signal while run waits ends the waiting, and the command never starts") {
    const int signal = GENERATE(from_range(kPassedOn));
    const bool replaced = GENERATE(false, true);
    CAPTURE(signal, replaced);
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Process run = hagi.start(run_line("bob", replaced ? Words{"-E", "99"} : Words{}, mark(hagi)));
    await_waiter(hagi);
    run.send(signal);
    CHECK(run.rest_of_output().empty());
    CHECK(run.wait() == (replaced ? 99 : 30));
    CHECK(hagi.json({"list"})["locks"][0]["queue"].empty());
    CHECK_FALSE(started(hagi));
}

TEST_CASE("a hang-up that was ignored from the start stays ignored, by run and by its command") {
    const Hagi hagi;
    Process run = hagi.start_after("trap '' HUP", run_line("alice", {}, shell("kill -HUP $$; echo alive; exec cat")));
    run.await_line("alive");
    run.send(SIGHUP);
    CHECK(run.rest_of_output().empty());
    CHECK(run.wait() == 0);
}

TEST_CASE("the command's other signals are as they were before run") {
    const Hagi hagi;
    const Words show{"grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"};
    CHECK(hagi.run(run_line("alice", {}, show)).out == hagi.run_other(show).out);
}

// ---- Time ----

TEST_CASE("after the lease nothing starts inside the grant") {
    if (!can_travel()) return;
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    CHECK(hagi.run_later(599, run_line("alice", {"--epoch", "1"}, {"true"})).code == 0);
    const Finished late = hagi.run_later(1200, run_line("alice", {"--epoch", "1"}, mark(hagi)));
    CHECK(late.code == 32);
    CHECK(late.err.find("lease expired") != std::string::npos);
    CHECK(hagi.run_later(1200, verb("accept", "alice", {"--epoch", "1"})).code == 32);
    CHECK_FALSE(started(hagi));
}

TEST_CASE("a run that cannot renew ends its command before the lease ends") {
    if (std::getenv("HAGI_TEST_LONG") == nullptr) {
        WARN("SKIPPED: takes a lease of 30 s; set HAGI_TEST_LONG to run it");
        return;
    }
    const Hagi hagi;
    Process run = hagi.start(run_line("alice", {"--lease-seconds", "30", "--kill-after", "1"}, shell(kStubborn)));
    const End end_of_command(read_pid(run));
    {
        const UniqueFd gate(::open((hagi.store() + "-gate").c_str(), O_RDWR | O_CLOEXEC));
        REQUIRE(::flock(gate.get(), LOCK_EX) == 0);
        end_of_command.await();
    }
    // The store, asked at once, still knows the grant as one whose lease has not ended.
    CHECK(run.wait() == 60);
    const auto log = hagi.json({"log"});
    for (const auto& event : log["events"]) CHECK(event.value("cause", "") != "lease expired");
    CHECK(is_free(hagi));
    CHECK(last_event(hagi)["event"] == "released");
}

// ---- Inside one another ----

TEST_CASE("a run inside a run for another lock works, for the same one it is refused at once") {
    const Hagi hagi;
    const std::string run = "\"$HAGI_TEST_BINARY\" agent lock run --owner alice ";
    CHECK(hagi.run(run_line("alice", {}, shell(run + "--lock-id b -- sh -c 'echo $HAGI_LOCK_ID; exit 8'"))).code == 8);
    const Finished same = hagi.run(run_line("alice", {}, shell(run + "--lock-id a -- echo inner; echo exit $?")));
    CHECK(same.out == "exit 29\n");
    CHECK(same.err.find("already holds") != std::string::npos);
    CHECK(is_free(hagi));
}

TEST_CASE("a run inside a grant beats for it and does not give it back") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    const std::string heard =
        "\"$HAGI_TEST_BINARY\" agent lock status --lock-id a --owner alice --json | "
        "sed 's/.*\"heartbeatAt\":\"\\([^\"]*\\)\".*/\\1/'";
    const Finished inside = hagi.run(run_line("alice", {"--epoch", "1", "--interval", "1"},
                                              shell("first=$(" + heard + "); while [ \"$first\" = \"$(" + heard +
                                                    ")\" ]; do :; done;"
                                                    "echo \"$HAGI_LOCK_EPOCH\"; exit 6")));
    CHECK(inside.code == 6);
    CHECK(inside.out == "1\n");
    const auto status = hagi.json(verb("status", "alice"));
    CHECK(status["status"] == "Holding");
    CHECK(status["epoch"] == 1);
}

}  // namespace
}  // namespace hagi::test
