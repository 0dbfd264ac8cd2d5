#include "platform/file_gate.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/platform/child.hpp"
#include "tests/platform/temporary_folder.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;
using namespace std::chrono_literals;

namespace {

// Long enough that a broken wait shows as a hanging test.
constexpr Duration kForEver = 1h;

}  // namespace

TEST_CASE("one is inside, the next one only after it has left") {
    const TemporaryFolder folder;
    FileGate first(folder.file("gate"), {});
    FileGate second(folder.file("gate"), {});
    REQUIRE(first.enter(0s).ok());
    CHECK(first.enter(0s).ok());  // already inside
    CHECK_FALSE(second.enter(0s).ok());
    CHECK_FALSE(second.entered());
    first.leave();
    CHECK(second.enter(0s).ok());
    second.leave();
    second.leave();
    CHECK(std::filesystem::exists(folder.file("gate")));
}

TEST_CASE("the end of a scope leaves the gate") {
    const TemporaryFolder folder;
    FileGate first(folder.file("gate"), {});
    {
        REQUIRE(first.enter(0s).ok());
        const GateLeaver leaver(first);
    }
    FileGate second(folder.file("gate"), {});
    CHECK(second.enter(0s).ok());
}

TEST_CASE("who is inside leaves a note, and all can read it") {
    const TemporaryFolder folder;
    FileGate first(folder.file("gate"), {});
    FileGate second(folder.file("gate"), {});
    CHECK(second.note().empty());
    CHECK(std::filesystem::is_empty(folder.path()));  // whoever only reads makes nothing
    REQUIRE(first.enter(0s).ok());
    first.leave_note("one");
    first.leave_note("two");
    CHECK(first.note() == "two");
    CHECK(second.note() == "two");
    CHECK_FALSE(second.enter(0s).ok());
}

TEST_CASE("a destroyed gate is free") {
    const TemporaryFolder folder;
    {
        FileGate first(folder.file("gate"), {});
        REQUIRE(first.enter(0s).ok());
    }
    FileGate second(folder.file("gate"), {});
    CHECK(second.enter(0s).ok());
}

TEST_CASE("who waits gets in when the gate becomes free") {
    const TemporaryFolder folder;
    FileGate first(folder.file("gate"), {});
    REQUIRE(first.enter(0s).ok());
    bool got_in = false;
    std::thread waiter([&] {
        FileGate second(folder.file("gate"), {});
        got_in = second.enter(kForEver).ok();
    });
    first.leave();
    waiter.join();
    CHECK(got_in);
}

TEST_CASE("threads with gates of their own exclude each other") {
    const TemporaryFolder folder;
    constexpr int kRounds = 300;
    std::atomic<int> unguarded = 0;  // so that only an update can be lost
    const auto work = [&] {
        FileGate gate(folder.file("gate"), {});
        for (int round = 0; round < kRounds; ++round) {
            if (!gate.enter(kForEver).ok()) return;
            const int seen = unguarded;
            std::this_thread::yield();
            unguarded = seen + 1;
            gate.leave();
        }
    };
    std::thread one(work), other(work), third(work);
    one.join();
    other.join();
    third.join();
    CHECK(unguarded == 3 * kRounds);
}

TEST_CASE("a wait ends at its deadline and names who is inside") {
    const TemporaryFolder folder;
    const Child child([&] {
        static FileGate gate(folder.file("gate"), {});
        if (::prctl(PR_SET_NAME, "ha\agi") != 0 || !gate.enter(0s).ok()) ::_exit(1);
    });
    FileGate gate(folder.file("gate"), {});
    const auto entered = gate.enter(20ms);
    REQUIRE_FALSE(entered.ok());
    CHECK(entered.error().kind == ErrorKind::Unreachable);
    CHECK(entered.error().message == busy_message(GateHolder{child.pid(), "ha\\x07gi"}, 20ms));
    REQUIRE(gate.holder());
    CHECK(gate.holder()->pid == child.pid());
}

TEST_CASE("a wait ends at its deadline in a thread that blocks every signal") {
    const TemporaryFolder folder;
    FileGate first(folder.file("gate"), {});
    REQUIRE(first.enter(0s).ok());
    bool ended = false;
    std::thread waiter([&] {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        FileGate second(folder.file("gate"), {});
        ended = !second.enter(20ms).ok();
        sigset_t after;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
        ended = ended && ::sigismember(&after, SIGRTMIN) == 1;
    });
    waiter.join();
    CHECK(ended);
}

TEST_CASE("a wait works where no alarm is to be had") {
    const TemporaryFolder folder;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    FileGate first(folder.file("gate"), {});
    REQUIRE(first.enter(0s).ok());
    bool timed_out = false;
    bool got_in = false;
    FileGate second(folder.file("gate"), {});
    timed_out = !second.enter(20ms).ok();
    std::thread waiter([&] { got_in = second.enter(kForEver).ok(); });
    first.leave();
    waiter.join();
    ::setrlimit(RLIMIT_SIGPENDING, &before);
    CHECK(timed_out);
    CHECK(got_in);
}

