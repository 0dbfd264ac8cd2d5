#include "lockcore/wake.hpp"

#include <algorithm>

#include "lockcore/limits.hpp"

namespace hagi {

std::vector<Owner> owners_to_wake(const LockState& before, const LockState& after) {
    std::vector<Owner> woken;
    const auto add = [&](const Owner& owner) {
        if (std::find(woken.begin(), woken.end(), owner) == woken.end()) woken.push_back(owner);
    };
    const bool same_grant =
        before.hold && after.hold ? before.hold->epoch == after.hold->epoch : !before.hold && !after.hold;
    if (!same_grant && after.hold) add(after.hold->owner);
    if (!same_grant && before.hold) add(before.hold->owner);
    if (same_grant && after.hold && before.hold->nudges != after.hold->nudges) add(after.hold->owner);

    // A gap is a place that ended or whose turn has come; those behind one moved up.
    std::vector<Owner> moved_up;
    bool gap = false;
    auto now_at = after.queue.begin();
    for (const Waiter& was : before.queue) {
        const bool stays = now_at != after.queue.end() && now_at->owner == was.owner;
        if (!stays) {
            gap = true;
            add(was.owner);
            continue;
        }
        ++now_at;
        if (gap && moved_up.size() < kPlacesWoken) moved_up.push_back(was.owner);
    }
    for (const Owner& owner : moved_up) add(owner);
    return woken;
}

}  // namespace hagi
