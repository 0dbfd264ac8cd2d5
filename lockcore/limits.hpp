// Every number of the protocol in one place, with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lockcore/types.hpp"

namespace hagi {

using namespace std::chrono_literals;

// A lease shorter than this is lost to one slow disk; a longer one leaves a dead holder in the way.
inline constexpr Duration kMinLease = 30s;
inline constexpr Duration kMaxLease = 600s;
inline constexpr Duration kDefaultLease = 600s;

// Absolute, from the grant: a watcher that nobody remembers cannot keep a lock for ever.
inline constexpr Duration kMinMaximumHold = 60s;
inline constexpr Duration kMaximumHold = 24h;

// A handed-off grant that nobody picks up must not hold up the queue behind it.
inline constexpr Duration kClaimWindow = 30s;

// Longer than any sane poll (15 s here), short enough that a dead waiter is gone before its turn.
inline constexpr Duration kWaiterTtl = 60s;

// How long `status` shows how a hold or a place ended, and how long a refusal can still say why.
inline constexpr Duration kEndingShown = 600s;
inline constexpr Duration kEndingKept = 24h;

// A fifth of the default lease: one lost beat is survivable. Shorter leases beat every third of theirs.
inline constexpr Duration kHeartbeatInterval = 120s;
inline constexpr int kBeatsPerLease = 3;

// A quarter of the waiter TTL: three lost polls are survivable.
inline constexpr Duration kWaiterPoll = 15s;

inline constexpr Duration kWaitTimeout = 900s;
inline constexpr Duration kMaxWaitTimeout = 604800s;  // a week: longer than any hold, short enough for int arithmetic
inline constexpr Duration kLongPollCap = 25s;         // below the 30 s after which common tool hosts cut a call
inline constexpr Duration kStuckAfter = 1800s;

// `heartbeat` warns this long before the hard cap.
inline constexpr Duration kCapWarnings[] = {30min, 5min};

// Whole commands wait this long for a busy store; a day is "for ever" to a script and still an int.
inline constexpr Duration kBusyTimeout = 5s;
inline constexpr Duration kWatcherBusyTimeout = 2s;  // a watcher tries again anyway, and must hear a signal in time
inline constexpr Duration kMaxBusyTimeout = 24h;

inline constexpr std::size_t kMaxLockIdBytes = 200;
inline constexpr std::size_t kMaxOwnerBytes = 128;
inline constexpr std::size_t kMaxSegmentBytes = 100;
inline constexpr std::size_t kMaxPhaseBytes = 64;
inline constexpr std::size_t kMaxTextCharacters = 200;

// How many recent holds of a lock the expected turn is the median of.
inline constexpr std::size_t kRecentHolds = 9;

// Shown to a holder: enough to see who asks, few enough to read.
inline constexpr std::size_t kNudgesKept = 8;
inline constexpr std::size_t kWatchersKept = 4;

// The log keeps what is younger than this or among the newest so many, whichever is more.
inline constexpr Duration kLogKept = 24h * 90;
inline constexpr std::int64_t kEventsKept = 100'000;

// Waking everyone stalls the one that leaves; these few learn at once that their place changed.
inline constexpr std::size_t kPlacesWoken = 3;

}  // namespace hagi
