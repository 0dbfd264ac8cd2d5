#include "platform/lock_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <sstream>
#include <utility>
#include <vector>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"
#include "platform/proc_file.hpp"
#include "platform/process_identity.hpp"

namespace hagi {

namespace {

// The first place tells that it is there every so often; who wonders watches for several times that, since an NFS
// client may show for a few seconds what it has read before.
constexpr Duration kTellEvery{500};
constexpr Duration kWatch{8000};
constexpr Duration kWatchEvery{100};

// Always as long, so that no rest of another's text stays behind it.
constexpr std::size_t kTextBytes = 256;

void pause(Duration length) {
    const timespec time{length.count() / 1000, (length.count() % 1000) * 1'000'000};
    ::nanosleep(&time, nullptr);
}

// 0, or the errno.
int try_whole(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

int try_bytes(int fd) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(fd, F_SETLK, &lock) == 0 ? 0 : errno;
}

bool refused(int error) { return error == EWOULDBLOCK || error == EACCES || error == EAGAIN; }

std::string text_of(const std::string& path) {
    // Opened anew: a network filesystem then asks the server again.
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::array<char, 512> bytes{};
    const ssize_t count = file ? ::read(file.get(), bytes.data(), bytes.size()) : 0;
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace

LockProbe::LockProbe(std::string path, SideFileMode mode) : path_(std::move(path)), mode_(mode) {}

LockProbe::~LockProbe() {
    if (!first_) return;
    // Before the locks go, so that nobody takes over a file that is about to vanish.
    ::unlink(path_.c_str());
    try {
        ::unlink((path_ + "-bytes").c_str());
    } catch (const std::bad_alloc&) {  // the next probe takes it over
    }
}

// Two files: on NFS a lock of one kind on a file is in the way of the other kind.
Outcome LockProbe::open_files() {
    auto whole = open_side_file(path_, O_RDWR, mode_);
    if (!whole) return whole.error();
    auto bytes = open_side_file(path_ + "-bytes", O_RDWR, mode_);
    if (!bytes) return bytes.error();
    whole_ = *std::move(whole);
    bytes_ = *std::move(bytes);
    return Done{};
}

// "BOOT PID COUNT HOST"
void LockProbe::recognize(const std::string& text) {
    std::istringstream fields(text);
    std::string boot, pid, count, host;
    if (!(fields >> boot >> pid >> count >> host)) return;
    same_machine_ = !boot_id().empty() && boot == boot_id();
    other_ = escaped("process " + pid + " on " + host);
}

// What a killed probe has left behind does not change any more.
bool LockProbe::somebody_is_here() {
    const std::string before = text_of(path_);
    recognize(before);
    for (Duration waited{}; waited < kWatch; waited += kWatchEvery) {
        pause(kWatchEvery);
        if (const std::string text = text_of(path_); text != before) {
            recognize(text);
            return true;
        }
    }
    return false;
}

Result<LockProbe::Verdict> LockProbe::look() {
    if (auto opened = open_files(); !opened) return opened.error();
    const bool untouched = text_of(path_).empty();
    const int whole = try_whole(whole_.get());
    const int bytes = try_bytes(bytes_.get());
    for (const int error : {whole, bytes})
        if (error != 0 && !refused(error)) return posix_error(error, "cannot lock " + path_);

    const bool both_refused = whole != 0 && bytes != 0;
    if (both_refused) {
        recognize(text_of(path_));
        return Verdict::Cross;
    }
    const bool both_here = whole == 0 && bytes == 0;
    // Two that start in the same instant may each get one lock: that is no verdict.
    if (!both_here || !untouched) {
        if (somebody_is_here()) {
            tell();  // the other place, too
            return Verdict::DoNotCross;
        }
        if (!both_here) return Error{ErrorKind::Unreachable, "another probe begins just now: run it again on one side"};
    }
    first_ = true;
    tell();
    return Verdict::First;
}

void LockProbe::tell() {
    const ProcessIdentity self = this_process();
    const std::string boot = self.boot_id.empty() ? "-" : self.boot_id;
    const std::string host = self.host.empty() ? "-" : self.host;
    told_ = boot + " " + std::to_string(self.pid) + " " + std::to_string(++count_) + " " + host;
    told_.resize(kTextBytes - 1, ' ');
    told_ += '\n';
    // A place that could not tell is taken for one that was left behind; the next time may do.
    if (::pwrite(whole_.get(), told_.data(), told_.size(), 0) > 0) ::fsync(whole_.get());
}

// Who writes here believes to hold the locks, as this place does.
bool LockProbe::contradicted() {
    const std::string text = text_of(path_);
    if (text.empty() || text == told_) return false;
    recognize(text);
    return true;
}

LockProbe::Verdict LockProbe::stay(Duration at_most, const Interrupts& interrupts) {
    std::vector<pollfd> polled;
    for (const int fd : interrupts) polled.push_back({fd, POLLIN, 0});
    for (Duration stayed{}; stayed < at_most; stayed += kTellEvery) {
        if (::poll(polled.data(), polled.size(), static_cast<int>(kTellEvery.count())) > 0) break;
        if (contradicted()) return Verdict::DoNotCross;
        tell();
    }
    return Verdict::First;
}

}  // namespace hagi
