#include "platform/file_gate.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <sstream>
#include <utility>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"
#include "platform/proc_file.hpp"

#ifndef sigev_notify_thread_id  // glibc names the member only inside its union
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace hagi {

namespace {

using SteadyClock = std::chrono::steady_clock;

// How often the alarm goes off again. A signal that arrives between the look at the clock and the wait is lost,
// so one is not enough.
constexpr Duration kAlarmRepeat{10};

// Where no alarm can be had: short beside any deadline, long beside a turn at the gate.
constexpr Duration kPollInterval{1};
constexpr Duration kSharedPollInterval{10};  // each is a question to the file server

constexpr std::size_t kLongestNote = 128;

void wake_up(int) {}

timespec to_timespec(SteadyClock::duration time) {
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
    return {static_cast<time_t>(nanoseconds / kNanosecondsPerSecond),
            static_cast<decltype(timespec::tv_nsec)>(nanoseconds % kNanosecondsPerSecond)};
}

// Interrupts the system calls of the calling thread, and of no other, from a point in time on.
class Alarm {
public:
    explicit Alarm(SteadyClock::duration after) {
        struct sigaction action {};
        action.sa_handler = wake_up;  // without SA_RESTART: the wait returns
        ::sigaction(SIGRTMIN, &action, nullptr);
        sigset_t wanted;
        ::sigemptyset(&wanted);
        ::sigaddset(&wanted, SIGRTMIN);
        ::pthread_sigmask(SIG_UNBLOCK, &wanted, &mask_before_);

        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGRTMIN;
        event.sigev_notify_thread_id = ::gettid();
        set_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
        const auto first = std::max<SteadyClock::duration>(after, std::chrono::microseconds{1});  // 0 would disarm it
        const itimerspec when{to_timespec(kAlarmRepeat), to_timespec(first)};
        if (set_) ::timer_settime(timer_, 0, &when, nullptr);
    }
    ~Alarm() {
        if (set_) ::timer_delete(timer_);
        ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // False: the user's pending signals are used up.
    [[nodiscard]] bool set() const { return set_; }

private:
    timer_t timer_{};
    sigset_t mask_before_{};
    bool set_ = false;
};

// 0, or the errno: EWOULDBLOCK where the deadline passed first.
int poll_for_lock(int fd, SteadyClock::time_point deadline, Duration interval) {
    const timespec pause = to_timespec(interval);
    while (SteadyClock::now() < deadline) {
        if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EWOULDBLOCK && errno != EINTR) return errno;
        ::nanosleep(&pause, nullptr);
    }
    return EWOULDBLOCK;
}

// The same, asleep until the kernel has it.
int wait_for_lock(int fd, SteadyClock::time_point deadline) {
    const Alarm alarm(deadline - SteadyClock::now());
    if (!alarm.set()) return poll_for_lock(fd, deadline, kPollInterval);
    while (SteadyClock::now() < deadline) {
        if (::flock(fd, LOCK_EX) == 0) return 0;
        if (errno != EINTR) return errno;
    }
    return EWOULDBLOCK;
}

bool same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Some filesystems (btrfs) show files under another device than /proc/locks does.
bool has_open(pid_t pid, const struct stat& file) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    if (!entries) return false;
    while (const dirent* entry = ::readdir(entries.get())) {
        struct stat found {};
        if (::fstatat(::dirfd(entries.get()), entry->d_name, &found, 0) == 0 && same_file(found, file)) return true;
    }
    return false;
}

std::string in_words(Duration time) {
    if (time.count() % 1000 == 0) return std::to_string(time.count() / 1000) + " s";
    return std::to_string(time.count()) + " ms";
}

std::string command_of(pid_t pid) {
    std::string command = read_proc_file("/proc/" + std::to_string(pid) + "/comm").value_or("");
    if (!command.empty() && command.back() == '\n') command.pop_back();
    return escaped(command);
}

}  // namespace

FileGate::FileGate(std::string path, SideFileMode mode, GateWait wait)
    : path_(std::move(path)), mode_(mode), wait_(wait) {}

