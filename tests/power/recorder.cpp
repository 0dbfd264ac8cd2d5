#include "tests/power/recorder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

namespace hagi::test {
namespace {

Recorder* recording = nullptr;

std::string path_of(int fd) {
    std::array<char, PATH_MAX> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
    return size < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(size));
}

}  // namespace

Recorder::Recorder(std::string folder) : folder_(std::move(folder)) { recording = this; }

Recorder::~Recorder() { recording = nullptr; }

Recorder* Recorder::active() { return recording; }

// The index of the log is shared memory, and the bells hold nothing.
bool Recorder::is_ours(const std::string& path) const {
    return path.starts_with(folder_ + "/") && !path.ends_with("-shm") &&
           path.find('/', folder_.size() + 1) == std::string::npos;
}

void Recorder::record(Operation::Kind kind, const std::string& path, std::int64_t at, std::string_view bytes) {
    if (kind == Operation::Kind::SyncFolder && path == folder_) {
        if (auto happening = std::exchange(before_folder_sync_, {})) happening();
        operations_.push_back({kind});
    } else if (is_ours(path)) {
        operations_.push_back({kind, name_of(path), {}, at, std::string(bytes)});
    }
}

void Recorder::record_first_sight(const std::string& path) {
    if (seen_.insert(path).second) record(Operation::Kind::Create, path);
}

void Recorder::record_link(const std::string& from, const std::string& to) {
    if (is_ours(from) && is_ours(to)) operations_.push_back({Operation::Kind::Link, name_of(to), name_of(from)});
}

int Recorder::on_write(const std::string& path, std::int64_t at, std::string_view bytes) {
    record(Operation::Kind::Write, path, at, bytes);
    return SQLITE_OK;
}

int Recorder::on_truncate(const std::string& path, std::int64_t size) {
    record(Operation::Kind::Truncate, path, size);
    return SQLITE_OK;
}

int Recorder::on_sync(const std::string& path) {
    record(Operation::Kind::Sync, path);
    return SQLITE_OK;
}

}  // namespace hagi::test

// ---- What the program itself calls, wrapped (see CMakeLists.txt) ---------------------------------------------------
// SQLite calls some of these, too, where it is linked statically; what is told twice has happened once all the same.

using hagi::test::Operation;
using hagi::test::Recorder;

// NOLINTBEGIN(bugprone-reserved-identifier): so the linker names them
extern "C" {

ssize_t __real_write(int fd, const void* bytes, size_t count);
ssize_t __wrap_write(int fd, const void* bytes, size_t count) {
    Recorder* const recorder = Recorder::active();
    if (recorder && fd > STDERR_FILENO) {
        const std::string path = hagi::test::path_of(fd);
        const off_t at = ::lseek(fd, 0, SEEK_CUR);
        struct stat file {};
        if (::fstat(fd, &file) == 0 && file.st_size == 0) recorder->record_first_sight(path);
        recorder->record(Operation::Kind::Write, path, at, {static_cast<const char*>(bytes), count});
    }
    return __real_write(fd, bytes, count);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd) {
    if (Recorder* const recorder = Recorder::active()) {
        struct stat file {};
        const bool folder = ::fstat(fd, &file) == 0 && S_ISDIR(file.st_mode);
        recorder->record(folder ? Operation::Kind::SyncFolder : Operation::Kind::Sync, hagi::test::path_of(fd));
    }
    return __real_fsync(fd);
}

int __real_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to) {
    if (Recorder* const recorder = Recorder::active()) recorder->record_link(from, to);
    return __real_link(from, to);
}

int __real_unlink(const char* path);
int __wrap_unlink(const char* path) {
    if (Recorder* const recorder = Recorder::active()) recorder->record(Operation::Kind::Unlink, path);
    return __real_unlink(path);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
