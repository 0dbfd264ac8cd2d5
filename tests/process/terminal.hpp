// A program on a terminal of its own, which the test types on and reads.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>

#include "platform/unique_fd.hpp"
#include "tests/process/hagi.hpp"
#include "tests/support/await.hpp"

namespace hagi::test {

inline constexpr const char* kCtrlC = "\x03";
inline constexpr const char* kCtrlZ = "\x1a";

// The program is the first of the terminal's session.
class Terminal {
public:
    Terminal(const Hagi& hagi, Words words);
    ~Terminal();  // kills it
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

    void type(const std::string& text) const;

    // Reads on to the end of `text`; what was read up to there.
    std::string await_text(const std::string& text);

    // All that is left.
    std::string rest();

    // The status of waitpid: of a stop, or of the end.
    int wait_for_change();

    // The exit code; 1000 and the status where it was killed.
    int wait();

    void resize(unsigned short columns, unsigned short rows) const;

    // Whether its modes are what they were before the program began.
    [[nodiscard]] bool is_as_before() const;

private:
    bool read_more();

    pid_t pid_ = 0;
    UniqueFd master_;
    termios before_{};
    std::string unread_;
};

}  // namespace hagi::test
