#include "tests/engine/watched_vfs.hpp"

#include <cerrno>

namespace hagi::test {

int WatchedVfs::failure_now() {
    if (!failed_ && (left_until_failure_ == 0 || --left_until_failure_ > 0)) return SQLITE_OK;
    failed_ = true;
    errno = number_;
    return failure_;
}

int WatchedVfs::on_sync(const std::string&) {
    ++syncs_;
    return failure_now();
}

void WatchedVfs::fail_from(int nth, int code, int number) {
    left_until_failure_ = nth;
    failure_ = code;
    number_ = number;
    failed_ = false;
}

}  // namespace hagi::test
