#include "tests/support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace hagi::test {
namespace {

constexpr std::chrono::seconds kPatience{60};

struct Pipe {
    UniqueFd reader;
    UniqueFd writer;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// As exec wants them; `texts` outlives it.
std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// What posix_spawn is to do, freed in the end.
class SpawnPlan {
public:
    // `input`: -1 for none.
    SpawnPlan(int input, int output, int errors) {
        ::posix_spawn_file_actions_init(&actions);
        if (input < 0)
            ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        else
            ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);

        ::posix_spawnattr_init(&attributes);
        sigset_t none;
        sigset_t as_by_default;
        ::sigemptyset(&none);
        ::sigemptyset(&as_by_default);
        for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::sigaddset(&as_by_default, signal);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &as_by_default);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

void await_readable(int fd, const char* what) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) throw std::runtime_error(std::string("waited too long for ") + what);
        pollfd waited_for{fd, POLLIN, 0};
        if (::poll(&waited_for, 1, static_cast<int>(left.count())) > 0) return;
    }
}

// Empty at the end.
std::string read_some(int fd, const char* what) {
    await_readable(fd, what);
    std::array<char, 4096> bytes{};
    ssize_t count = 0;
    do count = ::read(fd, bytes.data(), bytes.size());
    while (count < 0 && errno == EINTR);
    return count <= 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(count));
}

std::string read_all(int fd, const char* what) {
    std::string all;
    for (std::string some = read_some(fd, what); !some.empty(); some = read_some(fd, what)) all += some;
    return all;
}

}  // namespace

Process::Process(std::vector<std::string> words, std::vector<std::string> environment, Input input) {
    Pipe written = input == Input::Pipe ? make_pipe() : Pipe{};
    Pipe output = make_pipe();
    Pipe errors = make_pipe();
    const SpawnPlan plan(written.reader.get(), output.writer.get(), errors.writer.get());
    const int failed = ::posix_spawnp(&pid_, words.at(0).c_str(), &plan.actions, &plan.attributes,
                                      pointers(words).data(), pointers(environment).data());
    if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
    alive_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    input_ = std::move(written.writer);
    output_ = std::move(output.reader);
    errors_ = std::move(errors.reader);
}

Process::~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void Process::write(const std::string& text) const {
    const auto ignored_before = ::signal(SIGPIPE, SIG_IGN);
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t count = ::write(input_.get(), rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(count));
    }
    ::signal(SIGPIPE, ignored_before);
}

std::optional<std::string> Process::read_line() {
    for (;;) {
        if (const auto end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        const std::string some = read_some(output_.get(), "a line");
        if (some.empty()) return std::nullopt;
        unread_ += some;
    }
}

std::string Process::await_line(const std::string& text) {
    std::string others;
    while (const auto line = read_line()) {
        if (line->find(text) != std::string::npos) return *line;
        others += *line + "\n";
    }
    throw std::runtime_error("ended without saying \"" + text + "\", but:\n" + others + rest_of_errors());
}

std::string Process::rest_of_output() {
    std::string rest = std::exchange(unread_, {});
    return rest + read_all(output_.get(), "the end of the output");
}

std::string Process::rest_of_errors() { return read_all(errors_.get(), "the end of the errors"); }

void Process::close_output() { output_.reset(); }

void Process::send(int signal) const {
    if (::kill(pid_, signal) != 0) throw std::runtime_error("the process cannot be signalled");
}

int Process::wait() {
    await_readable(alive_.get(), "the end of a process");
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto end_of_command = text.rfind(')');
    return end_of_command == std::string::npos ? '-' : text.at(end_of_command + 2);
}

Finished run_process(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
    Process process(words, environment);
    Finished finished;
    finished.out = process.rest_of_output();
    finished.err = process.rest_of_errors();
    finished.code = process.wait();
    return finished;
}

}  // namespace hagi::test
