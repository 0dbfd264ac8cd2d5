#include "tests/engine/watched_vfs.hpp"

namespace hagi::test {

int WatchedVfs::failure_now() {
    if (failed_) return failure_;
    if (left_until_failure_ == 0 || --left_until_failure_ > 0) return SQLITE_OK;
    failed_ = true;
    return failure_;
}

int WatchedVfs::on_sync(const std::string&) {
    ++syncs_;
    return failure_now();
}

void WatchedVfs::fail_from(int nth, int code) {
    left_until_failure_ = nth;
    failure_ = code;
    failed_ = false;
}

}  // namespace hagi::test
