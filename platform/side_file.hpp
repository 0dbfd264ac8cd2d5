// The files beside a store: whoever may write the store may write them, whatever the umask of who made them.
#pragma once

#include <sys/types.h>

#include <string>

#include "lockcore/result.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

// What a file gets when it is created.
struct SideFileMode {
    mode_t mode = 0600;
    gid_t group = 0;
    bool set_group = false;
    uid_t owner = 0;
    bool set_owner = false;  // root works on a user's store without locking the user out
};

// What everything beside the store at `path` gets. An existing store: its own mode, group and, for root, owner.
// A new one: 0600; in a set-group-id folder 0660 and the folder's group.
SideFileMode side_file_mode(const std::string& path);

// For folders: x is added where r is.
mode_t folder_mode(mode_t file_mode);

// Opens `path` with `flags` (O_CLOEXEC and O_NOFOLLOW are added), or creates it with exactly `mode`. An existing file
// keeps its mode. PermissionDenied for a symbolic link and for anything that is no regular file.
Result<UniqueFd> open_side_file(const std::string& path, int flags, const SideFileMode& mode);

// Gives a file or folder that the caller has just created its owner, group and mode. Without the right to give it the
// group, the group's rights are not given to another group either. False: the mode could not be set.
bool apply_mode(int fd, const SideFileMode& mode);

}  // namespace hagi
