#include "platform/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace hagi {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

std::optional<int> terminal_width(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return size.ws_col;
}

}  // namespace hagi
