#include "lockcore/sqlite/event_table.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/limits.hpp"
#include "lockcore/words.hpp"

namespace hagi::sqlite {
namespace {

constexpr char kPutEvent[] =
    "INSERT INTO events (at_ms, wall_ms, event, lock_id, owner, epoch, by_owner, reason, cause, label)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
// From the newest back, so that a limit reads no more than it shows.
constexpr char kLoadEvents[] =
    "SELECT seq, at_ms, wall_ms, event, lock_id, owner, epoch, by_owner, reason, cause, label FROM events"
    " WHERE seq > ?1 AND (?2 IS NULL OR lock_id = ?2) AND (?3 IS NULL OR owner = ?3 OR by_owner = ?3)"
    " AND lock_id >= ?4 AND (?5 IS NULL OR lock_id < ?5) AND (?6 IS NULL OR wall_ms >= ?6)"
    " ORDER BY seq DESC LIMIT ?7";
constexpr char kPruneEvents[] =
    "DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?1) AND seq <= ?2 AND at_ms < ?3";

// Every so many events twice as many old ones may go: the log shrinks where it can, and no command pays for it all.
constexpr std::int64_t kPruneEvery = 256;

template <class Value>
std::optional<Value> unless_empty(const Value& value) {
    return value == Value{} ? std::nullopt : std::optional(value);
}

Outcome put_event(Connection& connection, const LockId& lock_id, const Event& event, const ClockAnchor& made) {
    const Duration wall = made.reading.wall - (made.at - event.at);
    const auto cause = event.cause ? std::optional(word_for(*event.cause)) : std::nullopt;
    return connection.run(kPutEvent, event.at, wall, word_for(event.kind), lock_id, event.owner,
                          unless_empty(event.epoch), unless_empty(event.by), unless_empty(event.reason), cause,
                          unless_empty(event.label));
}

Result<LoggedEvent> take_event(Connection& connection, Query& row) {
    LoggedEvent logged;
    Event& event = logged.event;
    logged.seq = row.take_integer();
    event.at = row.take_instant();
    logged.wall = row.take_duration();
    const auto kind = event_kind_from(row.take_text());
    row.take_into(logged.lock_id);
    row.take_into(event.owner);
    event.epoch = row.take_epoch();
    row.take_into(event.by);
    row.take_into(event.reason);
    const auto cause = row.take_optional_text();
    row.take_into(event.label);
    if (cause) event.cause = cause_from(*cause);
    if (!kind || (cause && !event.cause))
        return connection.damaged("event " + std::to_string(logged.seq) + " of the log is of no known kind");
    constexpr Duration kMost = std::chrono::years{10'000};
    if (logged.wall < -kMost || kMost < logged.wall)
        return connection.damaged("event " + std::to_string(logged.seq) + " of the log was at no possible time");
    event.kind = *kind;
    return logged;
}

}  // namespace

Outcome put_events(Connection& connection, const LockId& lock_id, const std::vector<Event>& events,
                   const ClockAnchor& made) {
    for (const Event& event : events) {
        if (Outcome put = put_event(connection, lock_id, event, made); !put) return put;
        const std::int64_t newest = connection.last_row();
        if (newest % kPruneEvery != 0) continue;
        Outcome pruned = connection.run(kPruneEvents, kPruneEvery * 2, newest - kEventsKept, made.at - kLogKept);
        if (!pruned) return pruned;
    }
    return Done{};
}

Result<std::vector<LoggedEvent>> load_events(Connection& connection, const LogQuery& query) {
    const std::optional<std::string> to = end_of_prefix(query.prefix);
    Query rows(connection, kLoadEvents, query.after, query.lock_id, query.owner, std::string_view(query.prefix), to,
               query.since, static_cast<std::int64_t>(query.limit));
    std::vector<LoggedEvent> events;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        Result<LoggedEvent> logged = take_event(connection, rows);
        if (!logged) return logged.error();
        events.push_back(*std::move(logged));
    }
    if (!row) return row.error();
    std::reverse(events.begin(), events.end());
    return events;
}

std::optional<std::string> end_of_prefix(std::string prefix) {
    while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
    if (prefix.empty()) return std::nullopt;
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}

}  // namespace hagi::sqlite
