#include "lockcore/sqlite/state_table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lockcore/invariants.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/sqlite/event_table.hpp"
#include "lockcore/sqlite/row_values.hpp"
#include "lockcore/words.hpp"

namespace hagi::sqlite {
namespace {

#define STORE_COLUMNS                                                                                  \
    "store.store_id, store.epoch_floor, store.at_ms, store.timeline, store.steady_ms, store.wall_ms, " \
    "(SELECT coalesce(max(seq), 0) FROM events)"
#define LOCK_COLUMNS                                                                                             \
    "locks.lock_id, locks.last_epoch, locks.recent_holds, locks.owner, locks.epoch, locks.lease_ms, "            \
    "locks.hard_cap_ms, locks.label, locks.granted_ms, locks.granted_how, locks.claimed_ms, locks.feedback_ms, " \
    "locks.accepted_ms, locks.phase, locks.phase_since_ms, locks.note, locks.bound_pid, locks.bound_start, "     \
    "locks.bound_boot, locks.bound_pid_ns, locks.bound_host, locks.bound_group, locks.attached"
constexpr char kLoadLock[] =
    "SELECT " STORE_COLUMNS ", " LOCK_COLUMNS " FROM store LEFT JOIN locks ON locks.lock_id = ?1 WHERE store.id = 1";
constexpr char kLoadEnding[] =
    "SELECT owner, kind, epoch, ended_ms, cause, by_owner, reason FROM endings WHERE lock_id = ?1 AND owner = ?2";

constexpr char kLoadStore[] = "SELECT " STORE_COLUMNS " FROM store WHERE id = 1";
// The range takes the primary key's order; without an upper end (?2 NULL) it is open.
constexpr char kLoadLocks[] = "SELECT " LOCK_COLUMNS
                              " FROM locks WHERE lock_id >= ?1 AND (?2 IS NULL OR lock_id < ?2)"
                              " AND (?3 OR owner IS NOT NULL) ORDER BY lock_id";
constexpr char kPutLock[] =
    "INSERT OR REPLACE INTO locks (lock_id, last_epoch, recent_holds, owner, epoch, lease_ms, hard_cap_ms, label,"
    " granted_ms, granted_how, claimed_ms, feedback_ms, accepted_ms, phase, phase_since_ms, note, bound_pid,"
    " bound_start, bound_boot, bound_pid_ns, bound_host, bound_group, attached)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
    "?23)";
constexpr char kLoadMark[] =
    "SELECT coalesce((SELECT epoch * 1000000 + (claimed_ms IS NOT NULL) * 100000 + attached * 10000 FROM locks"
    " WHERE lock_id = ?1 AND owner IS NOT NULL), 0) + (SELECT count(*) FROM waiters WHERE lock_id = ?1 AND ticket <="
    " (SELECT ticket FROM waiters WHERE lock_id = ?1 AND owner = ?2))";
constexpr char kLoadNewestEvent[] = "SELECT coalesce(max(seq), 0) FROM events";
// Watchers and nudges of the current grant; locks.attached says how many there are, so that the many grants without
// any cost no look.
constexpr char kLoadWatchers[] =
    "SELECT pid, start, boot, pid_ns, host, kind, since_ms FROM watchers WHERE lock_id = ?1 ORDER BY place";
constexpr char kLoadNudges[] = "SELECT by_owner, at_ms, reason FROM nudges WHERE lock_id = ?1 ORDER BY place";
constexpr char kDropWatchers[] = "DELETE FROM watchers WHERE lock_id = ?1";
constexpr char kDropNudges[] = "DELETE FROM nudges WHERE lock_id = ?1";
constexpr char kPutWatcher[] =
    "INSERT INTO watchers (lock_id, place, pid, start, boot, pid_ns, host, kind, since_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
constexpr char kPutNudge[] = "INSERT INTO nudges (lock_id, place, by_owner, at_ms, reason) VALUES (?1, ?2, ?3, ?4, ?5)";
constexpr char kPutEnding[] =
    "INSERT OR REPLACE INTO endings (lock_id, owner, kind, epoch, ended_ms, cause, by_owner, reason)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
constexpr char kDropEnding[] = "DELETE FROM endings WHERE lock_id = ?1 AND owner = ?2";
constexpr char kPruneEndings[] = "DELETE FROM endings WHERE lock_id = ?1 AND ended_ms <= ?2";
constexpr char kPutAnchor[] = "UPDATE store SET at_ms = ?1, timeline = ?2, steady_ms = ?3, wall_ms = ?4 WHERE id = 1";

// ---- Reading -------------------------------------------------------------------------------------------------

// Whether sums of them fit their types: a store's own time and its clock's readings do for some thousand years.
bool is_possible(const ClockAnchor& anchor) {
    const auto within = [](std::int64_t milliseconds) {
        constexpr std::int64_t kMost = 100'000'000'000'000;
        return -kMost <= milliseconds && milliseconds <= kMost;
    };
    return within(anchor.at.milliseconds) && within(anchor.reading.steady.count()) &&
           within(anchor.reading.wall.count());
}

Result<StoreRow> take_store(Connection& connection, Query& row) {
    StoreRow store;
    store.store_id = row.take_text();
    store.epoch_floor = row.take_epoch();
    store.anchor.at = row.take_instant();
    store.anchor.reading.timeline = row.take_text();
    store.anchor.reading.steady = row.take_duration();
    store.anchor.reading.wall = row.take_duration();
    store.newest_event = row.take_integer();
    if (!is_possible(store.anchor)) return connection.damaged("its time is impossible");
    return store;
}

std::optional<std::vector<Duration>> parse_holds(std::string_view text) {
    std::vector<Duration> holds;
    while (!text.empty()) {
        Duration::rep milliseconds = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
        if (failure != std::errc{}) return std::nullopt;
        holds.emplace_back(milliseconds);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) break;
        if (text.front() != ',' || text.size() == 1) return std::nullopt;
        text.remove_prefix(1);
    }
    return holds;
}

std::string format_holds(const std::vector<Duration>& holds) {
    std::string text;
    for (const Duration hold : holds) text += (text.empty() ? "" : ",") + std::to_string(hold.count());
    return text;
}

std::optional<Binding> take_binding(Query& row) {
    Binding binding{take_process(row), static_cast<std::int32_t>(row.take_integer())};
    return binding.run.pid == 0 ? std::nullopt : std::optional(std::move(binding));
}

Outcome load_attached(Connection& connection, const std::string& lock_id, Hold& hold) {
    Query watchers(connection, kLoadWatchers, std::string_view(lock_id));
    Result<bool> row = watchers.step();
    for (; row && *row; row = watchers.step()) {
        Watcher watcher;
        watcher.process = take_process(watchers);
        const auto kind = watcher_kind_from(watchers.take_text());
        if (!kind) return damaged_lock(connection, lock_id, "a watcher is of no known kind");
        watcher.kind = *kind;
        watcher.since = watchers.take_instant();
        hold.watchers.push_back(std::move(watcher));
    }
    if (!row) return row.error();
    Query nudges(connection, kLoadNudges, std::string_view(lock_id));
    for (row = nudges.step(); row && *row; row = nudges.step()) {
        Nudge nudge;
        nudges.take_into(nudge.by);
        nudge.at = nudges.take_instant();
        nudges.take_into(nudge.reason);
        hold.nudges.push_back(std::move(nudge));
    }
    if (!row) return row.error();
    return Done{};
}

// The columns behind the lock id.
Result<LockState> take_lock(Connection& connection, const std::string& lock_id, Query& row) {
    LockState state;
    state.known = true;
    state.last_epoch = row.take_epoch();
    auto holds = parse_holds(row.take_text());
    if (!holds) return damaged_lock(connection, lock_id, "its recent holds are no numbers");
    state.recent_holds = std::move(*holds);

    auto owner = row.take_optional_text();
    if (!owner) return state;
    Hold hold;
    hold.owner = Owner(std::move(*owner));
    hold.epoch = row.take_epoch();
    hold.lease = row.take_duration();
    hold.hard_cap = row.take_instant();
    row.take_into(hold.label);
    hold.granted_at = row.take_instant();
    const auto how = grant_kind_from(row.take_text());
    if (!how) return damaged_lock(connection, lock_id, "it was granted in no known way");
    hold.granted_how = *how;
    hold.claimed_at = row.take_optional_instant();
    hold.last_feedback = row.take_instant();
    hold.accepted_at = row.take_optional_instant();
    row.take_into(hold.phase);
    hold.phase_since = row.take_optional_instant();
    row.take_into(hold.note);
    hold.binding = take_binding(row);
    state.hold = std::move(hold);
    if (row.take_integer() == 0) return state;
    if (Outcome loaded = load_attached(connection, lock_id, *state.hold); !loaded) return loaded.error();
    return state;
}

Outcome load_ending(Connection& connection, const LockId& lock_id, const Owner& owner, LockState& state) {
    Query query(connection, kLoadEnding, lock_id, owner);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return Done{};
    Ending ending;
    query.take_into(ending.owner);
    const auto kind = ended_kind_from(query.take_text());
    ending.epoch = query.take_epoch();
    ending.at = query.take_instant();
    const auto cause = cause_from(query.take_text());
    query.take_into(ending.by);
    query.take_into(ending.reason);
    if (!kind || !cause) return damaged_lock(connection, lock_id.str(), "something ended in no known way");
    ending.kind = *kind;
    ending.cause = *cause;
    state.endings.push_back(std::move(ending));
    return Done{};
}

Result<StoredLock> load_lock_row(Connection& connection, const LockId& lock_id) {
    Query query(connection, kLoadLock, lock_id);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return connection.damaged("the row about the store itself is missing");
    Result<StoreRow> store = take_store(connection, query);
    if (!store) return store.error();
    StoredLock lock;
    lock.store = std::move(*store);
    lock.state.last_epoch = lock.store.epoch_floor;
    if (!query.take_optional_text()) return lock;
    Result<LockState> state = take_lock(connection, lock_id.str(), query);
    if (!state) return state.error();
    lock.state = std::move(*state);
    return lock;
}

Result<StoreRow> load_store(Connection& connection) {
    Query query(connection, kLoadStore);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return connection.damaged("the row about the store itself is missing");
    return take_store(connection, query);
}

// ---- Writing -------------------------------------------------------------------------------------------------

// What is written down of a lock itself, its queue and its endings apart.
bool same_lock_row(const LockState& a, const LockState& b) {
    return a.known == b.known && a.last_epoch == b.last_epoch && a.hold == b.hold && a.recent_holds == b.recent_holds;
}

Outcome put_lock(Connection& connection, const LockId& lock_id, const LockState& state) {
    const std::string holds = format_holds(state.recent_holds);
    if (!state.hold) return connection.run(kPutLock, lock_id, state.last_epoch, std::string_view(holds));
    const Hold& hold = *state.hold;
    const ProcessColumns bound = columns_of(hold.binding ? &hold.binding->run : nullptr);
    const auto group = hold.binding ? std::optional<std::int64_t>(hold.binding->group) : std::nullopt;
    return connection.run(kPutLock, lock_id, state.last_epoch, std::string_view(holds), hold.owner, hold.epoch,
                          hold.lease, hold.hard_cap, hold.label, hold.granted_at, word_for(hold.granted_how),
                          hold.claimed_at, hold.last_feedback, hold.accepted_at, hold.phase, hold.phase_since,
                          hold.note, bound.pid, bound.start, bound.boot, bound.pid_namespace, bound.host, group,
                          static_cast<std::int64_t>(hold.watchers.size() + hold.nudges.size()));
}

Outcome put_watchers(Connection& connection, const LockId& lock_id, const std::vector<Watcher>& watchers) {
    Outcome put = connection.run(kDropWatchers, lock_id);
    for (std::size_t i = 0; put && i < watchers.size(); ++i) {
        const ProcessIdentity& process = watchers[i].process;
        put = connection.run(kPutWatcher, lock_id, static_cast<std::int64_t>(i), std::int64_t{process.pid},
                             static_cast<std::int64_t>(process.start_ticks), std::string_view(process.boot_id),
                             static_cast<std::int64_t>(process.pid_namespace), std::string_view(process.host),
                             word_for(watchers[i].kind), watchers[i].since);
    }
    return put;
}

Outcome put_nudges(Connection& connection, const LockId& lock_id, const std::vector<Nudge>& nudges) {
    Outcome put = connection.run(kDropNudges, lock_id);
    for (std::size_t i = 0; put && i < nudges.size(); ++i)
        put = connection.run(kPutNudge, lock_id, static_cast<std::int64_t>(i), nudges[i].by, nudges[i].at,
                             nudges[i].reason);
    return put;
}

// They are few and seldom change: all are written anew.
Outcome put_attached(Connection& connection, const LockId& lock_id, const LockState& before, const LockState& after) {
    const Hold none;
    const Hold& was = before.hold ? *before.hold : none;
    const Hold& is = after.hold ? *after.hold : none;
    Outcome put = Done{};
    if (was.watchers != is.watchers) put = put_watchers(connection, lock_id, is.watchers);
    if (put && was.nudges != is.nudges) put = put_nudges(connection, lock_id, is.nudges);
    return put;
}

Outcome put_ending(Connection& connection, const LockId& lock_id, const Ending& ending) {
    return connection.run(kPutEnding, lock_id, ending.owner, word_for(ending.kind), ending.epoch, ending.at,
                          word_for(ending.cause), ending.by, ending.reason);
}

Outcome put_endings(Connection& connection, const LockId& lock_id, const std::vector<Ending>& before,
                    const std::vector<Ending>& after, Instant now) {
    for (const Ending& ending : before) {
        if (find_ending(after, ending.owner)) continue;
        if (Outcome gone = connection.run(kDropEnding, lock_id, ending.owner); !gone) return gone;
    }
    bool added = false;
    for (const Ending& ending : after) {
        const Ending* const was = find_ending(before, ending.owner);
        if (was && *was == ending) continue;
        if (Outcome put = put_ending(connection, lock_id, ending); !put) return put;
        added = true;
    }
    // Only what adds to them pays for keeping them few.
    return added ? connection.run(kPruneEndings, lock_id, now - kEndingKept) : Outcome(Done{});
}

}  // namespace

