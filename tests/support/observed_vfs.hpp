// SQLite's way to the disk with an eye on it: what it does to files and to their folder is told before it is done.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hagi::test {

// Paths are whole. What gives a result code, and not SQLITE_OK, gives it in place of the operation.
class DiskObserver {
public:
    virtual ~DiskObserver() = default;

    virtual int on_write(const std::string& path, std::int64_t at, std::string_view bytes) = 0;
    virtual int on_truncate(const std::string& path, std::int64_t size) = 0;
    virtual int on_sync(const std::string& path) = 0;
    [[nodiscard]] virtual int number_of_failure() const { return 0; }  // errno, where one was given in place
    virtual void on_create(const std::string& path) { (void)path; }
    virtual void on_delete(const std::string& path) { (void)path; }
    // The folder of what SQLite has just created or deleted is synced.
    virtual void on_sync_folder() {}
};

// While one exists, every file that SQLite opens in this process is observed. One at a time, and the last file is
// closed before it goes.
class ObservedVfs {
public:
    explicit ObservedVfs(DiskObserver& observer);
    ~ObservedVfs();
    ObservedVfs(const ObservedVfs&) = delete;
    ObservedVfs& operator=(const ObservedVfs&) = delete;

private:
    sqlite3_vfs vfs_;
    sqlite3_vfs* real_;
};

}  // namespace hagi::test
