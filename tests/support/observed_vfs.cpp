#include "tests/support/observed_vfs.hpp"

#include <unistd.h>

#include <map>

namespace hagi::test {
namespace {

struct Observed {
    std::string path;
    const sqlite3_io_methods* real = nullptr;
};

// Callbacks of C know no object.
sqlite3_vfs* unix_vfs = nullptr;
DiskObserver* observing = nullptr;
std::map<sqlite3_file*, Observed>& open_files() {
    static std::map<sqlite3_file*, Observed> files;
    return files;
}

// SQLite syncs a folder by opening it, syncing it and closing it; only the first can be seen from outside.
using OpenFolder = int (*)(const char*, int*);
OpenFolder open_folder = nullptr;

int observed_open_folder(const char* path, int* fd) {
    if (observing) observing->on_sync_folder();
    return open_folder(path, fd);
}

int observed_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
    const Observed& observed = open_files().at(file);
    const std::string_view text(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
    if (const int code = observing->on_write(observed.path, at, text)) return code;
    return observed.real->xWrite(file, bytes, count, at);
}

int observed_truncate(sqlite3_file* file, sqlite3_int64 size) {
    const Observed& observed = open_files().at(file);
    if (const int code = observing->on_truncate(observed.path, size)) return code;
    return observed.real->xTruncate(file, size);
}

int observed_sync(sqlite3_file* file, int flags) {
    const Observed& observed = open_files().at(file);
    if (const int code = observing->on_sync(observed.path)) return code;
    return observed.real->xSync(file, flags);
}

int observed_control(sqlite3_file* file, int what, void* value) {
    if (what == SQLITE_FCNTL_LAST_ERRNO && observing->number_of_failure() != 0) {
        *static_cast<int*>(value) = observing->number_of_failure();
        return SQLITE_OK;
    }
    return open_files().at(file).real->xFileControl(file, what, value);
}

int observed_close(sqlite3_file* file) {
    const auto found = open_files().find(file);
    const sqlite3_io_methods* const real = found->second.real;
    open_files().erase(found);
    return real->xClose(file);
}

int observed_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
    static std::map<const sqlite3_io_methods*, sqlite3_io_methods> patched_by_kind;  // they lock differently
    const bool present = name && ::access(name, F_OK) == 0;                          // for SQLite an empty file is none
    const int code = unix_vfs->xOpen(unix_vfs, name, file, flags, opened);
    if (code != SQLITE_OK || !file->pMethods || !name) return code;
    if (!present && (flags & SQLITE_OPEN_CREATE)) observing->on_create(name);

    open_files()[file] = {name, file->pMethods};
    sqlite3_io_methods& patched = patched_by_kind[file->pMethods];
    patched = *file->pMethods;
    patched.xWrite = observed_write;
    patched.xSync = observed_sync;
    patched.xTruncate = observed_truncate;
    patched.xClose = observed_close;
    patched.xFileControl = observed_control;
    file->pMethods = &patched;
    return code;
}

int observed_delete(sqlite3_vfs*, const char* name, int sync_folder) {
    observing->on_delete(name);
    return unix_vfs->xDelete(unix_vfs, name, sync_folder);
}

}  // namespace

ObservedVfs::ObservedVfs(DiskObserver& observer) : real_(sqlite3_vfs_find(nullptr)) {
    unix_vfs = real_;
    observing = &observer;
    vfs_ = *real_;
    vfs_.zName = "observed";
    vfs_.pNext = nullptr;
    vfs_.xOpen = observed_open;
    vfs_.xDelete = observed_delete;
    open_folder = reinterpret_cast<OpenFolder>(real_->xGetSystemCall(real_, "openDirectory"));
    real_->xSetSystemCall(real_, "openDirectory", reinterpret_cast<sqlite3_syscall_ptr>(observed_open_folder));
    sqlite3_vfs_register(&vfs_, 1);
}

ObservedVfs::~ObservedVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
    real_->xSetSystemCall(real_, "openDirectory", nullptr);
    observing = nullptr;
}

}  // namespace hagi::test
