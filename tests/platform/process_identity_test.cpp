#include "platform/process_identity.hpp"

#include <poll.h>
#include <unistd.h>

#include "tests/platform/child.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;

TEST_CASE("this process is alive") {
    const ProcessIdentity self = this_process();
    CHECK(self.pid == ::getpid());
    CHECK(self.start_ticks > 0);
    CHECK_FALSE(self.boot_id.empty());
    CHECK(self.pid_namespace > 0);
    CHECK(is_alive(self) == Liveness::Alive);
    CHECK(identity_of(::getpid()) == self);
}

TEST_CASE("another process is alive until it has ended, waited for or not") {
    Child child([] {});
    const auto identity = identity_of(child.pid());
    REQUIRE(identity);
    CHECK(is_alive(*identity) == Liveness::Alive);
    child.kill();
    CHECK(is_alive(*identity) == Liveness::Gone);
    CHECK_FALSE(identity_of(child.pid()));
    child.kill_and_wait();
    CHECK(is_alive(*identity) == Liveness::Gone);
}

TEST_CASE("another process with the same number is not it") {
    ProcessIdentity earlier = this_process();
    earlier.start_ticks -= 1;
    CHECK(is_alive(earlier) == Liveness::Gone);
}

TEST_CASE("what cannot be told from here is never gone") {
    Child child([] {});
    const ProcessIdentity dead = *identity_of(child.pid());
    child.kill_and_wait();
    REQUIRE(is_alive(dead) == Liveness::Gone);
    ProcessIdentity other = dead;
    SECTION("another boot") { other.boot_id = "another"; }
    SECTION("a boot that is not known") { other.boot_id.clear(); }
    SECTION("another pid namespace") { other.pid_namespace += 1; }
    SECTION("a pid namespace that is not known") { other.pid_namespace = 0; }
    SECTION("a start that is not known") { other.start_ticks = 0; }
    SECTION("no pid") { other.pid = 0; }
    CHECK(is_alive(other) == Liveness::Unknown);
}

TEST_CASE("what a grant is bound to is gone with the process and with the last one of the command's group") {
    Child run([] {});
    const ProcessIdentity identity = *identity_of(run.pid());
    Child command([] { ::setpgid(0, 0); });
    ProcessWitness witness;
    CHECK_FALSE(witness.is_gone({identity, 0}));
    run.kill_and_wait();
    CHECK(witness.is_gone({identity, 0}));
    CHECK_FALSE(witness.is_gone({identity, command.pid()}));
    command.kill();
    CHECK(witness.is_gone({identity, command.pid()}));
    command.kill_and_wait();
    CHECK(witness.is_gone({identity, command.pid()}));
}

TEST_CASE("the start time is found behind any name of a command") {
    const std::string after = " S 1 2 3 4 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 20 30\n";
    CHECK(parse_process_stat("42 (a) b) c)" + after)->start_ticks == 987654);
    CHECK_FALSE(parse_process_stat("42 (sleep)" + after)->dead);
    CHECK_FALSE(parse_process_stat("42 (sleep) S 1 2 3"));
    CHECK_FALSE(parse_process_stat(""));
}

TEST_CASE("a process is dead when its last thread is") {
    const std::string before = "42 (x) Z 1 2 3 4 -1 4194560 1 2 3 4 5 6 7 8 20 0 ";
    CHECK(parse_process_stat(before + "1 0 5 0")->dead);
    CHECK_FALSE(parse_process_stat(before + "3 0 5 0")->dead);
}

TEST_CASE("the end of a process can be waited for") {
    Child child([] {});
    const UniqueFd process = open_process(child.pid());
    if (!process) return;  // an old kernel
    pollfd waited_for{process.get(), POLLIN, 0};
    CHECK(::poll(&waited_for, 1, 0) == 0);
    child.kill_and_wait();
    CHECK(::poll(&waited_for, 1, -1) == 1);
    CHECK_FALSE(open_process(child.pid()));
}
