// Which of the processes that keep a grant alive its owner is shown.
#pragma once

#include <optional>

#include "lockcore/state.hpp"
#include "platform/process_identity.hpp"

namespace hagi {

struct ShownWatcher {
    const Watcher* watcher = nullptr;  // into the hold
    Liveness liveness = Liveness::Unknown;
};

// The newest that is alive, else the newest heartbeat that ended: a `run` that has ended is no loss.
std::optional<ShownWatcher> newest_watcher(const Hold& hold);

// One that is alive and is not `self`: two of them are one too many.
const Watcher* other_live_watcher(const Hold& hold, const ProcessIdentity& self);

}  // namespace hagi
