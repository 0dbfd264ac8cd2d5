#include "cmd/lock_rows.hpp"

#include <algorithm>
#include <array>

#include "lockcore/windows.hpp"

namespace hagi {
namespace {

const std::optional<Hold>& hold_of(const Seen& seen) { return seen.lock->state.hold; }

}  // namespace

std::string_view state_word(const Seen& seen) {
    if (!hold_of(seen)) return "free";
    if (!hold_of(seen)->claimed_at) return "unclaimed";
    return stuck_for(*hold_of(seen), seen.now, seen.stuck_after) ? "stuck" : "held";
}

// ---- Which, and in which order ----

namespace {

constexpr std::array kOrders = {
    std::pair{SortBy::Lock, std::string_view("lock")},       std::pair{SortBy::Holder, std::string_view("holder")},
    std::pair{SortBy::PhaseName, std::string_view("phase")}, std::pair{SortBy::Held, std::string_view("held")},
    std::pair{SortBy::Age, std::string_view("age")},         std::pair{SortBy::Left, std::string_view("left")},
    std::pair{SortBy::Queue, std::string_view("queue")},
};

std::string lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

bool matches(const Seen& seen, const std::string& filter) {
    const auto has = [&](const std::string& text) { return lower(text).find(filter) != std::string::npos; };
    const auto& hold = hold_of(seen);
    const auto& queue = seen.lock->state.queue;
    if (filter.empty() || has(seen.lock->lock_id.str()) || has(std::string(state_word(seen)))) return true;
    if (hold && (has(hold->owner.str()) || has(hold->phase.str()) || has(hold->label.str()))) return true;
    return std::any_of(queue.begin(), queue.end(), [&](const Waiter& waiter) { return has(waiter.owner.str()); });
}

// Negative: `a` comes first.
std::int64_t compared(const LockView& a, const LockView& b, SortBy order) {
    if (a.state.hold.has_value() != b.state.hold.has_value()) return a.state.hold ? -1 : 1;
    if (order == SortBy::Queue)
        return static_cast<std::int64_t>(b.state.queue.size()) - static_cast<std::int64_t>(a.state.queue.size());
    if (!a.state.hold || order == SortBy::Lock) return 0;
    const Hold& left = *a.state.hold;
    const Hold& right = *b.state.hold;
    switch (order) {
        case SortBy::Holder: return left.owner.str().compare(right.owner.str());
        case SortBy::PhaseName: return left.phase.str().compare(right.phase.str());
        case SortBy::Held: return (left.granted_at - right.granted_at).count();
        case SortBy::Age: return (left.last_feedback - right.last_feedback).count();
        case SortBy::Left: return (end_of(left) - end_of(right)).count();
        case SortBy::Lock:
        case SortBy::Queue: break;
    }
    return 0;
}

}  // namespace

std::string_view word_for(SortBy order) {
    return std::find_if(kOrders.begin(), kOrders.end(), [&](const auto& pair) { return pair.first == order; })->second;
}

std::optional<SortBy> sort_by_from(std::string_view word) {
    for (const auto& [order, name] : kOrders)
        if (name == word) return order;
    return std::nullopt;
}

SortBy next_after(SortBy order) {
    const auto next = static_cast<std::size_t>(order) + 1;
    return kOrders[next % kOrders.size()].first;
}

Rows arranged(const ListAnswer& answer, const Arrangement& arrangement, Duration stuck_after) {
    Rows rows;
    const std::string filter = lower(arrangement.filter);
    for (const LockView& lock : answer.locks)
        if (matches({&lock, answer.now, stuck_after}, filter)) rows.push_back(&lock);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const LockView* a, const LockView* b) { return compared(*a, *b, arrangement.order) < 0; });
    if (arrangement.reversed) std::reverse(rows.begin(), rows.end());
    return rows;
}

// ---- Changes ----

namespace {

std::vector<Owner> owners(const Seen& seen) {
    std::vector<Owner> owners;
    for (const Waiter& waiter : seen.lock->state.queue) owners.push_back(waiter.owner);
    return owners;
}

}  // namespace

bool differ(const Seen& before, const Seen& after) {
    if (state_word(before) != state_word(after) || owners(before) != owners(after)) return true;
    if (!hold_of(before) || !hold_of(after)) return false;
    const Hold& was = *hold_of(before);
    const Hold& is = *hold_of(after);
    return was.epoch != is.epoch || was.phase != is.phase || was.label != is.label || was.note != is.note ||
           was.nudges != is.nudges;
}

std::optional<Duration> next_change_in(const ListAnswer& answer, Duration stuck_after) {
    std::optional<Duration> next;
    const auto consider = [&](Instant at) {
        if (at > answer.now && (!next || at - answer.now < *next)) next = at - answer.now;
    };
    for (const LockView& lock : answer.locks) {
        for (const Waiter& waiter : lock.state.queue) consider(end_of(waiter));
        if (!lock.state.hold) continue;
        consider(end_of(*lock.state.hold));
        if (lock.state.hold->phase_since) consider(*lock.state.hold->phase_since + stuck_after);
    }
    return next;
}

}  // namespace hagi
