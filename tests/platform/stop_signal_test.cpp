#include "platform/stop_signal.hpp"

#include <poll.h>
#include <unistd.h>

#include "tests/platform/child.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;

namespace {

bool readable(int fd) {
    pollfd waited_for{fd, POLLIN, 0};
    return ::poll(&waited_for, 1, 0) == 1;
}

bool is_blocked(int signal) {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return ::sigismember(&now, signal) == 1;
}

}  // namespace

TEST_CASE("a stop is seen, and the first one is remembered") {
    StopSignal stop;
    CHECK_FALSE(stop.received());
    CHECK_FALSE(readable(stop.fd()));
    ::raise(SIGTERM);
    CHECK(readable(stop.fd()));
    CHECK(stop.received() == SIGTERM);
    ::raise(SIGINT);
    CHECK(stop.received() == SIGTERM);
    CHECK(stop.take() == SIGINT);
    CHECK_FALSE(stop.take());
    CHECK(stop.received() == SIGTERM);
}

TEST_CASE("afterwards the signals are as they were, and one that nobody took does not kill") {
    REQUIRE_FALSE(is_blocked(SIGTERM));
    {
        const StopSignal stop;
        CHECK(is_blocked(SIGTERM));
        CHECK(::sigismember(&stop.mask_before(), SIGTERM) == 0);
        ::raise(SIGTERM);
    }
    CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("a signal that was inherited as ignored stays ignored") {
    ::signal(SIGHUP, SIG_IGN);
    {
        StopSignal stop;
        ::raise(SIGHUP);
        CHECK_FALSE(stop.received());
        CHECK_FALSE(is_blocked(SIGHUP));
    }
    ::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("who passes signals on takes those that it names") {
    StopSignal stop({SIGUSR1, SIGQUIT});
    CHECK_FALSE(is_blocked(SIGTERM));
    ::raise(SIGUSR1);
    CHECK(stop.take() == SIGUSR1);
}

TEST_CASE("a reader that went away is an error of writing") {
    ignore_signals_of_failed_writes();
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    CHECK(::write(ends[1], "x", 1) == -1);
    CHECK(errno == EPIPE);
    ::close(ends[1]);
    ::signal(SIGPIPE, SIG_DFL);
}
