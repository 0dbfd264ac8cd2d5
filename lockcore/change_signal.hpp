// How a watcher sleeps until somebody else has changed the store. Declared here, implemented by the machine:
// a watcher listens for itself (one owner of one lock), and whoever commits a change rings for those it concerns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockcore/types.hpp"

namespace hagi {

// File descriptors of the caller's that end its sleep when they become readable: signals, a process that ends.
// They are borrowed for the call and never read.
using Interrupts = std::vector<int>;

class Listener {
public:
    virtual ~Listener() = default;

    // From here on a ring ends the next sleep. Arm, then look at the store, then sleep: so no change is missed.
    virtual void arm() = 0;

    // Returns when rung, when an interrupt is readable, or after `at_most`; it may return early. Not later.
    virtual void sleep(Duration at_most, const Interrupts& interrupts) = 0;

    // A sentence for people on what it cannot hear just now; absent: it hears all that it should.
    [[nodiscard]] virtual std::optional<std::string> weakness() const { return std::nullopt; }
};

class ChangeSignal {
public:
    virtual ~ChangeSignal() = default;

    // Never fails: where rings cannot be heard (limits reached, shared filesystem) the listener only sleeps, and
    // its caller's own poll stands behind it.
    virtual std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) = 0;

    // An empty lock id and owner stand for every event of the store, for who follows the log.
    // Wakes every listener of `owner` on `lock_id`. Never blocks, never fails. Call it after the commit.
    virtual void ring(const LockId& lock_id, const Owner& owner) noexcept = 0;
};

}  // namespace hagi
