#include "platform/file_server_clock.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "platform/posix_error.hpp"

namespace hagi {

namespace {

// Hosts share the folder, so a pid would not tell two processes apart.
Result<std::string> random_name() {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) return posix_error(errno, "cannot get random bytes");
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(random));
    return std::string(digits.data());
}

}  // namespace

FileServerClock::FileServerClock(std::string prefix) : prefix_(std::move(prefix)) {}

FileServerClock::~FileServerClock() {
    if (file_) ::unlink(path_.c_str());
}

Outcome FileServerClock::open_file() {
    auto name = random_name();
    if (!name) return name.error();
    const std::string path = prefix_ + *name;
    // Not for writing: a server may then leave it to this host to stamp its times.
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return posix_error(errno, "cannot create " + path);
    path_ = path;
    file_ = std::move(file);
    return Done{};
}

Result<ClockReading> FileServerClock::read() {
    if (!file_) {
        if (auto opened = open_file(); !opened) return opened.error();
    }
    const timespec server_time[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    struct stat touched {};
    if (::futimens(file_.get(), server_time) != 0 || ::fstat(file_.get(), &touched) != 0) {
        const int error = errno;
        ::unlink(path_.c_str());
        file_.reset();  // perhaps stale: the next read makes a new one
        return posix_error(error, "cannot read the file server's clock with " + path_);
    }
    const auto now = std::chrono::duration_cast<Duration>(std::chrono::seconds{touched.st_mtim.tv_sec} +
                                                          std::chrono::nanoseconds{touched.st_mtim.tv_nsec});
    return ClockReading{"file server", now, now};
}

}  // namespace hagi
