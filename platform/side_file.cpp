#include "platform/side_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"

namespace hagi {

namespace {

constexpr mode_t kReadWriteBits = 0666;
constexpr mode_t kPermissionBits = 07777;
constexpr mode_t kGroupBits = 0070;

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Error not_regular(const std::string& path) {
    return {ErrorKind::PermissionDenied, escaped(path) + " is not a regular file: remove it, or name another store"};
}

Result<UniqueFd> checked(UniqueFd file, const std::string& path) {
    struct stat found {};
    if (::fstat(file.get(), &found) != 0) return posix_error(errno, "cannot look at " + path);
    if (!S_ISREG(found.st_mode)) return not_regular(path);
    return file;
}

}  // namespace

SideFileMode side_file_mode(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode))
        return {found.st_mode & kReadWriteBits, found.st_gid, true, found.st_uid, ::geteuid() == 0};
    if (::stat(folder_of(path).c_str(), &found) == 0 && (found.st_mode & S_ISGID) != 0)
        return {0660, found.st_gid, true};
    return {};
}

mode_t folder_mode(mode_t file_mode) { return file_mode | ((file_mode & 0444) >> 2); }

bool apply_mode(int fd, const SideFileMode& mode) {
    struct stat found {};
    if (::fstat(fd, &found) != 0) return false;
    const bool other_owner = mode.set_owner && found.st_uid != mode.owner;
    const bool other_group = mode.set_group && found.st_gid != mode.group;
    mode_t bits = mode.mode;
    if (other_owner || other_group) {
        const uid_t owner = other_owner ? mode.owner : static_cast<uid_t>(-1);
        const gid_t group = other_group ? mode.group : static_cast<gid_t>(-1);
        if (::fchown(fd, owner, group) != 0 && other_group) bits &= ~kGroupBits;
    }
    return (found.st_mode & kPermissionBits) == bits || ::fchmod(fd, bits) == 0;
}

Result<UniqueFd> open_side_file(const std::string& path, int flags, const SideFileMode& mode) {
    // O_NONBLOCK: whatever lies there instead, opening it must not hang. Creating and opening are two calls since
    // opening another user's file with O_CREAT is refused in sticky folders.
    const int safe = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    constexpr int kTries = 10;  // a stranger could create and remove it for ever
    int error = ENOENT;
    for (int attempt = 0; attempt < kTries; ++attempt) {
        if (UniqueFd file(::open(path.c_str(), safe)); file) return checked(std::move(file), path);
        error = errno;
        if (error == EISDIR || error == ENXIO) return not_regular(path);
        if (error != ENOENT) break;
        // Race: until apply_mode has run, another user of the group may be denied what the umask took away.
        if (UniqueFd file(::open(path.c_str(), safe | O_CREAT | O_EXCL, mode.mode)); file) {
            if (!apply_mode(file.get(), mode)) return posix_error(errno, "cannot set the mode of " + path);
            return file;
        }
        error = errno;
        if (error != EEXIST) break;
    }
    return posix_error(error, "cannot open " + path);
}

}  // namespace hagi
