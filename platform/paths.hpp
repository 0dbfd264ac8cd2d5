// Where the store is, and whether it is safe to use there.
#pragma once

#include <optional>
#include <string>

#include "lockcore/result.hpp"
#include "platform/side_file.hpp"

namespace hagi {

// What decides where the store is, the first one first. In variables an empty text counts as absent.
struct StoreChoice {
    std::optional<std::string> option;      // --store
    std::optional<std::string> store;       // HAGI_LOCK_STORE
    std::optional<std::string> state_home;  // XDG_STATE_HOME; ignored where it is relative
    std::optional<std::string> home;        // HOME
};

enum class NamedBy { User, Default };

struct StorePath {
    std::string path;
    NamedBy named_by = NamedBy::User;
};

// InvalidArgument where --store is empty, or nothing names a store and HOME is absent or relative.
Result<StorePath> find_store(const StoreChoice& choice);

// Creates the missing folders above the default store's `path`, mode 0700 whatever the umask. Never call it for a
// path that the user named.
Outcome ensure_default_folders(const std::string& path);

enum class Access { Read, Write };

struct StorePlace {
    std::string path;    // absolute, without symbolic links: everything beside the store is named after it
    std::string folder;  // where it lies
    bool exists = false;
    SideFileMode mode;  // what is created there gets this
};

// NotFound: the folder does not exist. PermissionDenied: the place is unsafe - a file of a stranger's, a symbolic link
// or a hard link where anybody may put one, anything but a regular file, somebody else's file in a sticky folder such
// as /tmp - or may not be looked at. InvalidArgument: the path is too long. Writing is stricter than reading, which a
// stranger's store in a folder that not everybody may write allows.
// A race remains: who may write the folder may change it after this look.
Result<StorePlace> check_store_place(const std::string& path, Access access);

}  // namespace hagi
