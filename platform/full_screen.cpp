#include "platform/full_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace hagi {
namespace {

// The other buffer, no cursor, no wrapping: a line that is wider than was thought must not push the rest down.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::array kCrashes = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

// Where a handler finds it: of the one screen that there is.
struct Taken {
    int input = -1;
    int output = -1;
    termios modes{};  // as they were
};
Taken taken;

// Calls only what a signal handler may.
void give_back() {
    if (::write(taken.output, kLeave.data(), kLeave.size()) < 0) {
        // Nothing is left to be done for a terminal that takes no more.
    }
    ::tcsetattr(taken.input, TCSANOW, &taken.modes);
}

// SA_RESETHAND: the second time it ends the program as by default.
extern "C" void give_back_and_crash(int signal) {
    give_back();
    ::raise(signal);
}

termios with_keys_as_typed(termios modes) {
    modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S would hold up this process, not only the picture
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    return modes;
}

[[noreturn]] void die_of(int signal) {
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::_exit(128 + signal);
}

}  // namespace

FullScreen::FullScreen(int input, int output)
    : signals_({SIGTSTP, SIGCONT, SIGWINCH, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ}) {
    taken = {input, output, {}};
    ::tcgetattr(input, &taken.modes);
    struct sigaction crash {};
    crash.sa_handler = give_back_and_crash;
    crash.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (std::size_t i = 0; i < kCrashes.size(); ++i) ::sigaction(kCrashes[i], &crash, &before_[i]);
    enter();
}

FullScreen::~FullScreen() {
    leave();
    for (std::size_t i = 0; i < kCrashes.size(); ++i) ::sigaction(kCrashes[i], &before_[i], nullptr);
    taken = {};
}

// The modes first: in the background that stops the process before anything is drawn over what is in front.
void FullScreen::enter() {
    const termios modes = with_keys_as_typed(taken.modes);
    ::tcsetattr(taken.input, TCSANOW, &modes);
    write(kEnter);
}

void FullScreen::leave() { give_back(); }

FullScreen::Size FullScreen::size() const {
    winsize size{};
    if (::ioctl(taken.output, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
    return {size.ws_col, size.ws_row};
}

void FullScreen::draw(const std::vector<std::string>& lines) {
    std::string picture = "\x1b[H";
    for (const std::string& line : lines) {
        if (&line != &lines.front()) picture += "\r\n";
        picture += "\x1b[K" + line;  // emptied first: behind the last column that would take the last character
    }
    write(picture + "\x1b[J");
}

std::vector<int> FullScreen::descriptors() const {
    std::vector<int> descriptors{taken.input};
    if (signals_.fd() >= 0) descriptors.push_back(signals_.fd());
    return descriptors;
}

std::optional<std::string> FullScreen::take_input() {
    while (const auto signal = signals_.take()) obey(*signal);
    pollfd typed{taken.input, POLLIN, 0};
    if (::poll(&typed, 1, 0) <= 0) return "";
    if ((typed.revents & POLLIN) == 0) return std::nullopt;
    std::array<char, 256> bytes{};
    const ssize_t count = ::read(taken.input, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return "";
    if (count <= 0) return std::nullopt;
    return std::string(bytes.data(), static_cast<std::size_t>(count));
}

void FullScreen::obey(int signal) {
    switch (signal) {
        case SIGTSTP:
            leave();
            ::raise(SIGSTOP);
            enter();
            break;
        case SIGCONT:   // after a SIGSTOP, which nobody hears; the shell has changed the modes
        case SIGWINCH:  // what was drawn has lost its shape
            enter();
            break;
        default: leave(); die_of(signal);
    }
}

void FullScreen::write(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t written = ::write(taken.output, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace hagi
