// A long queue in part: the waiters whom one request can concern, and of the others how many they are and how long
// they may hold. While nothing is due, a request moves nobody but the first waiter and the one who asks, and wakes
// nobody but a few behind those; so an engine need not read a thousand waiters to hear one of them. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "lockcore/limits.hpp"
#include "lockcore/state.hpp"

namespace hagi {

// How many waiters are shown from the first one on, and from the one who asks on: two whose turn comes in one request
// (the hold before it proves to be gone, and it gives its own back) and those behind them that are woken.
inline constexpr std::size_t kExcerptRun = 2 + kPlacesWoken;

// Whether `decide` gives the same for an excerpt as for the whole: nothing falls due by `now`. `hold` is the lock's,
// `least_heard` the earliest last_heard of all waiters. Otherwise the whole queue must be read.
bool excerpt_suffices(const Hold& hold, Instant least_heard, Instant now);

// What an excerpt is: of the queue of `whole` the runs that begin with its first waiter and with `asks`. An engine
// may show more of it.
LockState excerpt_of(LockState whole, const Owner& asks);

// All who wait before `place`, shown or not.
Crowd crowd_before(const std::vector<Waiter>& queue, std::vector<Waiter>::const_iterator place);

}  // namespace hagi