TEST_CASE("the gate of a killed process is free") {
    const TemporaryFolder folder;
    Child child([&] {
        static FileGate gate(folder.file("gate"), {});
        if (!gate.enter(0s).ok()) ::_exit(1);
    });
    FileGate gate(folder.file("gate"), {});
    CHECK_FALSE(gate.enter(0s).ok());
    child.kill_and_wait();
    CHECK(gate.enter(kForEver).ok());
    CHECK(gate.holder()->pid == ::getpid());
}

TEST_CASE("nobody inside: no holder") {
    const TemporaryFolder folder;
    FileGate gate(folder.file("gate"), {});
    CHECK_FALSE(gate.holder());
    REQUIRE(gate.enter(0s).ok());
    gate.leave();
    CHECK_FALSE(gate.holder());
}

TEST_CASE("a gate whose file was replaced is the one found by name") {
    const TemporaryFolder folder;
    FileGate old(folder.file("gate"), {});
    REQUIRE(old.enter(0s).ok());
    old.leave();
    std::filesystem::remove(folder.file("gate"));
    FileGate fresh(folder.file("gate"), {});
    REQUIRE(fresh.enter(0s).ok());
    CHECK_FALSE(old.enter(0s).ok());
}

TEST_CASE("the gate's file has the mode that was asked for, whatever the umask") {
    const TemporaryFolder folder;
    const Umask strict(0077);
    FileGate gate(folder.file("gate"), {0660});
    REQUIRE(gate.enter(0s).ok());
    CHECK(mode_of(folder.file("gate")) == 0660);
}

TEST_CASE("the mode of a gate that is there is left alone") {
    const TemporaryFolder folder;
    write_file(folder.file("gate"));
    ::chmod(folder.file("gate").c_str(), 0640);
    FileGate gate(folder.file("gate"), {0660});
    REQUIRE(gate.enter(0s).ok());
    CHECK(mode_of(folder.file("gate")) == 0640);
}

TEST_CASE("what is no regular file is no gate") {
    const TemporaryFolder folder;
    write_file(folder.file("target"));
    std::filesystem::create_symlink(folder.file("target"), folder.file("link"));
    std::filesystem::create_directory(folder.file("folder"));
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    for (const char* name : {"link", "folder", "pipe"}) {
        FileGate gate(folder.file(name), {});
        const auto entered = gate.enter(0s);
        REQUIRE_FALSE(entered.ok());
        CHECK(entered.error().kind == ErrorKind::PermissionDenied);
    }
}

TEST_CASE("without its folder the gate is an outage") {
    const TemporaryFolder folder;
    FileGate gate(folder.file("gone/gate"), {});
    const auto entered = gate.enter(0s);
    REQUIRE_FALSE(entered.ok());
    CHECK(entered.error().kind == ErrorKind::Unreachable);
}

TEST_CASE("the busy message is right with and without a name") {
    CHECK(busy_message(GateHolder{1234, "hagi"}, 5s) ==
          "the store has been busy for 5 s, just now with process 1234 (hagi): try again, or look at that process");
    CHECK(busy_message(GateHolder{1234, ""}, 0s) ==
          "the store is busy, just now with process 1234: try again, or look at that process");
    CHECK(busy_message(std::nullopt, 1500ms) ==
          "the store has been busy for 1500 ms, with a process that cannot be seen from here: try again");
}

TEST_CASE("the table of locks tells holders from waiters, readers and other files") {
    const std::string table =
        "1: FLOCK  ADVISORY  WRITE 4711 fe:00:5678 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 4712 fe:00:5678 0 EOF\n"
        "2: POSIX  ADVISORY  WRITE 4713 fe:00:5678 128 128\n"
        "3: FLOCK  ADVISORY  READ 4714 fe:00:5678 0 EOF\n"
        "4: FLOCK  ADVISORY  WRITE 4715 fe:00:5679 0 EOF\n"
        "5: FLOCK  ADVISORY  WRITE 4716 00:2f:5678 0 EOF\n"
        "6: FLOCK  ADVISORY  WRITE -1 fe:00:5678 0 EOF\n"
        "nonsense\n";
    const auto found = write_locks_on(table, 5678);
    REQUIRE(found.size() == 2);
    CHECK(found[0].pid == 4711);
    CHECK(found[0].device == makedev(0xfe, 0));
    CHECK(found[1].pid == 4716);
    CHECK(found[1].device == makedev(0, 0x2f));
    CHECK(write_locks_on("", 5678).empty());
}
