#include "lockcore/sqlite/engine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lockcore/invariants.hpp"
#include "lockcore/names.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/event_table.hpp"
#include "lockcore/sqlite/file_header.hpp"
#include "lockcore/sqlite/polling_listener.hpp"
#include "lockcore/sqlite/provenance.hpp"
#include "lockcore/sqlite/state_table.hpp"
#include "lockcore/wake.hpp"
#include "platform/file_gate.hpp"

namespace hagi {
namespace {

using sqlite::Connection;
using sqlite::Deadline;
using sqlite::Durability;
using sqlite::Journal;
using sqlite::Transaction;
using std::chrono::steady_clock;

// The log is emptied once it has this many pages. A command adds three to eight, and who opens a store that nobody
// else has open reads the whole log again. Syncs a command, over 400 processes: emptied by each 5.0, at 16 pages 2.5,
// at 32 2.3, at 64 2.1, at 128 2.07. A checkpoint that does not truncate (PASSIVE, RESTART) is forgotten with the last
// process that closes: then the log only grows (5 MB, 3.9 syncs a command).
constexpr int kLogPages = 64;

Duration left_until(Deadline deadline) {
    const auto left = std::chrono::duration_cast<Duration>(deadline - steady_clock::now());
    return std::max(left, Duration::zero());
}

// Most polls and beats produce no event; where one does after all, its transaction is done again.
Durability predicted_for(const Request& request) {
    const bool quiet =
        std::holds_alternative<StatusRequest>(request.action) || std::holds_alternative<RenewRequest>(request.action);
    return quiet ? Durability::ProcessCrash : Durability::PowerCut;
}

Error gone(const std::string& path) {
    return {ErrorKind::Gone, "the store's file " + escaped(path) + " was deleted or replaced: check who did it"};
}

Error not_a_store(const std::string& path, const char* why) {
    return {ErrorKind::Damaged,
            escaped(path) + " is not a hagi store (" + why + "), so it is left alone: name another with --store"};
}

Error wrong_version(const std::string& path, std::int64_t version) {
    const std::string known = std::to_string(sqlite::schema_version());
    if (version > sqlite::schema_version())
        return {ErrorKind::Unusable, "the store " + escaped(path) + " was written by a newer hagi (format " +
                                         std::to_string(version) + ", this one knows " + known + "): upgrade hagi"};
    return {ErrorKind::Unusable, "the store " + escaped(path) + " was written by an older hagi (format " +
                                     std::to_string(version) + "): any command that takes a lock upgrades it"};
}

// Of a store that may be used here.
Result<sqlite::FileHeader> header_of_ours(Connection& connection, Journal most) {
    Result<sqlite::FileHeader> header = sqlite::read_header(connection);
    if (!header) return header;
    if (header->empty) return not_a_store(connection.path(), "it is empty");
    if (!header->sqlite) return not_a_store(connection.path(), "it is no database");
    if (header->application_id != sqlite::kApplicationId)
        return not_a_store(connection.path(), "it is another program's database");
    if (header->wal && most == Journal::Rollback)
        return Error{ErrorKind::Unusable,
                     "the store " + escaped(connection.path()) +
                         " was made for one machine and lies on a shared filesystem: end every hagi that uses it, "
                         "then run `hagi agent lock doctor --convert-to-shared`"};
    return header;
}

class SqliteEngine final : public Engine {
public:
    SqliteEngine(SqliteOptions options, Clock& clock, ChangeSignal& signal, Witness& witness)
        : options_(std::move(options)),
          clock_(clock),
          signal_(signal),
          witness_(witness),
          gate_(gate_path(options_.path), options_.mode,
                options_.journal == Journal::Rollback ? GateWait::Polling : GateWait::InKernel) {}

    // The first connect, which alone may create the store.
    Outcome open();

