#include "platform/posix_error.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include "lockcore/names.hpp"

namespace hagi {

namespace {

struct Meaning {
    ErrorKind kind;
    const char* what_to_do;
};

Meaning meaning_of(int number, Absence absence) {
    switch (number) {
        case EACCES:
        case EPERM: return {ErrorKind::PermissionDenied, "check the owner and mode of it and its folder"};
        case EROFS: return {ErrorKind::PermissionDenied, "name a place that may be written"};
        case ELOOP: return {ErrorKind::PermissionDenied, "name the file itself, not a symbolic link"};
        case ENOENT:
        case ENOTDIR:
            if (absence == Absence::Outage) return {ErrorKind::Unreachable, "put it back, then try again"};
            return {ErrorKind::NotFound, "create the folder, or name another"};
        case EINVAL:
        case ENAMETOOLONG: return {ErrorKind::InvalidArgument, "name another"};
        case ENOSYS:
        case EOPNOTSUPP: return {ErrorKind::Unusable, "use another filesystem or kernel"};
        case ENOSPC:
        case EDQUOT: return {ErrorKind::Unreachable, "free some space, then try again"};
        case EFBIG: return {ErrorKind::Unreachable, "raise the limit of file sizes (ulimit -f), then try again"};
        case EMFILE:
        case ENFILE: return {ErrorKind::Unreachable, "raise the limit of open files (ulimit -n)"};
        case EIO:
        case ESTALE:
        case ETIMEDOUT:
        case EHOSTDOWN:
        case EHOSTUNREACH: return {ErrorKind::Unreachable, "check the disk or file server, then try again"};
        default: return {ErrorKind::Unreachable, "try again"};
    }
}

}  // namespace

Error posix_error(int number, std::string_view what, Absence absence) {
    const Meaning meaning = meaning_of(number, absence);
    const std::string reason = std::generic_category().message(number);
    return {meaning.kind, escaped(what) + " (" + reason + "): " + meaning.what_to_do};
}

}  // namespace hagi
