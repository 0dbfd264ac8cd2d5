#include "platform/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "platform/posix_error.hpp"

namespace hagi {
namespace {

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

std::optional<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// False at the end of the pipe or when it is broken.
bool read_whole(int fd, void* target, std::size_t size) {
    auto* bytes = static_cast<char*>(target);
    while (size > 0) {
        const ssize_t got = ::read(fd, bytes, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_whole(int fd, const void* source, std::size_t size) {
    const auto* bytes = static_cast<const char*>(source);
    while (size > 0) {
        const ssize_t put = ::write(fd, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        size -= static_cast<std::size_t>(put);
    }
    return true;
}

// In one piece, since each write wakes the reader.
bool write_text(int fd, const std::string& text) {
    const std::size_t size = text.size();
    return write_whole(fd, (std::string(reinterpret_cast<const char*>(&size), sizeof size) + text).data(),
                       sizeof size + size);
}

std::optional<std::string> read_text(int fd) {
    std::size_t size = 0;
    if (!read_whole(fd, &size, sizeof size)) return std::nullopt;
    std::string text(size, '\0');
    if (!read_whole(fd, text.data(), size)) return std::nullopt;
    return text;
}

// NAME, NUL, value, NUL for each.
std::string packed(const ChildProcess::Environment& additions) {
    std::string text;
    for (const auto& [name, value] : additions) text += name + '\0' + value + '\0';
    return text;
}

void set_packed(const std::string& additions) {
    for (std::size_t at = 0; at < additions.size();) {
        const char* const name = additions.data() + at;
        const char* const value = name + std::strlen(name) + 1;
        ::setenv(name, value, 1);
        at = static_cast<std::size_t>(value + std::strlen(value) + 1 - additions.data());
    }
}

void use_default(int signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

// The whole life of the guardian: it sleeps on the pipe and outlives signals from the terminal, since it has a session
// of its own. A race remains: killed between the command's end and the last word, its starter leaves a number behind
// that by then could be another group's.
[[noreturn]] void guard(UniqueFd& orders) {
    ::setsid();
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const int keep = orders.get();
    for (int fd = 0; fd < 3; ++fd)
        if (fd != keep) ::close(fd);
    pid_t group = 0;
    pid_t next = 0;
    while (read_whole(keep, &next, sizeof next)) group = next;
    if (group > 0) ::kill(-group, SIGKILL);
    ::_exit(0);
}

[[noreturn]] void become(const std::vector<std::string>& command, int report) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));  // NOLINT
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    const int error = errno;
    write_whole(report, &error, sizeof error);
    ::_exit(127);
}

// The whole life of the held child.
[[noreturn]] void wait_and_become(const std::vector<std::string>& command, pid_t starter, int gate, int report,
                                  const sigset_t& mask) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != starter) ::_exit(127);  // killed before the line above
    for (const int signal : {SIGPIPE, SIGTTOU, SIGCHLD}) use_default(signal);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    const auto additions = read_text(gate);
    if (!additions) ::_exit(127);
    set_packed(*additions);
    become(command, report);
}

int shell_exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Result<ChildProcess> ChildProcess::hold(std::vector<std::string> command, const sigset_t& signal_mask) {
    auto gate = make_pipe();
    auto report = make_pipe();
    auto orders = make_pipe();
    if (!gate || !report || !orders) return posix_error(errno, "a pipe for the command cannot be made");

    // Orphans of the command become this process' children, so that the end of the last one is heard of.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);

    const pid_t guardian = ::fork();
    if (guardian < 0) return posix_error(errno, "the command cannot be started");
    if (guardian == 0) {
        gate.reset();
        report.reset();
        orders->write.reset();
        guard(orders->read);
    }

    const pid_t starter = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return posix_error(errno, "the command cannot be started");
    if (pid == 0) {
        gate->write.reset();
        orders.reset();
        wait_and_become(command, starter, gate->read.get(), report->write.get(), signal_mask);
    }
    ::setpgid(pid, pid);  // in both, so that neither depends on who runs first

    ChildProcess child;
    child.pid_ = pid;
    child.gate_ = std::move(gate->write);
    child.report_ = std::move(report->read);
    child.guardian_ = std::move(orders->write);
    write_whole(child.guardian_.get(), &pid, sizeof pid);
    return child;
}

ChildProcess::~ChildProcess() {
    if (!guardian_) return;
    const pid_t nobody = 0;
    if (group_is_empty()) write_whole(guardian_.get(), &nobody, sizeof nobody);
}

int ChildProcess::let_go(const Environment& additions) {
    const bool told = write_text(gate_.get(), packed(additions));
    gate_.reset();
    int error = 0;
    if (!told) return EPIPE;
    if (!read_whole(report_.get(), &error, sizeof error)) return 0;
    ::waitpid(pid_, nullptr, 0);
    return error;
}

std::optional<ChildProcess::Change> ChildProcess::take_change() {
    std::optional<Change> change;
    int status = 0;
    for (;;) {
        const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
        if (pid < 0 && errno == EINTR) continue;
        if (pid <= 0) return change;
        // To the last one: an orphan that is left unreaped keeps the group's number in use.
        if (pid == pid_) change = WIFSTOPPED(status) ? Change{true, 0} : Change{false, shell_exit_code(status)};
    }
}

void ChildProcess::signal_group(int signal) const { ::kill(-pid_, signal); }

// Refused is not empty: what sudo started is another user's.
bool ChildProcess::group_is_empty() const { return ::kill(-pid_, 0) != 0 && errno == ESRCH; }

void expect_children() { use_default(SIGCHLD); }

ForegroundLoan::ForegroundLoan(int terminal) : terminal_(terminal) {
    if (!::isatty(terminal_) || ::tcgetpgrp(terminal_) != ::getpgrp()) terminal_ = -1;
    // Taking the terminal back happens from the background, where it would stop this process.
    if (terminal_ >= 0) ::signal(SIGTTOU, SIG_IGN);  // NOLINT(cert-err33-c)
}

void ForegroundLoan::lend_to(pid_t group) {
    if (terminal_ >= 0 && ::tcgetpgrp(terminal_) == ::getpgrp()) lent_ = ::tcsetpgrp(terminal_, group) == 0;
}

void ForegroundLoan::take_back() {
    if (lent_) ::tcsetpgrp(terminal_, ::getpgrp());
    lent_ = false;
}

}  // namespace hagi
