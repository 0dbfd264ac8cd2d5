#include "tests/bench/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hagi::test {
namespace {

struct Pipe {
    int reading = -1;
    int writing = -1;
};

Pipe make_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot_measure("no pipe");
    return {ends[0], ends[1]};
}

void close_if_open(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

pid_t spawn(const Arguments& arguments, int input, int output) {
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (input < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (output < 0) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);

    std::vector<std::string> texts = arguments;
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);

    pid_t pid = -1;
    const int failure = ::posix_spawn(&pid, pointers.front(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) cannot_measure(arguments.front() + " does not start: " + std::strerror(failure));
    return pid;
}

}  // namespace

void cannot_measure(const std::string& why) { throw std::runtime_error("cannot measure: " + why); }

Child::Child(const Arguments& arguments, const Streams& streams) : name_(arguments.front()) {
    Pipe to_child;
    Pipe from_child;
    if (streams.input == Input::Piped) to_child = make_pipe();
    if (streams.output == Output::Piped) from_child = make_pipe();
    pid_ = spawn(arguments, streams.input == Input::Lent ? streams.lent : to_child.reading, from_child.writing);
    close_if_open(to_child.reading);
    close_if_open(from_child.writing);
    input_ = to_child.writing;
    output_ = from_child.reading;
    for (std::size_t i = 1; i < arguments.size(); ++i) name_.append(" ").append(arguments[i]);
}

Child::~Child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    close_if_open(input_);
    close_if_open(output_);
}

int Child::wait() {
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) cannot_measure("lost sight of " + name_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Child::wait_for_success() {
    const int code = wait();
    if (code != 0) cannot_measure(name_ + " ended with exit " + std::to_string(code));
}

std::optional<std::string> Child::read_line() const {
    std::string line;
    for (char c = 0; ::read(output_, &c, 1) == 1; line += c)
        if (c == '\n') return line;
    return std::nullopt;
}

void Child::write_line() {
    if (::write(input_, "\n", 1) != 1) cannot_measure(name_ + " does not listen");
}

void Child::close_input() { close_if_open(input_); }

void Child::await_sleep() const {
    const std::string path = "/proc/" + std::to_string(pid_) + "/stat";
    for (;;) {
        std::ifstream file(path);
        std::string stat;
        std::getline(file, stat);
        const std::size_t name_end = stat.rfind(')');
        if (name_end == std::string::npos || name_end + 2 >= stat.size()) cannot_measure("cannot read " + path);
        const char state = stat[name_end + 2];
        if (state == 'S') return;
        if (state == 'Z') cannot_measure(name_ + " ended before it waited");
        ::sched_yield();
    }
}

void run(const Arguments& arguments) { Child(arguments).wait_for_success(); }

std::string find_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        folder.append("/").append(name);
        if (::access(folder.c_str(), X_OK) == 0) return folder;
    }
    cannot_measure("no program " + name);
}

long status_field(pid_t pid, const std::string& field) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind(field + ":", 0) == 0) return std::strtol(line.c_str() + field.size() + 1, nullptr, 10);
    cannot_measure("/proc says nothing of " + field + " of process " + std::to_string(pid));
}

}  // namespace hagi::test
