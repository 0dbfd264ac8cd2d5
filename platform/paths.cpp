#include "platform/paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"

namespace hagi {

namespace {

constexpr const char* kBelowStateHome = "/hagi/locks.db";
constexpr const char* kBelowHome = "/.local/state/hagi/locks.db";

// What is appended to the store's name for the files beside it must fit, too.
constexpr std::size_t kRoomForSuffix = 64;

// SQLite opens no longer one: 512 bytes with "-journal" behind it.
constexpr std::size_t kLongestPath = 504;

// Longer chains of links are a mistake, or somebody's joke.
constexpr int kMaxLinks = 8;

bool given(const std::optional<std::string>& text) { return text && !text->empty(); }

bool absolute(const std::optional<std::string>& text) { return given(text) && text->front() == '/'; }

Error unsafe(const std::string& path, const std::string& problem, const std::string& what_to_do) {
    return {ErrorKind::PermissionDenied, "the store " + escaped(path) + " " + problem + ": " + what_to_do};
}

struct Split {
    std::string folder;
    std::string name;
};

Split split(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

std::string join(const std::string& folder, const std::string& name) {
    return folder == "/" ? "/" + name : folder + "/" + name;
}

Error name_a_file(const std::string& path) { return unsafe(path, "is a folder", "name a file in it"); }

Result<std::string> resolved_folder(const std::string& folder) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(folder.c_str(), nullptr), ::free);
    if (!resolved) return posix_error(errno, "cannot find the store's folder " + folder, Absence::NotFound);
    return std::string(resolved.get());
}

bool too_long(const Split& place) {
    return place.name.size() + kRoomForSuffix > NAME_MAX || join(place.folder, place.name).size() > kLongestPath;
}

bool everybody_writes(const struct stat& folder) { return (folder.st_mode & S_IWOTH) != 0; }

bool in_group(gid_t group) {
    if (group == ::getegid()) return true;
    const int count = ::getgroups(0, nullptr);
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
    const int got = ::getgroups(count, groups.data());
    return got > 0 && std::find(groups.begin(), groups.begin() + got, group) != groups.begin() + got;
}

// A team shares a folder through its group.
bool shared_by_group(const struct stat& file, const struct stat& folder) {
    return (folder.st_mode & S_ISGID) != 0 && file.st_gid == folder.st_gid && in_group(folder.st_gid);
}

bool trusted(const struct stat& file, const struct stat& folder, Access access) {
    if (file.st_uid == ::geteuid()) return true;
    // Sticky folders keep another user from writing the files beside the store.
    if (everybody_writes(folder)) return (folder.st_mode & S_ISVTX) == 0 && file.st_uid == 0;
    if (file.st_uid == 0 || shared_by_group(file, folder)) return true;
    // Who may plant a file here is the folder's owner: reading it harms nobody, and an administrator may help out.
    return access == Access::Read || ::geteuid() == 0;
}

// A store that is just being created has a second name for a moment.
bool has_second_name(const std::string& path) {
    constexpr int kLooks = 20;
    constexpr timespec kPause{0, 5'000'000};
    struct stat file {};
    for (int look = 0; look < kLooks; ++look) {
        if (::lstat(path.c_str(), &file) != 0 || file.st_nlink <= 1) return false;
        ::nanosleep(&kPause, nullptr);
    }
    return true;
}

Outcome check_file(const std::string& path, const struct stat& file, const struct stat& folder, Access access) {
    if (S_ISDIR(file.st_mode)) return name_a_file(path);
    if (!S_ISREG(file.st_mode)) return unsafe(path, "is not a regular file", "name another");
    if (!trusted(file, folder, access)) {
        const std::string problem = "belongs to another user (uid " + std::to_string(file.st_uid) + ")";
        return unsafe(path, problem, "to share one, put it in a folder of your group's with mode 2770");
    }
    if (everybody_writes(folder) && has_second_name(path))
        return unsafe(path, "has a second name in a folder that everybody may write", "use a folder of your own");
    return Done{};
}

// What lies beside a store at some time: SQLite or hagi would use it without asking whose it is.
constexpr std::array kBesideStore = {"-gate", "-wal", "-shm", "-journal", "-bells", "-probe", "-probe-bytes"};

// In a folder such as /tmp a stranger may have been there first, with a log full of grants or a link to something else.
Outcome check_what_lies_beside(const std::string& path) {
    for (const std::string suffix : kBesideStore) {
        struct stat found {};
        if (::lstat((path + suffix).c_str(), &found) != 0) continue;
        const bool is_file = S_ISREG(found.st_mode) && found.st_nlink == 1;
        const bool expected = suffix == "-bells" ? S_ISDIR(found.st_mode) : is_file;
        if (!expected || found.st_uid != ::geteuid())
            return unsafe(path, "has beside it " + escaped(path + suffix) + ", which may be a stranger's",
                          "use a folder of your own");
    }
    return Done{};
}

Result<std::string> link_target(const Split& place, const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return posix_error(errno, "cannot read the symbolic link " + path);
    const std::string text(target.data(), static_cast<std::size_t>(length));
    return text.starts_with('/') ? text : join(place.folder, text);
}

// Where one name leads: a place, or the target of a symbolic link.
struct Step {
    std::optional<StorePlace> place;
    std::string next;
};

Result<Step> look(const std::string& path, Access access) {
    Split place = split(path);
    if (place.name.empty() || place.name == "." || place.name == "..") return name_a_file(path);
    auto resolved = resolved_folder(place.folder);
    if (!resolved) return resolved.error();
    place.folder = *std::move(resolved);
    const std::string found_at = join(place.folder, place.name);
    if (too_long(place)) return posix_error(ENAMETOOLONG, "cannot use the store " + found_at);

    struct stat folder {};
    struct stat file {};
    if (::stat(place.folder.c_str(), &folder) != 0) return posix_error(errno, "cannot look at " + place.folder);
    const bool exists = ::lstat(found_at.c_str(), &file) == 0;
    if (!exists && errno != ENOENT) return posix_error(errno, "cannot look at " + found_at, Absence::NotFound);
    if (exists && S_ISLNK(file.st_mode)) {
        if (everybody_writes(folder))
            return unsafe(found_at, "is a symbolic link in a folder that everybody may write", "name its target");
        auto next = link_target(place, found_at);
        if (!next) return next.error();
        return Step{std::nullopt, *std::move(next)};
    }
    if (exists) {
        if (auto checked = check_file(found_at, file, folder, access); !checked) return checked.error();
    }
    if (everybody_writes(folder) && (folder.st_mode & S_ISVTX) != 0) {
        if (auto checked = check_what_lies_beside(found_at); !checked) return checked.error();
    }
    return Step{StorePlace{found_at, place.folder, exists, side_file_mode(found_at)}, ""};
}

}  // namespace

