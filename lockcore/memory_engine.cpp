#include "lockcore/memory_engine.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/invariants.hpp"
#include "lockcore/rules.hpp"

namespace hagi {
namespace {

class HookedListener : public Listener {
public:
    explicit HookedListener(std::shared_ptr<const MemoryEngine::WhileAsleep> while_asleep)
        : while_asleep_(std::move(while_asleep)) {}

    void arm() override {}
    void sleep(Duration at_most, const Interrupts&) override {
        if (*while_asleep_) (*while_asleep_)(at_most);
    }

private:
    std::shared_ptr<const MemoryEngine::WhileAsleep> while_asleep_;
};

// Endings that only grew old are no change: whether they are still there shows nowhere.
bool is_change(const LockState& before, const LockState& after) {
    return before.known != after.known || before.last_epoch != after.last_epoch || before.hold != after.hold ||
           before.queue != after.queue || before.recent_holds != after.recent_holds;
}

bool is_wanted(const LoggedEvent& logged, const LogQuery& query) {
    const bool lock_fits = !query.lock_id || logged.lock_id == *query.lock_id;
    const bool owner_fits = !query.owner || logged.event.owner == *query.owner || logged.event.by == *query.owner;
    const bool time_fits = !query.since || logged.wall >= *query.since;
    return lock_fits && owner_fits && time_fits && logged.lock_id.str().starts_with(query.prefix) &&
           logged.seq > query.after;
}

bool is_idle(const LockState& state) { return !state.hold && state.queue.empty(); }

}  // namespace

MemoryEngine::MemoryEngine(Clock& clock, std::string name, Witness* witness)
    : clock_(clock), name_(std::move(name)), witness_(witness), while_asleep_(std::make_shared<WhileAsleep>()) {}

Result<MemoryEngine::Now> MemoryEngine::now() {
    Result<ClockReading> reading = clock_.read();
    if (!reading) return reading.error();
    if (!anchor_) anchor_ = ClockAnchor{Instant{}, *reading};
    return Now{*reading, store_time(*anchor_, *reading)};
}

Result<Answer> MemoryEngine::submit(const LockId& lock_id, const Request& request) {
    const Result<Now> now = this->now();
    if (!now) return now.error();

    const auto stored = locks_.find(lock_id);
    const LockState before = stored == locks_.end() ? LockState{} : stored->second;
    Decision decision = decide(before, request, now->at, evidence_on(before, request, witness_));
    if (const auto broken = broken_invariant(decision.state, now->at))
        return Error{ErrorKind::Defect, "a decision broke invariant " + *broken};

    for (const Event& event : decision.events)
        events_.push_back(
            {lock_id, event, now->reading.wall - (now->at - event.at), static_cast<std::int64_t>(events_.size()) + 1});
    // An event alone is one, too: the same nudge again at the same instant.
    if (is_change(before, decision.state) || !decision.events.empty()) {
        anchor_ = ClockAnchor{now->at, now->reading};
        locks_[lock_id] = std::move(decision.state);
    }
    decision.answer.wall_now = now->reading.wall;
    return std::move(decision.answer);
}

Result<ListAnswer> MemoryEngine::list(const ListQuery& query) {
    const Result<Now> now = this->now();
    if (!now) return now.error();

    ListAnswer answer{now->at, now->reading.wall, {}};
    for (auto lock = locks_.lower_bound(LockId(query.prefix)); lock != locks_.end(); ++lock) {
        if (!lock->first.str().starts_with(query.prefix)) break;
        LockState state = settle(lock->second, now->at).state;
        state.endings.clear();  // nobody asks for them
        if (query.idle_too || !is_idle(state)) answer.locks.push_back({lock->first, std::move(state)});
    }
    return answer;
}

Result<std::vector<LoggedEvent>> MemoryEngine::read_log(const LogQuery& query) {
    std::vector<LoggedEvent> found;
    for (auto logged = events_.rbegin(); logged != events_.rend() && found.size() < query.limit; ++logged)
        if (is_wanted(*logged, query)) found.push_back(*logged);
    std::reverse(found.begin(), found.end());
    return found;
}

std::unique_ptr<Listener> MemoryEngine::listen(const LockId&, const Owner&) {
    return std::make_unique<HookedListener>(while_asleep_);
}

EngineDescription MemoryEngine::describe() const { return {name_, false, false}; }

void MemoryEngine::on_sleep(WhileAsleep while_asleep) { *while_asleep_ = std::move(while_asleep); }

}  // namespace hagi
