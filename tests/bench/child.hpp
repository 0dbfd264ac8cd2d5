// Whole processes, as a shell would start them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace hagi::test {

using Arguments = std::vector<std::string>;  // the program's path first

// Ends the measurement: the machine or the program under test did not do what is to be measured.
[[noreturn]] void cannot_measure(const std::string& why);

enum class Output { Discarded, Piped };
enum class Input { Empty, Piped, Lent };

struct Streams {
    Output output = Output::Discarded;
    Input input = Input::Empty;
    int lent = -1;  // the caller's descriptor that becomes the standard input
};

// A running process; killed and reaped where it was not awaited.
class Child {
public:
    explicit Child(const Arguments& arguments, const Streams& streams = {});
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

    // Waits for its end; its exit code, or 128 and the signal.
    int wait();
    void wait_for_success();

    // The next line of its piped output; absent at its end.
    [[nodiscard]] std::optional<std::string> read_line() const;

    // To its piped input, which ends where it is closed.
    void write_line();
    void close_input();

    // Waits until it sleeps, so that a waiter is known to wait. Looks again and again: nothing tells of it.
    void await_sleep() const;

private:
    pid_t pid_ = -1;
    int input_ = -1;   // where piped, the writing end
    int output_ = -1;  // where piped, the reading end
    std::string name_;
};

// Starts `arguments` and waits for success.
void run(const Arguments& arguments);

// The path of a program found as a shell would.
std::string find_program(const std::string& name);

// The number behind `field` in /proc/PID/status.
long status_field(pid_t pid, const std::string& field);

}  // namespace hagi::test
