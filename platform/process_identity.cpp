#include "platform/process_identity.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "platform/proc_file.hpp"

namespace hagi {

namespace {

// 0: not known. A /proc of another pid namespace numbers its processes differently, so it counts as none.
std::uint64_t own_pid_namespace() {
    std::array<char, 32> self{};
    const ssize_t length = ::readlink("/proc/self", self.data(), self.size());
    if (length <= 0 || std::string(self.data(), static_cast<std::size_t>(length)) != std::to_string(::getpid()))
        return 0;
    struct stat found {};
    return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

std::optional<ProcessStat> stat_of(pid_t pid) {
    const auto text = read_proc_file("/proc/" + std::to_string(pid) + "/stat");
    return text ? parse_process_stat(*text) : std::nullopt;
}

std::string host_name() {
    utsname names{};
    return ::uname(&names) == 0 ? names.nodename : "";
}

bool no_such_process(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

std::optional<ProcessStat> parse_process_stat(const std::string& text) {
    const auto end_of_command = text.rfind(')');  // the command may itself hold spaces and parentheses
    if (end_of_command == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(end_of_command + 1));
    char state = 0;
    if (!(fields >> state)) return std::nullopt;
    std::int64_t value = 0;
    std::int64_t threads = 0;
    ProcessStat result;
    for (int field = 4; field <= 21; ++field) {
        if (!(fields >> value)) return std::nullopt;
        if (field == 5) result.group = static_cast<pid_t>(value);
        if (field == 20) threads = value;
    }
    if (!(fields >> result.start_ticks)) return std::nullopt;
    // The first thread of a process may have ended before the others.
    result.dead = (state == 'Z' || state == 'X') && threads <= 1;
    return result;
}

ProcessIdentity this_process() {
    const auto found = stat_of(::getpid());
    return {::getpid(), found ? found->start_ticks : 0, boot_id(), own_pid_namespace(), host_name()};
}

std::optional<ProcessIdentity> identity_of(pid_t pid) {
    const std::uint64_t pid_namespace = own_pid_namespace();
    const auto found = stat_of(pid);
    if (pid <= 0 || pid_namespace == 0 || !found || found->dead) return std::nullopt;
    return ProcessIdentity{pid, found->start_ticks, boot_id(), pid_namespace, host_name()};
}

Liveness is_alive(const ProcessIdentity& process) {
    const bool told_apart =
        process.pid > 0 && process.start_ticks != 0 && !process.boot_id.empty() && process.pid_namespace != 0;
    if (!told_apart || process.boot_id != boot_id() || process.pid_namespace != own_pid_namespace())
        return Liveness::Unknown;
    if (no_such_process(process.pid)) return Liveness::Gone;
    const auto found = stat_of(process.pid);
    if (!found) return no_such_process(process.pid) ? Liveness::Gone : Liveness::Unknown;
    return found->dead || found->start_ticks != process.start_ticks ? Liveness::Gone : Liveness::Alive;
}

namespace {

// Of processes that have ended and wait for their parent to ask, which in a container may be never, the group's number
// stays in use. Without a full view of /proc nothing is proven.
bool only_the_dead_are_in(pid_t group) {
    if (!stat_of(1)) return false;
    DIR* const processes = ::opendir("/proc");
    if (processes == nullptr) return false;
    bool all_dead = true;
    while (const dirent* const entry = ::readdir(processes)) {
        const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        const auto found = pid > 0 ? stat_of(pid) : std::nullopt;
        if (found && found->group == group && !found->dead) all_dead = false;
    }
    ::closedir(processes);
    return all_dead;
}

}  // namespace

bool ProcessWitness::is_gone(const Binding& binding) {
    if (is_alive(binding.run) != Liveness::Gone) return false;
    // A group's number is not given to another process while the group has a member.
    const bool empty = binding.group <= 0 || (::kill(-binding.group, 0) != 0 && errno == ESRCH);
    return empty || only_the_dead_are_in(binding.group);
}

bool is_readable(int fd, Duration at_most) {
    pollfd poll_for{fd, POLLIN, 0};
    return ::poll(&poll_for, 1, static_cast<int>(at_most.count())) == 1;
}

UniqueFd open_process(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

}  // namespace hagi
