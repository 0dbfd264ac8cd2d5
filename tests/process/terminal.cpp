#include "tests/process/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace hagi::test {
namespace {

constexpr int kPatience = 60'000;

[[noreturn]] void become(const Hagi& hagi, Words& words) {
    ::setenv("HAGI_LOCK_STORE", hagi.store().c_str(), 1);
    ::setenv("HAGI_TEST_BINARY", HAGI_BINARY, 1);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
}

}  // namespace

Terminal::Terminal(const Hagi& hagi, Words words) {
    int master = -1;
    int slave = -1;
    winsize size{24, 80, 0, 0};
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
    master_.reset(master);
    ::tcgetattr(slave, &before_);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(master);
        if (::login_tty(slave) != 0) ::_exit(126);
        become(hagi, words);
    }
    ::close(slave);
    if (pid_ < 0) throw std::runtime_error("no process");
}

Terminal::~Terminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void Terminal::type(const std::string& text) const {
    if (::write(master_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("the terminal takes no text");
}

std::string Terminal::await_text(const std::string& text) {
    for (;;) {
        if (const auto found = unread_.find(text); found != std::string::npos) {
            std::string read = unread_.substr(0, found + text.size());
            unread_.erase(0, read.size());
            return read;
        }
        if (!read_more()) throw std::runtime_error("ended without " + text + " but: " + unread_);
    }
}

std::string Terminal::rest() {
    while (read_more()) continue;
    return std::exchange(unread_, {});
}

int Terminal::wait_for_change() {
    int status = 0;
    const auto changed = [&] { return ::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_; };
    await(changed, "the program neither stops nor ends");
    if (!WIFSTOPPED(status)) pid_ = 0;
    return status;
}

int Terminal::wait() {
    const int status = wait_for_change();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

void Terminal::resize(unsigned short columns, unsigned short rows) const {
    const winsize size{rows, columns, 0, 0};
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

// Asked on the master's side, Linux tells the modes of the other.
bool Terminal::is_as_before() const {
    termios now{};
    if (::tcgetattr(master_.get(), &now) != 0) return false;
    return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag && now.c_cflag == before_.c_cflag &&
           now.c_lflag == before_.c_lflag && std::memcmp(now.c_cc, before_.c_cc, sizeof now.c_cc) == 0;
}

bool Terminal::read_more() {
    pollfd readable{master_.get(), POLLIN, 0};
    if (::poll(&readable, 1, kPatience) != 1) throw std::runtime_error("waited too long behind: " + unread_);
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(master_.get(), bytes.data(), bytes.size());
    if (count <= 0) return false;  // EIO: nobody has the terminal open any more
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

}  // namespace hagi::test
