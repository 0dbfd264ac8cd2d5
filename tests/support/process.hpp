// A program that a test starts, listens to and stops. Whatever does not come within a minute, or after it is wanted no
// more, fails the test by an exception; nothing here is right because it slept long enough.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "platform/unique_fd.hpp"

namespace hagi::test {

class Process {
public:
    enum class Input { None, Pipe };  // of its descriptor 0: /dev/null, or what is written below

    // `words[0]` is looked for in PATH; `environment` as NAME=VALUE, whole. No signal is blocked or ignored at its
    // start, and it inherits no descriptor but 0, 1 and 2.
    Process(std::vector<std::string> words, std::vector<std::string> environment, Input input = Input::None);
    ~Process();  // kills it
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

    // To its stdin, whole. Whether it still reads is not looked at: a program that has ended shows it by its output.
    void write(const std::string& text) const;
    void close_input() { input_.reset(); }

    // The next line of its stdout without its newline; absent at the end.
    std::optional<std::string> read_line();

    // Reads on to a line that contains `text`, and returns it.
    std::string await_line(const std::string& text);

    // All that is left of its stdout or stderr.
    std::string rest_of_output();
    std::string rest_of_errors();

    // Nobody reads its stdout any more.
    void close_output();

    void send(int signal) const;

    // Its exit code, or 128 and the signal that ended it.
    int wait();

private:
    pid_t pid_ = 0;
    UniqueFd alive_;
    UniqueFd input_;
    UniqueFd output_;
    UniqueFd errors_;
    std::string unread_;
};

// As /proc/PID/stat has it: T is stopped, - is gone.
char state_of(pid_t pid);

struct Finished {
    int code = 0;
    std::string out;
    std::string err;
};
Finished run_process(const std::vector<std::string>& words, const std::vector<std::string>& environment);

}  // namespace hagi::test
