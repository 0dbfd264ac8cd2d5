// SQLite's way to the disk with an eye on it: counts what is made durable, and lets the n-th write fail.
#pragma once

#include <sqlite3.h>

namespace hagi::test {

// While one exists, every file that SQLite opens in this process is watched. One at a time.
class WatchedVfs {
public:
    WatchedVfs();
    ~WatchedVfs();
    WatchedVfs(const WatchedVfs&) = delete;
    WatchedVfs& operator=(const WatchedVfs&) = delete;

    [[nodiscard]] int syncs() const;  // so far

    // The n-th operation from now on that changes the disk (write, sync, truncate) fails with `code`, and so does
    // every later one; 0: none fails.
    void fail_from(int nth, int code);
    [[nodiscard]] bool failed() const;  // one has, since then

private:
    sqlite3_vfs vfs_;
    sqlite3_vfs* real_;
};

}  // namespace hagi::test
