#include "platform/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "platform/unique_fd.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;

TEST_CASE("a pipe is no terminal and has no width") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK_FALSE(is_terminal(ends[1]));
    CHECK_FALSE(terminal_width(ends[1]));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("a terminal is one, and its width is told where it is known") {
    const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) return;  // no ptys here
    const UniqueFd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(terminal);
    CHECK(is_terminal(terminal.get()));
    CHECK_FALSE(terminal_width(terminal.get()));
    const winsize size{24, 97, 0, 0};
    REQUIRE(::ioctl(terminal.get(), TIOCSWINSZ, &size) == 0);
    CHECK(terminal_width(terminal.get()) == 97);
}
