#include "tests/engine/watched_vfs.hpp"

#include <map>

namespace hagi::test {
namespace {

// Callbacks of C know no object.
struct Watch {
    sqlite3_vfs* real = nullptr;
    const sqlite3_io_methods* methods = nullptr;  // all files of the Unix VFS write and sync alike
    int syncs = 0;
    int left_until_failure = 0;
    int failure = SQLITE_OK;
    bool failed = false;
} watch;

int fails() {
    if (watch.failed) return watch.failure;
    if (watch.left_until_failure == 0 || --watch.left_until_failure > 0) return SQLITE_OK;
    watch.failed = true;
    return watch.failure;
}

int watched_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
    if (const int failure = fails()) return failure;
    return watch.methods->xWrite(file, bytes, count, at);
}

int watched_sync(sqlite3_file* file, int flags) {
    ++watch.syncs;
    if (const int failure = fails()) return failure;
    return watch.methods->xSync(file, flags);
}

int watched_truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (const int failure = fails()) return failure;
    return watch.methods->xTruncate(file, size);
}

int watched_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
    static std::map<const sqlite3_io_methods*, sqlite3_io_methods> patched_by_kind;  // they lock differently
    const int code = watch.real->xOpen(watch.real, name, file, flags, opened);
    if (code != SQLITE_OK || !file->pMethods) return code;
    watch.methods = file->pMethods;
    sqlite3_io_methods& patched = patched_by_kind[file->pMethods];
    patched = *file->pMethods;
    patched.xWrite = watched_write;
    patched.xSync = watched_sync;
    patched.xTruncate = watched_truncate;
    file->pMethods = &patched;
    return code;
}

}  // namespace

WatchedVfs::WatchedVfs() : real_(sqlite3_vfs_find(nullptr)) {
    watch = {};
    watch.real = real_;
    vfs_ = *real_;
    vfs_.zName = "watched";
    vfs_.pNext = nullptr;
    vfs_.xOpen = watched_open;
    sqlite3_vfs_register(&vfs_, 1);
}

WatchedVfs::~WatchedVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
}

int WatchedVfs::syncs() const { return watch.syncs; }
bool WatchedVfs::failed() const { return watch.failed; }

void WatchedVfs::fail_from(int nth, int code) {
    watch.left_until_failure = nth;
    watch.failure = code;
    watch.failed = false;
}

}  // namespace hagi::test
