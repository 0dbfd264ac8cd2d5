// For what nothing tells of: looks again and again, until it is so.
#pragma once

#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace hagi::test {

// Throws `otherwise` after a minute. Nothing is right because it waited long enough.
template <class IsSo>
void await(IsSo is_so, const std::string& otherwise = "waited too long") {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!is_so()) {
        if (std::chrono::steady_clock::now() > until) throw std::runtime_error(otherwise);
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace hagi::test
