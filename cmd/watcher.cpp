#include "cmd/watcher.hpp"

namespace hagi {

std::optional<ShownWatcher> newest_watcher(const Hold& hold) {
    std::optional<ShownWatcher> newest;
    for (const Watcher& watcher : hold.watchers) {
        const Liveness liveness = is_alive(watcher.process);
        if (liveness == Liveness::Gone && watcher.kind == WatcherKind::Run) continue;
        const bool better = !newest || liveness == Liveness::Alive || newest->liveness != Liveness::Alive;
        if (better) newest = ShownWatcher{&watcher, liveness};
    }
    return newest;
}

const Watcher* other_live_watcher(const Hold& hold, const ProcessIdentity& self) {
    for (const Watcher& watcher : hold.watchers)
        if (watcher.process != self && is_alive(watcher.process) == Liveness::Alive) return &watcher;
    return nullptr;
}

}  // namespace hagi
