// How one thread of a process wakes another that sleeps in poll.
#pragma once

#include "platform/unique_fd.hpp"

namespace hagi {

class Wakeup {
public:
    Wakeup();

    // Readable from ring() to take(); -1: none could be had. For Interrupts and poll.
    [[nodiscard]] int fd() const { return descriptor_.get(); }

    // From any thread. Never blocks.
    void ring() const noexcept;

    // Makes it unreadable again. Take first, then look at what was rung for: so nothing is missed.
    void take() const noexcept;

private:
    UniqueFd descriptor_;
};

}  // namespace hagi
