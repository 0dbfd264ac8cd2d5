// The locks of a store as rows: which of them are shown, in which order, and when they change. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockcore/answer.hpp"

namespace hagi {

enum class SortBy { Lock, Holder, PhaseName, Held, Age, Left, Queue };

std::string_view word_for(SortBy order);  // "left"
std::optional<SortBy> sort_by_from(std::string_view word);
SortBy next_after(SortBy order);

// By lock id where the rows are equal otherwise. Lock, Holder and PhaseName in alphabetical order, Left with the least
// first, the others with the most first; free locks last.
struct Arrangement {
    SortBy order = SortBy::Lock;
    bool reversed = false;
    std::string filter;  // shown are locks with this in their id, state, phase, label, holder or queue; case is ignored
};

using Rows = std::vector<const LockView*>;

// Into `answer`, which outlives it.
Rows arranged(const ListAnswer& answer, const Arrangement& arrangement, Duration stuck_after);

// What a row is judged by.
struct Seen {
    const LockView* lock = nullptr;
    Instant now;
    Duration stuck_after{};
};

// "held", "unclaimed", "stuck" or "free".
std::string_view state_word(const Seen& seen);

// Whether the two differ in more than time: somebody took, gave back, joined, left or reported something else.
bool differ(const Seen& before, const Seen& after);

// When something will change without anybody doing anything: a hold or a place ends, a phase turns stuck.
std::optional<Duration> next_change_in(const ListAnswer& answer, Duration stuck_after);

}  // namespace hagi
