#include "lockcore/sqlite/queue_table.hpp"

#include <limits>
#include <utility>

#include "lockcore/excerpt.hpp"
#include "lockcore/sqlite/row_values.hpp"

namespace hagi::sqlite {
namespace {

#define WAITER_COLUMNS                                                                                             \
    "lock_id, ticket, owner, label, phase, note, lease_ms, max_hold_ms, enqueued_ms, heard_ms, pid, start, boot, " \
    "pid_ns, host"

constexpr char kLoadQueue[] =
    "SELECT " WAITER_COLUMNS " FROM waiters WHERE lock_id = ?1 AND ticket >= ?2 ORDER BY ticket LIMIT ?3";
// What must be known of waiters that are not read one by one.
constexpr char kSurveyQueue[] =
    "SELECT count(*), sum(max_hold_ms), min(heard_ms), max(ticket), max(CASE WHEN owner = ?2 THEN ticket END)"
    " FROM waiters WHERE lock_id = ?1";
constexpr char kSurveyGap[] =
    "SELECT count(*), sum(max_hold_ms) FROM waiters WHERE lock_id = ?1 AND ticket > ?2 AND ticket < ?3";
constexpr char kLoadQueues[] = "SELECT " WAITER_COLUMNS
                               " FROM waiters WHERE lock_id >= ?1 AND (?2 IS NULL OR lock_id < ?2)"
                               " ORDER BY lock_id, ticket";
constexpr char kPutWaiter[] = "INSERT OR REPLACE INTO waiters (" WAITER_COLUMNS
                              ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
constexpr char kDropWaiter[] = "DELETE FROM waiters WHERE lock_id = ?1 AND ticket = ?2";

// Tickets are given out one by one from 1 on while anybody waits: no queue comes so far.
constexpr std::int64_t kHighestTicket = std::int64_t{1} << 53;

// The columns behind the ticket.
Waiter take_waiter(Query& row) {
    Waiter waiter;
    row.take_into(waiter.owner);
    row.take_into(waiter.label);
    row.take_into(waiter.phase);
    row.take_into(waiter.note);
    waiter.lease = row.take_duration();
    waiter.maximum_hold = row.take_duration();
    waiter.enqueued_at = row.take_instant();
    waiter.last_heard = row.take_instant();
    ProcessIdentity process = take_process(row);
    if (process.pid != 0) waiter.process = std::move(process);
    return waiter;
}

// A count of waiters and how long they may hold, together.
Crowd take_crowd(Query& row) {
    Crowd crowd;
    crowd.count = static_cast<std::size_t>(row.take_integer());
    crowd.maximum_holds = row.take_duration();
    return crowd;
}

// A queue this long is read whole: for a longer one a second and third look cost less than the rows that they save.
constexpr std::size_t kShortQueue = 16;
constexpr std::size_t kNoLimit = std::numeric_limits<std::int32_t>::max();

// One lock's queue on its way out of the table.
class QueueReading {
public:
    QueueReading(Connection& connection, const LockId& lock_id, std::vector<Waiter>& queue)
        : connection_(connection), lock_id_(lock_id), queue_(queue) {}

    Result<Tickets> read(const Owner& asks, const std::optional<Hold>& hold, Instant now) {
        Outcome read = read_for(asks, hold, now);
        if (!read) return read.error();
        return std::move(tickets_);
    }

private:
    // What is known of all who wait before they are read one by one.
    struct Survey {
        Crowd all;
        Instant least_heard;
        std::int64_t last_ticket = 0;
        std::optional<std::int64_t> ticket;  // of the one who asks
    };

    Outcome read_for(const Owner& asks, const std::optional<Hold>& hold, Instant now) {
        Outcome read = read_waiters(0, kShortQueue + 1);
        if (!read || tickets_.shown.empty()) return read;
        tickets_.last = tickets_.shown.back();
        if (tickets_.shown.size() <= kShortQueue || !hold) return read;

        const Result<Survey> survey = survey_queue(asks);
        if (!survey) return survey.error();
        tickets_.last = survey->last_ticket;
        if (excerpt_suffices(*hold, survey->least_heard, now)) return read_excerpt(*survey);
        return read_waiters(tickets_.shown.back() + 1, kNoLimit);
    }

    // From `ticket` on, behind those that are there.
    Outcome read_waiters(std::int64_t ticket, std::size_t at_most) {
        Query rows(connection_, kLoadQueue, lock_id_, ticket, static_cast<std::int64_t>(at_most));
        Result<bool> row = rows.step();
        for (; row && *row; row = rows.step()) {
            rows.skip(1);
            tickets_.shown.push_back(rows.take_integer());
            if (tickets_.shown.back() < 1 || kHighestTicket < tickets_.shown.back())
                return damaged_lock(connection_, lock_id_.str(), "a waiter's ticket was never given out");
            queue_.push_back(take_waiter(rows));
        }
        if (!row) return row.error();
        return Done{};
    }