    Result<Answer> submit(const LockId& lock_id, const Request& request) override;
    Result<ListAnswer> list(const ListQuery& query) override;
    Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) override;
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override;
    [[nodiscard]] EngineDescription describe() const override { return {options_.path, created_, replaced_}; }

private:
    struct Change {
        Answer answer;
        std::vector<Owner> to_wake;
        bool logged = false;  // who follows the log is woken, too
    };
    // One transaction's end: the change, or what must be done before it is tried again.
    enum class Again { MoreDurable, Upgraded };
    using Attempt = std::variant<Change, Again>;

    Outcome connect();
    Result<Change> change(const LockId& lock_id, const Request& request, Deadline deadline);
    Result<Attempt> attempt(const LockId& lock_id, const Request& request, Durability durability);
    Outcome begin_reading(Transaction& transaction);
    Outcome roll_back_for_killed_writer();
    Result<ListAnswer> read_locks(const ListQuery& query);
    Result<std::vector<LoggedEvent>> read_events(const LogQuery& query);
    Outcome upgrade(std::int64_t version);
    void recognize(const std::string& store_id);
    [[nodiscard]] sqlite::FileNumber file_below_log() const;
    std::optional<std::int64_t> mark_for(const LockId& lock_id, const Owner& owner);

    SqliteOptions options_;
    Clock& clock_;
    ChangeSignal& signal_;
    Witness& witness_;
    FileGate gate_;
    std::unique_ptr<Connection> connection_;  // absent until the next call after a failure
    bool wal_ = false;
    bool opened_ = false;
    bool created_ = false;
    bool replaced_ = false;
    std::string store_id_;  // empty until first read
};

// ---- Opening -------------------------------------------------------------------------------------------------

Outcome SqliteEngine::connect() {
    if (connection_) return connection_->has_moved() ? Outcome(gone(options_.path)) : Outcome(Done{});
    const auto mode =
        options_.access == SqliteOptions::Access::ReadOnly ? sqlite::OpenMode::ReadOnly : sqlite::OpenMode::ReadWrite;
    Result<std::unique_ptr<Connection>> connection = Connection::open(options_.path, mode);
    if (!connection) {
        if (opened_ && connection.error().kind == ErrorKind::NotFound) return gone(options_.path);
        return connection.error();
    }
    (*connection)->set_patience(steady_clock::now() + options_.busy_timeout);
    const Result<sqlite::FileHeader> header = header_of_ours(**connection, options_.journal);
    if (!header) return header.error();
    wal_ = header->wal;
    connection_ = std::move(*connection);
    opened_ = true;
    return Done{};
}

Outcome SqliteEngine::open() {
    Outcome connected = connect();
    const bool missing = !connected && connected.error().kind == ErrorKind::NotFound;
    if (!missing || options_.access != SqliteOptions::Access::Create) return connected;
    const auto creation = sqlite::create_store(options_.path, options_.journal, options_.mode, clock_);
    if (!creation) return creation.error();
    created_ = *creation == sqlite::Creation::Created;
    return connect();
}

void SqliteEngine::recognize(const std::string& store_id) {
    if (!store_id_.empty() && store_id != store_id_) replaced_ = true;
    store_id_ = store_id;
}

sqlite::FileNumber SqliteEngine::file_below_log() const {
    return wal_ ? sqlite::file_number(options_.path) : sqlite::FileNumber{};
}

// ---- Writing -------------------------------------------------------------------------------------------------

Outcome SqliteEngine::upgrade(std::int64_t version) {
    if (version > sqlite::schema_version()) return wrong_version(options_.path, version);
    if (version < 1) return connection_->damaged("it has no version");
    return sqlite::migrate(*connection_, sqlite::schema_steps());
}

// What is decided and what is written is one transaction, so nobody can come between.
Result<SqliteEngine::Attempt> SqliteEngine::attempt(const LockId& lock_id, const Request& request,
                                                    Durability durability) {
    if (Outcome set = connection_->set_durability(durability, wal_); !set) return set.error();
    Transaction transaction(*connection_);
    if (Outcome begun = transaction.begin(Transaction::Kind::Write); !begun) return begun.error();

    const Result<std::int64_t> version = sqlite::stored_version(*connection_);
    if (!version) return version.error();
    if (*version != sqlite::schema_version()) {
        if (Outcome upgraded = upgrade(*version); !upgraded) return upgraded.error();
        if (Outcome committed = transaction.commit(); !committed) return committed.error();
        return Attempt(Again::Upgraded);
    }

    const Result<ClockReading> reading = clock_.read();
    if (!reading) return reading.error();
    const Result<sqlite::StoredLock> before = sqlite::load_lock(*connection_, lock_id, {request.owner, *reading});
    if (!before) return before.error();
    const sqlite::FileNumber file = file_below_log();
    if (Outcome belongs = sqlite::check_provenance(options_.path, file, before->store, gate_.note()); !belongs)
        return belongs.error();
    const Instant now = store_time(before->store.anchor, *reading);

    Decision decision = decide(before->state, request, now, evidence_on(before->state, request, &witness_));
    if (const auto broken = broken_invariant(decision.state, now))
        return Error{ErrorKind::Defect, "a decision broke invariant " + *broken};
    if (!decision.events.empty() && wal_ && durability != Durability::PowerCut) return Attempt(Again::MoreDurable);

    const Result<bool> wrote =
        sqlite::store_lock(*connection_, lock_id, *before, {decision.state, decision.events, {now, *reading}});
    if (!wrote) return wrote.error();
    // A commit to a file that nobody can find succeeds. Deleted between here and the commit it still does: then the
    // next call says so.
    if (connection_->has_moved()) return gone(options_.path);
    if (*wrote)
        if (Outcome committed = transaction.commit(); !committed) return committed.error();

    const auto events = std::ssize(decision.events);
    if (events > 0)
        gate_.leave_note(sqlite::note_of(file, before->store.store_id, before->store.newest_event + events));

    recognize(before->store.store_id);
    decision.answer.wall_now = reading->wall;
    return Attempt(
        Change{std::move(decision.answer), owners_to_wake(before->state, decision.state), !decision.events.empty()});
}

Result<SqliteEngine::Change> SqliteEngine::change(const LockId& lock_id, const Request& request, Deadline deadline) {
    if (Outcome connected = connect(); !connected) return connected.error();
    // On a filesystem that hosts share nobody may even look for a journal left behind while another writes.
    if (Outcome entered = gate_.enter(left_until(deadline)); !entered) return entered.error();
    const GateLeaver leaver(gate_);
    connection_->set_patience(deadline);

    Durability durability = predicted_for(request);
    for (;;) {
        Result<Attempt> tried = attempt(lock_id, request, durability);
        if (!tried) return tried.error();
        if (auto* const change = std::get_if<Change>(&*tried)) {
            if (connection_->log_pages() >= kLogPages) connection_->checkpoint();
            return std::move(*change);
        }
        durability = Durability::PowerCut;
    }
}

Result<Answer> SqliteEngine::submit(const LockId& lock_id, const Request& request) {
    if (options_.access == SqliteOptions::Access::ReadOnly)
        return Error{ErrorKind::Defect, "a store opened for reading was asked to decide"};
    Result<Change> change = this->change(lock_id, request, steady_clock::now() + options_.busy_timeout);
    if (!change) {
        connection_.reset();
        return change.error();
    }
    for (const Owner& owner : change->to_wake) signal_.ring(lock_id, owner);
    if (change->logged) signal_.ring({}, {});
    return std::move(change->answer);
}

// ---- Reading -------------------------------------------------------------------------------------------------

// With a rollback journal whoever comes next undoes what a killed writer left half done; but who opened the store for
// reading does not. Any command that may write does it as a writer, so that `list` works after every kill.
Outcome SqliteEngine::roll_back_for_killed_writer() {
    if (Outcome entered = gate_.enter(options_.busy_timeout); !entered) return entered;
    const GateLeaver leaver(gate_);
    auto writer = Connection::open(options_.path, sqlite::OpenMode::ReadWrite);
    if (!writer) return writer.error();
    const Result<std::int64_t> version = sqlite::stored_version(**writer);
    if (!version) return version.error();
    return Done{};
}

Outcome SqliteEngine::begin_reading(Transaction& transaction) {
    connection_->set_patience(steady_clock::now() + options_.busy_timeout);
    if (Outcome begun = transaction.begin(Transaction::Kind::Read); !begun) return begun;
    Result<std::int64_t> version = sqlite::stored_version(*connection_);
    if (!version && connection_->needs_roll_back() && roll_back_for_killed_writer())
        version = sqlite::stored_version(*connection_);
    if (!version) return version.error();
    if (*version != sqlite::schema_version()) return wrong_version(options_.path, *version);
    return Done{};
}

Result<ListAnswer> SqliteEngine::read_locks(const ListQuery& query) {
    if (Outcome connected = connect(); !connected) return connected.error();
    const std::string note = gate_.note();  // before the snapshot, or it might be ahead of it
    Transaction transaction(*connection_);
    if (Outcome begun = begin_reading(transaction); !begun) return begun.error();
    Result<sqlite::StoredLocks> stored = sqlite::load_locks(*connection_, query);
    if (!stored) return stored.error();
    if (Outcome belongs = sqlite::check_provenance(options_.path, file_below_log(), stored->store, note); !belongs)
        return belongs.error();
    // Read after the snapshot, since what is in it must not lie in the future.
    const Result<ClockReading> reading = clock_.read();
    if (!reading) return reading.error();
    recognize(stored->store.store_id);

    ListAnswer answer{store_time(stored->store.anchor, *reading), reading->wall, {}};
    for (LockView& lock : stored->locks) {
        lock.state = settle(std::move(lock.state), answer.now).state;
        lock.state.endings.clear();
        const bool idle = !lock.state.hold && lock.state.queue.empty();
        if (query.idle_too || !idle) answer.locks.push_back(std::move(lock));
    }
    return answer;
}

Result<ListAnswer> SqliteEngine::list(const ListQuery& query) {
    Result<ListAnswer> answer = read_locks(query);
    if (!answer) connection_.reset();
    return answer;
}

Result<std::vector<LoggedEvent>> SqliteEngine::read_events(const LogQuery& query) {
    if (Outcome connected = connect(); !connected) return connected.error();
    Transaction transaction(*connection_);
    if (Outcome begun = begin_reading(transaction); !begun) return begun.error();
    return sqlite::load_events(*connection_, query);
}

Result<std::vector<LoggedEvent>> SqliteEngine::read_log(const LogQuery& query) {
    auto events = read_events(query);
    if (!events) connection_.reset();
    return events;
}

// ---- Listening -----------------------------------------------------------------------------------------------

std::optional<std::int64_t> SqliteEngine::mark_for(const LockId& lock_id, const Owner& owner) {
    if (!connection_) return std::nullopt;
    if (connection_->has_moved()) return -1;  // a change, and what it means the next call tells
    connection_->set_patience({});
    const Result<std::int64_t> mark = sqlite::load_mark(*connection_, lock_id, owner);
    return mark ? std::optional(*mark) : std::nullopt;
}

std::unique_ptr<Listener> SqliteEngine::listen(const LockId& lock_id, const Owner& owner) {
    std::unique_ptr<Listener> rung = signal_.listen(lock_id, owner);
    if (wal_) return rung;
    return std::make_unique<sqlite::PollingListener>(std::move(rung),
                                                     [this, lock_id, owner] { return mark_for(lock_id, owner); });
}

}  // namespace

std::string gate_path(const std::string& path) { return path + "-gate"; }

Result<std::unique_ptr<Engine>> open_sqlite_engine(SqliteOptions options, Clock& clock, ChangeSignal& signal,
                                                   Witness& witness) {
    auto engine = std::make_unique<SqliteEngine>(std::move(options), clock, signal, witness);
    if (Outcome opened = engine->open(); !opened) return opened.error();
    return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace hagi
