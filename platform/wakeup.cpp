#include "platform/wakeup.hpp"

#include <sys/eventfd.h>

#include <cstdint>

namespace hagi {

Wakeup::Wakeup() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Wakeup::ring() const noexcept {
    const std::uint64_t one = 1;
    // It fails only where it is as readable as can be.
    [[maybe_unused]] const auto written = ::write(descriptor_.get(), &one, sizeof one);
}

void Wakeup::take() const noexcept {
    std::uint64_t rings = 0;
    [[maybe_unused]] const auto taken = ::read(descriptor_.get(), &rings, sizeof rings);
}

}  // namespace hagi
