#include "lockcore/sqlite/polling_listener.hpp"

#include <algorithm>
#include <utility>

namespace hagi::sqlite {

PollingListener::PollingListener(std::unique_ptr<Listener> inner, Version version, Now now)
    : inner_(std::move(inner)), version_(std::move(version)), now_(std::move(now)) {}

void PollingListener::arm() {
    inner_->arm();
    armed_at_ = version_();
}

bool PollingListener::changed() {
    const auto version = version_();
    if (!armed_at_) armed_at_ = version;
    return version && *version != *armed_at_;
}

void PollingListener::sleep(Duration at_most, const Interrupts& interrupts) {
    const auto end = now_() + at_most;
    while (now_() < end) {
        const auto left = std::chrono::ceil<Duration>(end - now_());
        const Duration slice = std::min(left, kLookForChange);
        const auto slice_end = now_() + slice;
        inner_->sleep(slice, interrupts);
        // Woken early: by a ring, or by an interrupt.
        if (now_() < slice_end || changed()) return;
    }
}

}  // namespace hagi::sqlite
