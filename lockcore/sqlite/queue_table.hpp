// The queues' rows. Every function runs inside the caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockcore/engine.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/state.hpp"

namespace hagi::sqlite {

// Where the waiters that were read stand in the table.
struct Tickets {
    std::vector<std::int64_t> shown;  // of the queue, in its order
    std::int64_t last = 0;            // of all who wait, also where the queue is an excerpt
};

// Reads the queue of `state`, whose hold is there, for `asks` at `now`: of a long one in which nothing is due an
// excerpt. Damaged: a ticket that was never given out.
Result<Tickets> load_queue(Connection& connection, const LockId& lock_id, const Owner& asks, Instant now,
                           LockState& state);

// The queues of `locks`, which are in the order of their ids, and all that there are from `from` to below `to` (absent:
// to the end). Damaged: somebody waits for a lock that is not among them.
Outcome load_queues(Connection& connection, const std::string& from, const std::optional<std::string>& to,
                    std::vector<LockView>& locks);

// Writes the rows in which `after` differs from `before`. True: there were some.
Result<bool> put_queue(Connection& connection, const LockId& lock_id, const std::vector<Waiter>& before,
                       const Tickets& tickets, const std::vector<Waiter>& after);

}  // namespace hagi::sqlite
