// stamp [--at-end] [COMMAND...]: says when a side of a hand-off runs its first instruction. Writes the steady clock's
// nanoseconds as a line and becomes COMMAND. With --at-end only once its standard input ends: the first instruction of
// leaving. Static and without a library's start-up, since its own start is part of what is measured.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

int main(int argc, char** argv) {
    char** command = argv + 1;
    if (argc > 1 && std::strcmp(*command, "--at-end") == 0) {
        ++command;
        char byte = 0;
        if (::write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
        while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
    }
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    char line[32];
    const int length =
        std::snprintf(line, sizeof line, "%jd\n", std::intmax_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
    if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) return 1;
    if (*command == nullptr) return 0;
    ::execv(*command, command);
    return 127;
}
