#include "platform/posix_error.hpp"

#include <cerrno>

#include "tests/support/catch.hpp"

using namespace hagi;

TEST_CASE("each errno has the kind that decides the exit code") {
    for (const int number : {EACCES, EPERM, EROFS, ELOOP})
        CHECK(posix_error(number, "x").kind == ErrorKind::PermissionDenied);
    for (const int number : {ENOSPC, EDQUOT, EIO, ETIMEDOUT, ESTALE, EMFILE, ENFILE, ENOLCK, 9999})
        CHECK(posix_error(number, "x").kind == ErrorKind::Unreachable);
    for (const int number : {ENAMETOOLONG, EINVAL}) CHECK(posix_error(number, "x").kind == ErrorKind::InvalidArgument);
    CHECK(posix_error(EOPNOTSUPP, "x").kind == ErrorKind::Unusable);
}

TEST_CASE("what is not there is the user's mistake or an outage, as the caller says") {
    for (const int number : {ENOENT, ENOTDIR}) {
        CHECK(posix_error(number, "x", Absence::NotFound).kind == ErrorKind::NotFound);
        CHECK(posix_error(number, "x").kind == ErrorKind::Unreachable);
    }
}

TEST_CASE("the message is one line: what, why, what to do") {
    CHECK(posix_error(ENOSPC, "cannot write /a\nb").message ==
          "cannot write /a\\nb (No space left on device): free some space, then try again");
}
