#include "lockcore/sqlite/rebuild.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lockcore/names.hpp"
#include "lockcore/words.hpp"

namespace hagi::sqlite {
namespace {

// An epoch that was lost with its page must not come back. No store counts faster than a grant a second, so the
// seconds since 1970 are above all that it can have issued; where the wall clock was not set, a margin must do.
constexpr std::int64_t kMargin = 1'000'000;

// Greater ones are no epochs but damage: with them the new store would run out of numbers.
constexpr std::int64_t kGreatestEpoch = 1'000'000'000'000;
constexpr std::int64_t kLatestInstant = 1'000'000'000'000'000;

// So often a table is read on behind what cannot be read.
constexpr int kMostGaps = 1000;

constexpr char kReadStore[] = "SELECT epoch_floor, at_ms FROM store";
constexpr char kReadLocks[] = "SELECT lock_id, last_epoch, owner, epoch FROM locks ORDER BY lock_id";
constexpr char kReadLocksBackwards[] = "SELECT lock_id, last_epoch, owner, epoch FROM locks ORDER BY lock_id DESC";
constexpr char kReadEndings[] = "SELECT epoch FROM endings ORDER BY lock_id, owner";
constexpr char kReadEndingsBackwards[] = "SELECT epoch FROM endings ORDER BY lock_id DESC, owner DESC";
constexpr char kCountPlaces[] = "SELECT count(*) FROM waiters";
constexpr char kReadEvents[] =
    "SELECT seq, at_ms, wall_ms, event, lock_id, owner, epoch, by_owner, reason, cause, label FROM events"
    " WHERE seq > ?1 ORDER BY seq";
constexpr char kPutEvent[] = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
constexpr char kPutLock[] = "INSERT INTO locks (lock_id, last_epoch, recent_holds) VALUES (?1, ?2, '')";
constexpr char kPutStore[] = "UPDATE store SET epoch_floor = ?1, at_ms = ?2";

class Salvage {
public:
    Salvage(Connection& old, Rebuilding& told) : old_(old), told_(told) {}

    // All that is read, and what goes into the new store.
    Outcome into(Connection& store, Duration wall_now);

private:
    template <class Take>
    bool read(const char* sql, const Take& take);
    template <class Take>
    void read_from_both_ends(const char* forwards, const char* backwards, const char* what, const Take& take);
    void read_locks();
    Outcome copy_events(Connection& store);
    Outcome copy_event(Query& row, Connection& store, std::int64_t seq);
    Outcome put_locks(Connection& store, Duration wall_now);
    void saw(std::optional<std::int64_t> epoch);
    void saw(Instant at) {
        if (at.milliseconds < kLatestInstant) newest_ = std::max(newest_, at);
    }
    void lost(std::string what) { told_.losses.push_back(std::move(what)); }

