#include "platform/child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

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

void use_default(int signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
}

// The words and the environment of an exec, made before there is a child that must not allocate.
class Program {
public:
    Program(const std::vector<std::string>& command, const ChildProcess::Environment& additions) : command_(command) {
        for (const std::string& word : command_) words_.push_back(word.c_str());
        words_.push_back(nullptr);
        for (const auto& [name, value] : additions) added_.emplace_back(name).append("=").append(value);
        for (char** entry = environ; *entry != nullptr; ++entry)
            if (!is_replaced(*entry)) environment_.push_back(*entry);
        for (const std::string& entry : added_) environment_.push_back(entry.c_str());
        environment_.push_back(nullptr);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Returns only the errno of a failure.
    [[nodiscard]] int execute() const {
        ::execvpe(words_[0], const_cast<char* const*>(words_.data()),  // NOLINT(*-const-cast)
                  const_cast<char* const*>(environment_.data()));      // NOLINT(*-const-cast)
        return errno;
    }

private:
    [[nodiscard]] bool is_replaced(std::string_view entry) const {
        const auto has_its_name = [&](const std::string& added) {
            return entry.substr(0, entry.find('=') + 1) == added.substr(0, added.find('=') + 1);
        };
        return std::any_of(added_.begin(), added_.end(), has_its_name);
    }

    const std::vector<std::string>& command_;
    std::vector<std::string> added_;
    std::vector<const char*> words_;
    std::vector<const char*> environment_;
};

// A process on this one's memory, with a stack of its own. A fork would copy what this process is about to change,
// which costs more than all the rest of a short run. Until its exec the other process only calls the kernel, and
// nothing that can fail as long as this one runs beside it, for the two share errno. It ends by returning, since at a
// call that does not return AddressSanitizer complains of the stack that it does not know. Whatever ends one of the two
// leaves the other alone, but for the kernel's want of memory and a core dump, which end all on one memory: then the
// command dies (PDEATHSIG), and what it has started is left to the lease.
template <class Part>
pid_t start_beside(int (*life)(void*), const Part& part, std::size_t stack, Part*& placed) {
    constexpr std::size_t kRoom = 65536;
    // Never unmapped: the other process may outlive whoever started it. Its stack grows down towards its part.
    const std::size_t size = kRoom + stack;
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return -1;
    placed = new (memory) Part(part);
    constexpr std::size_t kAlignment = 64;
    return ::clone(life, static_cast<char*>(memory) + size / kAlignment * kAlignment, CLONE_VM | SIGCHLD, placed);
}

struct Guardian {
    int orders = -1;
    int orders_end = -1;  // its starter's, of which it must not keep a copy
};

// The whole life of the guardian: it sleeps on the pipe and outlives signals from the terminal, since it has a session
// of its own. Race: killed between the command's end and the last word, its starter leaves a number behind that by then
// could be another group's.
int guard(void* argument) {
    const auto& self = *static_cast<const Guardian*>(argument);
    ::setsid();
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::close(self.orders_end);
    pid_t group = 0;
    pid_t next = 0;
    while (read_whole(self.orders, &next, sizeof next)) group = next;
    if (group > 0) ::kill(-group, SIGKILL);
    return 0;
}

int shell_exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

struct HeldChild {
    pid_t starter = 0;
    int gate = -1;
    int report = -1;
    std::array<int, 2> ends_of_starter{-1, -1};
    sigset_t signal_mask{};
    const Program* program = nullptr;  // set before the word through the gate
};

namespace {

// The whole life of the held child.
int wait_and_become(void* argument) {
    const auto& self = *static_cast<const HeldChild*>(argument);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self.starter) return 127;  // killed before the line above
    for (const int end : self.ends_of_starter) ::close(end);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTOU, SIGCHLD}) use_default(signal);
    ::sigprocmask(SIG_SETMASK, &self.signal_mask, nullptr);
    char word = 0;
    if (!read_whole(self.gate, &word, sizeof word)) return 127;
    // From here its starter waits for the report, so errno is this process's.
    const int error = self.program->execute();
    write_whole(self.report, &error, sizeof error);
    return 127;
}

}  // namespace

Result<ChildProcess> ChildProcess::hold(std::vector<std::string> command, const sigset_t& signal_mask) {
    // Orphans of the command become this process' children, so that the end of the last one is heard of.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ChildProcess child;
    child.command_ = std::move(command);

    auto orders = make_pipe();
    Guardian* guardian = nullptr;
    if (!orders || start_beside(guard, {orders->read.get(), orders->write.get()}, 0, guardian) < 0)
        return posix_error(errno, "the command cannot be started");
    child.guardian_ = std::move(orders->write);

    auto gate = make_pipe();
    auto report = make_pipe();
    if (!gate || !report) return posix_error(errno, "a pipe for the command cannot be made");
    const HeldChild held{::getpid(),  gate->read.get(), report->write.get(), {gate->write.get(), child.guardian_.get()},
                         signal_mask, nullptr};
    // The C library lays out the words of a script once more, on the stack.
    const std::size_t words = (child.command_.size() + 2) * sizeof(char*);
    child.pid_ = start_beside(wait_and_become, held, words, child.held_);
    if (child.pid_ < 0) return posix_error(errno, "the command cannot be started");
    ::setpgid(child.pid_, child.pid_);  // in both, so that neither depends on who runs first

    child.gate_ = std::move(gate->write);
    child.report_ = std::move(report->read);
    write_whole(child.guardian_.get(), &child.pid_, sizeof child.pid_);
    return child;
}

ChildProcess::~ChildProcess() {
    if (!guardian_) return;
    const pid_t nobody = 0;
    if (group_is_empty()) write_whole(guardian_.get(), &nobody, sizeof nobody);
}

int ChildProcess::let_go(const Environment& additions) {
    const Program program(command_, additions);
    held_->program = &program;
    const char word = 0;
    const bool told = write_whole(gate_.get(), &word, sizeof word);
    gate_.reset();
    int error = told ? 0 : EPIPE;
    if (told && !read_whole(report_.get(), &error, sizeof error)) return 0;
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
