// Another process for a test: does one thing, says that it has, and then stays until it is killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>

namespace hagi::test {

class Child {
public:
    // Returns when `work` has returned in the child.
    explicit Child(const std::function<void()>& work) {
        int ready[2];
        if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            work();
            if (::write(ready[1], "r", 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char byte = 0;
        const bool is_ready = ::read(ready[0], &byte, 1) == 1;
        ::close(ready[0]);
        if (!is_ready) throw std::runtime_error("the child process failed");
    }
    ~Child() { kill_and_wait(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

    // It has ended, but its number is still taken.
    void kill() const {
        ::kill(pid_, SIGKILL);
        siginfo_t ended{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
    }

    void kill_and_wait() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

private:
    pid_t pid_ = 0;
};

}  // namespace hagi::test
