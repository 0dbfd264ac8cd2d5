#include "lockcore/state.hpp"

#include <algorithm>

namespace hagi {

bool holds(const LockState& state, const Owner& owner) { return state.hold && state.hold->owner == owner; }

std::vector<Waiter>::iterator find_place(std::vector<Waiter>& queue, const Owner& owner) {
    return std::find_if(queue.begin(), queue.end(), [&](const Waiter& waiter) { return waiter.owner == owner; });
}

std::vector<Waiter>::const_iterator find_place(const std::vector<Waiter>& queue, const Owner& owner) {
    return std::find_if(queue.begin(), queue.end(), [&](const Waiter& waiter) { return waiter.owner == owner; });
}

const Ending* find_ending(const std::vector<Ending>& endings, const Owner& owner) {
    const auto found =
        std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) { return ending.owner == owner; });
    return found == endings.end() ? nullptr : &*found;
}

}  // namespace hagi
