// Between a LockState and its rows. Every function runs inside the caller's transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockcore/answer.hpp"
#include "lockcore/clock.hpp"
#include "lockcore/engine.hpp"
#include "lockcore/event.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/queue_table.hpp"
#include "lockcore/state.hpp"

namespace hagi::sqlite {

// What a store says about itself.
struct StoreRow {
    std::string store_id;
    ClockAnchor anchor;
    Epoch epoch_floor;
    std::int64_t newest_event = 0;  // its seq; those of a store only grow
};

// One lock as it was read.
struct StoredLock {
    StoreRow store;
    LockState state;  // with the ending of the owner that asks only
    Tickets tickets;  // of its queue
};

// Who wants to know, and when.
struct Asking {
    const Owner& owner;
    const ClockReading& reading;  // taken since the transaction began
};

struct StoredLocks {
    StoreRow store;
    std::vector<LockView> locks;  // by lock id, as stored: not settled, without endings
};

// Of a long queue in which nothing is due an excerpt. Damaged where the rows contradict each other or the invariants.
Result<StoredLock> load_lock(Connection& connection, const LockId& lock_id, const Asking& asking);

// Those that `query` may want: once settled, some may have become idle.
Result<StoredLocks> load_locks(Connection& connection, const ListQuery& query);

// A number that changes when what concerns a watcher of `owner` changes: the grant, whether it is claimed and what is
// attached to it, the owner's place. Beats and polls of others leave it as it is, or watchers that look whenever
// anything was written would keep each other awake. An empty lock id: it changes with every event of the store.
Result<std::int64_t> load_mark(Connection& connection, const LockId& lock_id, const Owner& owner);

// The outcome of a decision and when it was made.
struct Outgoing {
    const LockState& state;
    const std::vector<Event>& events;
    ClockAnchor made;
};

// Writes the rows in which `outgoing` differs from `before`, and no other; nothing at all where only endings grew old
// enough to be forgotten. True: something was written.
Result<bool> store_lock(Connection& connection, const LockId& lock_id, const StoredLock& before,
                        const Outgoing& outgoing);

}  // namespace hagi::sqlite