Result<StorePath> find_store(const StoreChoice& choice) {
    if (choice.option) {
        if (choice.option->empty()) return Error{ErrorKind::InvalidArgument, "--store is empty: name a file"};
        return StorePath{*choice.option, NamedBy::User};
    }
    if (given(choice.store)) return StorePath{*choice.store, NamedBy::User};
    if (absolute(choice.state_home)) return StorePath{*choice.state_home + kBelowStateHome, NamedBy::Default};
    if (absolute(choice.home)) return StorePath{*choice.home + kBelowHome, NamedBy::Default};
    return Error{ErrorKind::InvalidArgument,
                 "no place for the store, since HOME is not an absolute path: set it, or name a file with --store"};
}

Outcome ensure_default_folders(const std::string& path) {
    for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string folder = path.substr(0, slash);
        struct stat found {};
        if (::stat(folder.c_str(), &found) == 0) continue;  // not a folder: creating the next one tells
        if (::mkdir(folder.c_str(), S_IRWXU) == 0) {
            if (::chmod(folder.c_str(), S_IRWXU) != 0) return posix_error(errno, "cannot set the mode of " + folder);
        } else if (errno != EEXIST) {
            return posix_error(errno, "cannot create the store's folder " + folder, Absence::NotFound);
        }
    }
    return Done{};
}

Result<StorePlace> check_store_place(const std::string& path, Access access) {
    if (path.find('\0') != std::string::npos) return posix_error(EINVAL, "cannot use the store " + path);
    std::string at = path;
    for (int links = 0; links <= kMaxLinks; ++links) {
        auto step = look(at, access);
        if (!step) return step.error();
        if (step->place) return *std::move(step->place);
        at = step->next;
    }
    return posix_error(ELOOP, "cannot use the store " + path);
}

}  // namespace hagi
