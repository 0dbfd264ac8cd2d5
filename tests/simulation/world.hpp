// The small world that is explored: one lock, three owners, a clock that moves in ticks.
//
// A state of it is a number. Times are kept relative to now; owners are named by what they are (the holder, the
// waiters in order, the others), so states that differ in names only are one; epochs are renumbered; an ending is
// younger or older than 600 s; every old one counts as a lapsed hold's, and an end by order as a requisition's. Every
// grant has the world's lease and maximum hold, one by requisition too. Where grants may be bound, it is to one of two
// runs; which of them has it is a matter of names, too. So there are finitely many states, each a state that the
// protocol allows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "lockcore/request.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/state.hpp"

namespace hagi::test {

inline constexpr int kOwners = 3;

enum class Grants { Free, Bound };

struct Grid {
    Duration tick{};
    Duration lease{};
    Duration maximum_hold{};
    Grants grants = Grants::Free;  // Bound: `run` asks, too, and dies
};

using Key = std::uint64_t;
using Names = std::array<int, kOwners>;  // which owner is the one that a state names first, second, third

inline constexpr Key kNeverSeen = 0;
inline constexpr Instant kNow{10LL * 24 * 3600 * 1000};  // when every unpacked state is settled

Owner owner_named(int index);

LockState unpacked(Key key, const Grid& grid);

// The number of `state`, which is settled to `now`. Absent where it is none of this world: a defect. `names` says
// which owner of `state` is which of the packed one.
std::optional<Key> packed(const LockState& state, Instant now, const Grid& grid, Names& names);

// How many states that differ in names only `state` stands for.
int namings_of(const LockState& state);

// Whether whatever `owner` may do, the one before it may do as well: neither holds, waits or is remembered otherwise.
bool is_double(const LockState& state, int owner);

// What may happen in a state: the clock moves, or one of the owners asks something.
inline constexpr int kTicks = 3;
inline constexpr int kRequests = 30;
inline constexpr int kRequestsOfRuns = 9;
inline constexpr int kEvidences = 2;  // nothing is known, or what was bound is gone
int requests_in(const Grid& grid);
int actions_in(const Grid& grid);

Duration tick_of(int action, const Grid& grid);  // of the first kTicks actions
int owner_of(int action, const Grid& grid);      // of the others
Request request_of(int action, const LockState& state, const Grid& grid);

// What is known with the request about the processes of the grant. Proof that speaks of another grant changes nothing,
// so an unbound state gets such a one.
Evidence evidence_of(int action, const LockState& state, const Grid& grid);
std::string words_of(int action, const Grid& grid);  // "renew epoch=current"

}  // namespace hagi::test
