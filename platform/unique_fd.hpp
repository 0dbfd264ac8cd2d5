// The only owner of one file descriptor. Closing one that is not open is no error.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hagi {

class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}  // negative: none
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.fd_, -1));
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

    // Closes what is owned; errno stays what it was, so that a failure can still be told.
    void reset(int fd = -1) noexcept {
        const int previous = std::exchange(fd_, fd);
        if (previous < 0) return;
        const int error = errno;
        ::close(previous);
        errno = error;
    }

    // The caller owns it from here on.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

}  // namespace hagi
