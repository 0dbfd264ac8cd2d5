// How a command learns that it is to stop: signals become something to poll for, so that nothing runs in a handler.
#pragma once

#include <csignal>
#include <initializer_list>
#include <optional>

#include "platform/unique_fd.hpp"

namespace hagi {

// Blocks the signals in the calling thread while it lives; those inherited as ignored (nohup) stay ignored. Create it
// before any other thread. Where no descriptor is to be had, nothing is blocked and the signals act as by default.
class StopSignal {
public:
    StopSignal() : StopSignal({SIGINT, SIGTERM, SIGHUP}) {}
    StopSignal(std::initializer_list<int> signals);
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    // Readable when a signal waits; -1: none. For Interrupts and poll; never read it yourself.
    [[nodiscard]] int fd() const { return descriptor_.get(); }

    // The first signal that ever came; absent: none so far. Does not block.
    std::optional<int> received();

    // The next signal that has not been taken yet; absent: none. For who passes them on. Does not block.
    std::optional<int> take();

    // What a child process must be given back before it executes something else.
    [[nodiscard]] const sigset_t& mask_before() const { return mask_before_; }

private:
    UniqueFd descriptor_;
    sigset_t mask_before_{};
    std::optional<int> first_;
};

// A reader that went away, or a limit on the size of files, must not kill a command: writing fails instead.
void ignore_signals_of_failed_writes();

}  // namespace hagi