bool FileGate::still_in_place() const {
    struct stat ours {};
    struct stat named {};
    return ::fstat(file_.get(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0 && same_file(ours, named);
}

Outcome FileGate::take(Duration at_most) {
    if (!file_) {
        auto opened = open_side_file(path_, O_RDWR, mode_);
        if (!opened) return opened.error();
        file_ = *std::move(opened);
    }
    int error = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == EWOULDBLOCK && at_most > Duration::zero()) {
        const auto deadline = SteadyClock::now() + at_most;
        error = wait_ == GateWait::Polling ? poll_for_lock(file_.get(), deadline, kSharedPollInterval)
                                           : wait_for_lock(file_.get(), deadline);
    }
    if (error == 0) return Done{};
    if (error == EWOULDBLOCK) return Error{ErrorKind::Unreachable, busy_message(holder(), at_most)};
    return posix_error(error, "cannot lock " + path_);
}

Outcome FileGate::enter(Duration at_most) {
    // A file that was removed under us is another gate than the one that is found by name.
    constexpr int kTries = 3;
    for (int attempt = 0; attempt < kTries && !entered_; ++attempt) {
        if (auto taken = take(at_most); !taken) return taken;
        entered_ = still_in_place();
        if (!entered_) file_.reset();
    }
    if (entered_) return Done{};
    return Error{ErrorKind::Unreachable, escaped(path_) + " keeps being removed: leave it in place, then try again"};
}

void FileGate::leave() noexcept {
    if (!entered_) return;
    entered_ = false;
    if (::flock(file_.get(), LOCK_UN) != 0) file_.reset();  // closing frees it, too
}

std::string FileGate::note() const {
    // Closing another descriptor of it costs nobody a lock of this kind.
    const UniqueFd own(file_ ? -1 : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::array<char, kLongestNote> text{};
    const ssize_t size = ::pread(file_ ? file_.get() : own.get(), text.data(), text.size(), 0);
    return size <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

void FileGate::leave_note(std::string_view text) noexcept {
    const bool written = ::lseek(file_.get(), 0, SEEK_SET) == 0 && ::write(file_.get(), text.data(), text.size()) >= 0;
    static_cast<void>(written);  // where it is not, less is known to whoever comes next
}

std::optional<GateHolder> FileGate::holder() const {
    struct stat gate {};
    if (::stat(path_.c_str(), &gate) != 0) return std::nullopt;
    for (const WriteLock& lock : write_locks_on(read_proc_file("/proc/locks").value_or(""), gate.st_ino)) {
        if (lock.device == gate.st_dev || has_open(lock.pid, gate)) return GateHolder{lock.pid, command_of(lock.pid)};
    }
    return std::nullopt;
}

std::string busy_message(const std::optional<GateHolder>& holder, Duration waited) {
    std::string text = "the store is busy";
    if (waited > Duration::zero()) text = "the store has been busy for " + in_words(waited);
    if (!holder) return text + ", with a process that cannot be seen from here: try again";
    text += ", just now with process " + std::to_string(holder->pid);
    if (!holder->command.empty()) text += " (" + holder->command + ")";
    return text + ": try again, or look at that process";
}

std::vector<WriteLock> write_locks_on(const std::string& proc_locks, ino_t inode) {
    std::vector<WriteLock> found;
    std::istringstream lines(proc_locks);
    for (std::string line; std::getline(lines, line);) {
        // "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"; who waits has "->" before FLOCK
        std::istringstream fields(line);
        std::string number, type, advisory, access, colon_separated;
        pid_t pid = 0;
        if (!(fields >> number >> type >> advisory >> access >> pid >> colon_separated)) continue;
        if (type != "FLOCK" || access != "WRITE" || pid <= 0) continue;
        unsigned major = 0, minor = 0;
        ino_t at = 0;
        char separator = 0;
        std::istringstream file(colon_separated);
        if (!(file >> std::hex >> major >> separator >> minor >> separator >> std::dec >> at)) continue;
        if (at == inode) found.push_back({pid, makedev(major, minor)});
    }
    return found;
}

}  // namespace hagi
