// The whole of a terminal, for as long as a program draws on it: the other screen buffer, no cursor, keys as they are
// typed. The terminal is as it was whenever the program does not run: after its end, whatever ended it but SIGKILL, and
// while it is suspended.
#pragma once

#include <termios.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/stop_signal.hpp"

namespace hagi {

// At most one at a time, made before any other thread. Signals that end the program by default and that nobody else has
// blocked give the terminal back first; SIGINT, SIGTERM and SIGHUP are the caller's (StopSignal, made before).
class FullScreen {
public:
    // Both are terminals, and stay open. In the background this stops the process until it comes to the front.
    FullScreen(int input, int output);
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    struct Size {
        int columns = 80;
        int rows = 24;
    };
    [[nodiscard]] Size size() const;

    // Lines from the top, one a row, each at most as wide as the screen; rows below the last are emptied.
    void draw(const std::vector<std::string>& lines);

    // Readable when there is something to take.
    [[nodiscard]] std::vector<int> descriptors() const;

    // The bytes typed since the last call. Suspends the program where that was asked for, and returns when it goes on.
    // Absent: the terminal is gone.
    std::optional<std::string> take_input();

private:
    using CrashHandlers = std::array<struct sigaction, 5>;

    void enter();
    void leave();
    void obey(int signal);
    void write(std::string_view text) const;

    StopSignal signals_;
    CrashHandlers before_{};
};

}  // namespace hagi