Result<StoredLock> load_lock(Connection& connection, const LockId& lock_id, const Asking& asking) {
    Result<StoredLock> lock = load_lock_row(connection, lock_id);
    if (!lock) return lock;
    const Instant now = store_time(lock->store.anchor, asking.reading);
    Result<Tickets> tickets = load_queue(connection, lock_id, asking.owner, now, lock->state);
    if (!tickets) return tickets.error();
    lock->tickets = std::move(*tickets);
    if (Outcome ending = load_ending(connection, lock_id, asking.owner, lock->state); !ending) return ending.error();
    if (const auto broken = broken_invariant(lock->state, lock->store.anchor.at))
        return damaged_lock(connection, lock_id.str(), *broken);
    return lock;
}

Result<std::int64_t> load_mark(Connection& connection, const LockId& lock_id, const Owner& owner) {
    if (lock_id.empty()) {
        Query newest(connection, kLoadNewestEvent);
        const Result<bool> row = newest.step();
        if (!row) return row.error();
        return newest.take_integer();
    }
    Query mark(connection, kLoadMark, lock_id, owner);
    const Result<bool> row = mark.step();
    if (!row) return row.error();
    return mark.take_integer();
}

Result<StoredLocks> load_locks(Connection& connection, const ListQuery& query) {
    Result<StoreRow> store = load_store(connection);
    if (!store) return store.error();
    StoredLocks stored{std::move(*store), {}};

    const std::optional<std::string> to = end_of_prefix(query.prefix);
    Query rows(connection, kLoadLocks, std::string_view(query.prefix), to, std::int64_t{query.idle_too});
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        std::string lock_id = rows.take_text();
        Result<LockState> state = take_lock(connection, lock_id, rows);
        if (!state) return state.error();
        stored.locks.push_back({LockId(std::move(lock_id)), std::move(*state)});
    }
    if (!row) return row.error();
    if (Outcome queues = load_queues(connection, query.prefix, to, stored.locks); !queues) return queues.error();
    for (const LockView& lock : stored.locks)
        if (const auto broken = broken_invariant(lock.state, stored.store.anchor.at))
            return damaged_lock(connection, lock.lock_id.str(), *broken);
    return stored;
}

Result<bool> store_lock(Connection& connection, const LockId& lock_id, const StoredLock& before,
                        const Outgoing& outgoing) {
    const bool lock_differs = !same_lock_row(before.state, outgoing.state);
    if (lock_differs)
        if (Outcome put = put_lock(connection, lock_id, outgoing.state); !put) return put.error();
    if (Outcome put = put_attached(connection, lock_id, before.state, outgoing.state); !put) return put.error();
    Result<bool> queue_differs =
        put_queue(connection, lock_id, before.state.queue, before.tickets, outgoing.state.queue);
    if (!queue_differs) return queue_differs;
    if (!lock_differs && !*queue_differs && outgoing.events.empty()) return false;

    Outcome put = put_endings(connection, lock_id, before.state.endings, outgoing.state.endings, outgoing.made.at);
    if (put) put = put_events(connection, lock_id, outgoing.events, outgoing.made);
    const ClockReading& reading = outgoing.made.reading;
    if (put) put = connection.run(kPutAnchor, outgoing.made.at, reading.timeline, reading.steady, reading.wall);
    if (!put) return put.error();
    return true;
}

}  // namespace hagi::sqlite
