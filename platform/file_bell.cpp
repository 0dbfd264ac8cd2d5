#include "platform/file_bell.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#include "lockcore/names.hpp"
#include "platform/side_file.hpp"

namespace hagi {

namespace {

constexpr const char* kFolderSuffix = "-bells";

constexpr int kRingFlags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
constexpr int kListenFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;

std::string folder_beside(const std::string& store) { return store + kFolderSuffix; }

UniqueFd open_folder(const std::string& store) {
    return UniqueFd(::open(folder_beside(store).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

UniqueFd open_or_make_folder(const std::string& store, const SideFileMode& mode) {
    if (UniqueFd folder = open_folder(store); folder || errno != ENOENT) return folder;
    const std::string path = folder_beside(store);
    const bool made = ::mkdir(path.c_str(), folder_mode(mode.mode)) == 0;
    // By its name, since under an umask that takes everything it cannot be opened.
    if (made) ::chmod(path.c_str(), S_IRWXU);
    UniqueFd folder = open_folder(store);
    if (made && folder) {
        SideFileMode wanted = mode;
        wanted.mode = folder_mode(mode.mode);
        apply_mode(folder.get(), wanted);
    }
    return folder;
}

// While listeners hold the folder shared, nobody who holds it exclusively can take a pipe that they have made and not
// opened yet for one without a listener. Exclusive holders are done in microseconds, on a busy machine in milliseconds;
// one that was stopped in the middle must not stop us, so after 100 ms we go on without it.
// Race: a pipe that it then removes after all is missed until the next arm().
void share_folder(int folder) {
    constexpr int kTries = 200;
    constexpr timespec kPause{0, 500'000};
    for (int attempt = 0; attempt < kTries && ::flock(folder, LOCK_SH | LOCK_NB) != 0; ++attempt)
        ::nanosleep(&kPause, nullptr);
}

// The pipe of a listener that was killed stays behind. Removes it unless somebody listens.
void remove_if_unheard(int folder, const char* name) {
    if (::flock(folder, LOCK_EX | LOCK_NB) != 0) return;  // the next one who rings will do it
    const UniqueFd heard(::openat(folder, name, kRingFlags));
    struct stat found {};
    if (!heard && errno == ENXIO && ::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISFIFO(found.st_mode))
        ::unlinkat(folder, name, 0);
}

UniqueFd open_or_make_pipe(int folder, const char* name, const SideFileMode& mode) {
    const bool made = ::mkfifoat(folder, name, mode.mode) == 0;
    if (made) ::fchmodat(folder, name, S_IRUSR | S_IWUSR, 0);
    UniqueFd pipe(::openat(folder, name, kListenFlags));
    struct stat found {};
    if (!pipe || ::fstat(pipe.get(), &found) != 0 || !S_ISFIFO(found.st_mode)) return {};
    if (made) apply_mode(pipe.get(), mode);
    return pipe;
}

FileListener::StoreIdentity identity_of(const std::string& store) {
    struct stat found {};
    if (::stat(store.c_str(), &found) != 0) return std::nullopt;
    return std::pair(found.st_dev, found.st_ino);
}

int poll_timeout(Duration at_most) {
    return static_cast<int>(std::clamp<Duration::rep>(at_most.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

FileListener::FileListener(std::shared_ptr<const std::string> store, std::string pipe_name)
    : store_(std::move(store)), pipe_name_(std::move(pipe_name)) {
    FileListener::arm();
}

FileListener::~FileListener() {
    if (!pipe_) return;
    pipe_.reset();
    try {
        if (const UniqueFd folder = open_folder(*store_); folder) remove_if_unheard(folder.get(), pipe_name_.c_str());
    } catch (const std::bad_alloc&) {  // whoever rings next removes it
    }
}

void FileListener::arm() {
    if (must_reopen()) open_pipe();
    if (!watch_) watch_store();
    if (!watch_) store_seen_ = identity_of(*store_);
}

bool FileListener::must_reopen() const {
    if (!pipe_) return true;
    pollfd hung_up{pipe_.get(), 0, 0};
    if (::poll(&hung_up, 1, 0) != 0) return true;
    struct stat ours {};
    struct stat named {};
    const std::string path = folder_beside(*store_) + "/" + pipe_name_;
    return ::fstat(pipe_.get(), &ours) != 0 || ::lstat(path.c_str(), &named) != 0 || ours.st_dev != named.st_dev ||
           ours.st_ino != named.st_ino;
}

void FileListener::open_pipe() {
    const SideFileMode mode = side_file_mode(*store_);
    UniqueFd fresh;
    if (const UniqueFd folder = open_or_make_folder(*store_, mode); folder) {
        share_folder(folder.get());
        fresh = open_or_make_pipe(folder.get(), pipe_name_.c_str(), mode);
    }
    // Only now the old one is closed: without a reader in between, whoever rings would think that nobody listens. On
    // failure it goes, too, since a descriptor that is hung up would end every sleep at once.
    pipe_ = std::move(fresh);
}

void FileListener::watch_store() {
    UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!watch) return;
    // IN_ATTRIB: a file that is still open somewhere loses its name without IN_DELETE_SELF.
    if (::inotify_add_watch(watch.get(), store_->c_str(), IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF) < 0) return;
    watch_ = std::move(watch);
}

void FileListener::sleep(Duration at_most, const Interrupts& interrupts) {
    std::vector<pollfd> waited_for;
    waited_for.reserve(interrupts.size() + 2);
    waited_for.push_back({pipe_.get(), 0, 0});  // a hang-up is always reported; bytes that a stranger wrote are not
    waited_for.push_back({watch_.get(), POLLIN, 0});
    for (const int interrupt : interrupts) waited_for.push_back({interrupt, POLLIN, 0});
    Duration left = at_most;
    bool woken = false;
    do {
        const Duration slice = watch_ ? left : std::min(left, kLookAtStore);
        woken = ::poll(waited_for.data(), waited_for.size(), poll_timeout(slice)) != 0 || store_changed();
        left -= slice;
    } while (!woken && left > Duration::zero());
    if (waited_for[1].revents == 0) return;
    // The name may stand for another file now, so the next arm() watches anew instead of draining this one.
    watch_.reset();
    store_seen_ = identity_of(*store_);
}

std::optional<std::string> FileListener::weakness() const {
    if (deaf())
        return "No bell can be made in " + escaped(folder_beside(*store_)) +
               ": others cannot wake this command, it looks now and then";
    if (watch_ || !store_seen_) return std::nullopt;
    return "This user has no inotify instance left (fs.inotify.max_user_instances): whether the store is still "
           "there is looked at every " +
           std::to_string(kLookAtStore / std::chrono::seconds(1)) + " s";
}

bool FileListener::store_changed() {
    if (watch_) return false;
    const StoreIdentity before = std::exchange(store_seen_, identity_of(*store_));
    return before != store_seen_;
}

FileBell::FileBell(std::string store) : store_(std::make_shared<const std::string>(std::move(store))) {}

std::unique_ptr<Listener> FileBell::listen(const LockId& lock_id, const Owner& owner) {
    return std::make_unique<FileListener>(store_, bell_name(lock_id, owner));
}

void FileBell::ring(const LockId& lock_id, const Owner& owner) noexcept try {
    const UniqueFd folder = open_folder(*store_);
    if (!folder) return;
    const std::string name = bell_name(lock_id, owner);
    const UniqueFd rung(::openat(folder.get(), name.c_str(), kRingFlags));
    if (!rung && errno == ENXIO) remove_if_unheard(folder.get(), name.c_str());
} catch (const std::bad_alloc&) {  // who is not woken looks by itself, a little later
}

std::string FileBell::folder() const { return folder_beside(*store_); }

std::string bell_name(const LockId& lock_id, const Owner& owner) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits: a clash only wakes somebody for nothing
    for (const char byte : lock_id.str() + '\0' + owner.str()) {
        hash ^= static_cast<unsigned char>(byte);
        hash *= 0x100000001b3;
    }
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return digits.data();
}

}  // namespace hagi
