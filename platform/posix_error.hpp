// What a failed system call means to the caller of hagi. Everything in platform/ reports through it.
#pragma once

#include <string_view>

#include "lockcore/result.hpp"

namespace hagi {

// What it means that a name does not exist.
enum class Absence {
    NotFound,  // the user named a folder that is not there
    Outage,    // it was there before: Unreachable
};

// `what` says what was tried, e.g. "cannot open /srv/locks.db"; it may hold raw paths, since it is escaped here.
// The message becomes "<what> (<reason>): <what to do>". `number` is the errno.
//   EACCES, EPERM, EROFS, ELOOP          PermissionDenied
//   ENOENT, ENOTDIR                      NotFound or Unreachable, as `absence` says
//   EINVAL, ENAMETOOLONG                 InvalidArgument
//   ENOSYS, EOPNOTSUPP                   Unusable
//   everything else (full, I/O, limits)  Unreachable
Error posix_error(int number, std::string_view what, Absence absence = Absence::Outage);

}  // namespace hagi
