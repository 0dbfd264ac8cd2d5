// Counts what SQLite makes durable, and lets its n-th write fail.
#pragma once

#include "tests/support/observed_vfs.hpp"

namespace hagi::test {

// While one exists, every file that SQLite opens in this process is watched. One at a time.
class WatchedVfs : private DiskObserver {
public:
    [[nodiscard]] int syncs() const { return syncs_; }  // so far

    // The n-th operation from now on that changes the disk (write, sync, truncate) fails with `code`, and so does
    // every later one; 0: none fails. `number`: the errno that goes with it.
    void fail_from(int nth, int code, int number = 0);
    [[nodiscard]] bool failed() const { return failed_; }  // one has, since then

private:
    int on_write(const std::string&, std::int64_t, std::string_view) override { return failure_now(); }
    int on_truncate(const std::string&, std::int64_t) override { return failure_now(); }
    int on_sync(const std::string&) override;
    [[nodiscard]] int number_of_failure() const override { return failed_ ? number_ : 0; }
    int failure_now();

    int syncs_ = 0;
    int left_until_failure_ = 0;
    int failure_ = SQLITE_OK;
    int number_ = 0;
    bool failed_ = false;
    ObservedVfs vfs_{*this};
};

}  // namespace hagi::test
