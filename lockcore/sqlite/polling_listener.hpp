// Rings do not reach other hosts. On a store that they share, this listener also looks every now and then whether
// somebody has changed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lockcore/change_signal.hpp"

namespace hagi::sqlite {

// A look costs a lock and a read on the file server, so not often; a hand-off's claim window is fifteen times as long.
inline constexpr Duration kLookForChange = std::chrono::seconds{2};

class PollingListener : public Listener {
public:
    // Changes whenever somebody else has changed the store; absent: cannot be told just now.
    using Version = std::function<std::optional<std::int64_t>()>;
    using Now = std::function<std::chrono::steady_clock::time_point()>;

    PollingListener(std::unique_ptr<Listener> inner, Version version, Now now = std::chrono::steady_clock::now);

    void arm() override;
    void sleep(Duration at_most, const Interrupts& interrupts) override;

private:
    bool changed();

    std::unique_ptr<Listener> inner_;
    Version version_;
    Now now_;
    std::optional<std::int64_t> armed_at_;
};

}  // namespace hagi::sqlite