    Connection& old_;
    Rebuilding& told_;
    std::set<std::string> locks_;
    std::int64_t unreadable_events_ = 0;
    std::int64_t greatest_epoch_ = 0;
    Instant newest_;
};

void Salvage::saw(std::optional<std::int64_t> epoch) {
    if (epoch && *epoch < kGreatestEpoch) greatest_epoch_ = std::max(greatest_epoch_, *epoch);
}

// False: it could not be read to its end.
template <class Take>
bool Salvage::read(const char* sql, const Take& take) {
    Query rows(old_, sql);
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) take(rows);
    return row.ok();
}

template <class Take>
void Salvage::read_from_both_ends(const char* forwards, const char* backwards, const char* what, const Take& take) {
    if (read(forwards, take)) return;
    read(backwards, take);
    lost(std::string("a part of ") + what + " could not be read");
}

void Salvage::read_locks() {
    std::set<std::string> held;
    const auto take = [&](Query& row) {
        std::string lock_id = row.take_text();
        saw(row.take_integer());
        const bool is_held = row.take_optional_text().has_value();
        saw(row.take_optional_integer());
        if (!parse_lock_id(lock_id)) return;
        if (is_held) held.insert(lock_id);
        locks_.insert(std::move(lock_id));
    };
    read_from_both_ends(kReadLocks, kReadLocksBackwards, "the locks", take);
    if (!held.empty())
        lost("the hold of each lock that was held, " + std::to_string(held.size()) + " in all: acquire anew");
}

Outcome Salvage::copy_event(Query& row, Connection& store, std::int64_t seq) {
    const Instant at = row.take_instant();
    const Duration wall = row.take_duration();
    const std::string event = row.take_text();
    const std::string lock_id = row.take_text();
    const std::string owner = row.take_text();
    const auto epoch = row.take_optional_integer();
    const auto by = row.take_optional_text();
    const auto reason = row.take_optional_text();
    const auto cause = row.take_optional_text();
    const auto label = row.take_optional_text();
    saw(epoch);
    saw(at);
    if (!event_kind_from(event) || (cause && !cause_from(*cause)) || !parse_lock_id(lock_id)) {
        ++unreadable_events_;
        return Done{};
    }
    ++told_.events;
    return store.run(kPutEvent, seq, at, wall, std::string_view(event), std::string_view(lock_id),
                     std::string_view(owner), epoch, by, reason, cause, label);
}

// Behind what cannot be read it goes on, each time a longer step further, until the end or something that can be read.
Outcome Salvage::copy_events(Connection& store) {
    std::int64_t after = 0;
    std::int64_t step = 1;
    int gaps = 0;
    for (; gaps < kMostGaps && step < kGreatestEpoch; ++gaps) {
        Query rows(old_, kReadEvents, after);
        Result<bool> row = rows.step();
        for (; row && *row; row = rows.step()) {
            after = rows.take_integer();
            step = 1;
            if (Outcome copied = copy_event(rows, store, after); !copied) return copied;
        }
        if (row) break;
        after += step;
        step *= 2;
    }
    if (gaps > 0) lost("a part of the log could not be read");
    if (unreadable_events_ > 0) lost(std::to_string(unreadable_events_) + " events of the log make no sense");
    return Done{};
}

Outcome Salvage::put_locks(Connection& store, Duration wall_now) {
    const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(wall_now).count();
    told_.floor = {std::max(greatest_epoch_ + kMargin, seconds)};
    told_.locks = std::ssize(locks_);
    // A lock's own epochs may be the ones that were lost, so none goes on from what was read of it.
    for (const std::string& lock_id : locks_)
        if (Outcome put = store.run(kPutLock, std::string_view(lock_id), told_.floor); !put) return put;
    return store.run(kPutStore, told_.floor, newest_);
}

Outcome Salvage::into(Connection& store, Duration wall_now) {
    Transaction transaction(store);
    if (Outcome begun = transaction.begin(Transaction::Kind::Write); !begun) return begun;
    const auto take_store = [&](Query& row) {
        saw(row.take_integer());
        saw(row.take_instant());
    };
    if (!read(kReadStore, take_store)) lost("what the store says about itself could not be read");
    read_locks();
    std::int64_t places = 0;
    if (!read(kCountPlaces, [&](Query& row) { places = row.take_integer(); }))
        lost("the queues could not be read");
    else if (places > 0)
        lost(std::to_string(places) + " places in queues: who waited must join anew");
    read_from_both_ends(kReadEndings, kReadEndingsBackwards, "the endings",
                        [&](Query& row) { saw(row.take_integer()); });
    if (Outcome copied = copy_events(store); !copied) return copied;
    if (Outcome put = put_locks(store, wall_now); !put) return put;
    return transaction.commit();
}

}  // namespace

Result<Rebuilding> rebuild(Connection& old, const RebuildPlan& plan, Clock& clock) {
    const Result<ClockReading> now = clock.read();
    if (!now) return now.error();
    Rebuilding told;
    told.store = old.path();
    told.rebuilt = plan.target;
    Salvage salvage(old, told);
    const auto creation = create_store(plan.target, plan.journal, plan.mode, clock,
                                       [&](Connection& store) { return salvage.into(store, now->wall); });
    if (!creation) return creation.error();
    if (*creation == Creation::AlreadyThere)
        return Error{ErrorKind::InvalidArgument,
                     escaped(plan.target) + " is there already and stays as it is: name another with --rebuild-to"};
    return told;
}

}  // namespace hagi::sqlite
