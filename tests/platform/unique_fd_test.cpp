#include "platform/unique_fd.hpp"

#include <fcntl.h>

#include <utility>

#include "tests/support/catch.hpp"

using hagi::UniqueFd;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

UniqueFd open_null() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

TEST_CASE("a descriptor is closed by its last owner and by nobody else") {
    int number = -1;
    {
        UniqueFd first = open_null();
        REQUIRE(first);
        number = first.get();
        UniqueFd second = std::move(first);
        CHECK(second.get() == number);
        CHECK(is_open(number));
    }
    CHECK_FALSE(is_open(number));
}

TEST_CASE("assigning closes what was owned before") {
    UniqueFd fd = open_null();
    const int before = fd.get();
    UniqueFd other = open_null();
    const int after = other.get();
    fd = std::move(other);
    CHECK_FALSE(is_open(before));
    CHECK(fd.get() == after);
    CHECK(is_open(after));
}

TEST_CASE("a released descriptor stays open") {
    UniqueFd fd = open_null();
    const int number = fd.release();
    CHECK_FALSE(fd);
    CHECK(is_open(number));
    ::close(number);
}

TEST_CASE("closing keeps the errno that is yet to be told") {
    UniqueFd fd(1'000'000);  // closing it fails with EBADF
    errno = ENOSPC;
    fd.reset();
    CHECK(errno == ENOSPC);
}