    Result<Survey> survey_queue(const Owner& asks) {
        Query query(connection_, kSurveyQueue, lock_id_, asks);
        if (const Result<bool> row = query.step(); !row) return row.error();
        Survey survey;
        survey.all = take_crowd(query);
        survey.least_heard = query.take_instant();
        survey.last_ticket = query.take_integer();
        survey.ticket = query.take_optional_integer();
        return survey;
    }

    Result<Crowd> survey_gap(std::int64_t after, std::int64_t before) {
        Query query(connection_, kSurveyGap, lock_id_, after, before);
        if (const Result<bool> row = query.step(); !row) return row.error();
        return take_crowd(query);
    }

    Outcome read_excerpt(const Survey& survey) {
        if (Outcome read = read_run(survey.ticket); !read) return read;
        const Crowd shown = crowd_before(queue_, queue_.end());
        queue_.back().left_out = {survey.all.count - shown.count, survey.all.maximum_holds - shown.maximum_holds};
        return Done{};
    }

    // Behind the first waiters, which are there: the run that begins with `ticket`, that of the one who asks.
    Outcome read_run(const std::optional<std::int64_t>& ticket) {
        if (!ticket) return Done{};
        const std::int64_t shown = tickets_.shown.back();
        if (*ticket <= shown) return read_waiters(shown + 1, kExcerptRun);
        const Result<Crowd> gap = survey_gap(shown, *ticket);
        if (!gap) return gap.error();
        queue_.back().left_out = *gap;
        return read_waiters(*ticket, kExcerptRun);
    }

    Connection& connection_;
    const LockId& lock_id_;
    std::vector<Waiter>& queue_;
    Tickets tickets_;
};

Outcome put_waiter(Connection& connection, const LockId& lock_id, std::int64_t ticket, const Waiter& waiter) {
    const ProcessColumns process = columns_of(waiter.process ? &*waiter.process : nullptr);
    return connection.run(kPutWaiter, lock_id, ticket, waiter.owner, waiter.label, waiter.phase, waiter.note,
                          waiter.lease, waiter.maximum_hold, waiter.enqueued_at, waiter.last_heard, process.pid,
                          process.start, process.boot, process.pid_namespace, process.host);
}

}  // namespace

Result<Tickets> load_queue(Connection& connection, const LockId& lock_id, const Owner& asks, Instant now,
                           LockState& state) {
    return QueueReading(connection, lock_id, state.queue).read(asks, state.hold, now);
}

// Both are in the order of the lock id, so one pass brings them together.
Outcome load_queues(Connection& connection, const std::string& from, const std::optional<std::string>& to,
                    std::vector<LockView>& locks) {
    Query rows(connection, kLoadQueues, std::string_view(from), to);
    auto lock = locks.begin();
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        const std::string lock_id = rows.take_text();
        while (lock != locks.end() && lock->lock_id.str() < lock_id) ++lock;
        if (lock == locks.end() || lock->lock_id.str() != lock_id)
            return damaged_lock(connection, lock_id, "somebody waits for a lock that is free");
        rows.skip(1);
        lock->state.queue.push_back(take_waiter(rows));
    }
    if (!row) return row.error();
    return Done{};
}

// Those who stay keep their order, so one walk along both queues finds who left, who changed and who is new.
Result<bool> put_queue(Connection& connection, const LockId& lock_id, const std::vector<Waiter>& before,
                       const Tickets& tickets, const std::vector<Waiter>& after) {
    bool wrote = false;
    auto next = after.begin();
    for (std::size_t i = 0; i < before.size(); ++i) {
        const Waiter& was = before[i];
        const bool stays = next != after.end() && next->owner == was.owner;
        if (!stays || *next != was) {
            const std::int64_t ticket = tickets.shown[i];
            const Outcome put =
                stays ? put_waiter(connection, lock_id, ticket, *next) : connection.run(kDropWaiter, lock_id, ticket);
            if (!put) return put.error();
            wrote = true;
        }
        if (stays) ++next;
    }
    std::int64_t ticket = tickets.last;
    for (; next != after.end(); ++next) {
        if (Outcome put = put_waiter(connection, lock_id, ++ticket, *next); !put) return put.error();
        wrote = true;
    }
    return wrote;
}

}  // namespace hagi::sqlite
