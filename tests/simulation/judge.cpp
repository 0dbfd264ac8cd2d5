#include "tests/simulation/judge.hpp"

#include <algorithm>
#include <vector>

#include "lockcore/invariants.hpp"
#include "tests/simulation/second_reading.hpp"

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

// The order of endings means nothing: at most one is an owner's.
LockState with_sorted_endings(LockState state) {
    std::sort(state.endings.begin(), state.endings.end(),
              [](const Ending& one, const Ending& other) { return one.owner < other.owner; });
    return state;
}

bool same(const LockState& one, const LockState& other) {
    if (one == other) return true;
    return with_sorted_endings(one) == with_sorted_endings(other);
}

const Waiter* place_of(const LockState& state, const Owner& owner) {
    for (const Waiter& waiter : state.queue)
        if (waiter.owner == owner) return &waiter;
    return nullptr;
}

const Ending* ending_of(const LockState& state, const Owner& owner) {
    for (const Ending& ending : state.endings)
        if (ending.owner == owner) return &ending;
    return nullptr;
}

// ---- The invariants, as properties of one transition ----

// A transition of the lock at `now`, by the clock alone where `by` is null.
struct Transition {
    const LockState& before;
    const LockState& after;
    const std::vector<Event>& events;
    const Request* by;
    std::optional<Epoch> gone;  // the grant whose processes were proven gone
    Instant now;

    [[nodiscard]] bool is_by(const Owner& owner) const { return by && by->owner == owner; }
    template <class Action>
    [[nodiscard]] bool is_a() const {
        return by && std::holds_alternative<Action>(by->action);
    }
};

// 1 to 3, each state by itself.
Complaint unsound(const LockState& state, Instant now) {
    if (!state.hold && !state.queue.empty()) return "invariant 2: nobody holds and somebody waits";
    for (const Waiter& waiter : state.queue) {
        if (state.hold && state.hold->owner == waiter.owner) return "invariant 3: the holder waits, too";
        if (place_of(state, waiter.owner) != &waiter) return "invariant 3: an owner waits twice";
    }
    if (state.hold && state.hold->epoch != state.last_epoch) return "invariant 5: the hold is not the last grant";
    if (auto broken = broken_invariant(state, now)) return "broken_invariant says " + *broken;
    return std::nullopt;
}

// 4: those that stay keep their order, who comes comes last, and nobody else's place is touched.
Complaint unfair(const Transition& step) {
    auto was = step.before.queue.begin();
    for (const Waiter& waiter : step.after.queue) {
        was = std::find_if(was, step.before.queue.end(),
                           [&](const Waiter& earlier) { return earlier.owner == waiter.owner; });
        const bool stayed = was != step.before.queue.end();
        if (!stayed && !step.is_by(waiter.owner)) return "invariant 4: a waiter moved relative to the others";
        if (stayed && !step.is_by(waiter.owner) && *was != waiter) return "invariant 4: somebody else's place changed";
        if (!stayed && &waiter != &step.after.queue.back()) return "invariant 4: somebody joined before the back";
        if (stayed && was->enqueued_at != waiter.enqueued_at) return "invariant 4: a waiter's arrival changed";
    }
    return std::nullopt;
}

bool is_grant(const Event& event) { return event.kind == EventKind::Granted || event.kind == EventKind::HandedOff; }

// 5: every grant's epoch is above all before it.
Complaint reused(const Transition& step) {
    Epoch last = step.before.last_epoch;
    for (const Event& event : step.events) {
        if (!is_grant(event)) continue;
        if (event.epoch <= last) return "invariant 5: an epoch was issued again";
        last = event.epoch;
    }
    if (step.after.last_epoch != last) return "invariant 5: the last epoch is not that of the last grant";
    return std::nullopt;
}

// 6: only its end, its owner or an order ends a hold, and its grant does not change.
Complaint robbed(const Transition& step) {
    if (!step.before.hold || lapses_at(*step.before.hold) <= step.now) return std::nullopt;
    const Hold& hold = *step.before.hold;
    if (hold.binding && step.gone == hold.epoch) return std::nullopt;
    const bool given_back = step.is_by(hold.owner) && (step.is_a<ReleaseRequest>() || step.is_a<WithdrawRequest>());
    const bool ordered = step.is_a<StopRequest>() || (!step.is_by(hold.owner) && step.is_a<RequisitionRequest>());
    const bool kept = step.after.hold && step.after.hold->owner == hold.owner && step.after.hold->epoch == hold.epoch;
    if (!kept) return given_back || ordered ? std::nullopt : Complaint("invariant 6: a live holder lost the lock");

    const Hold& now = *step.after.hold;
    if (now.granted_at != hold.granted_at || now.hard_cap != hold.hard_cap)
        return "invariant 6: the grant or its cap moved";
    Hold but_for_nudges = now;
    but_for_nudges.nudges = hold.nudges;
    if (!step.is_by(hold.owner) && but_for_nudges != hold) return "invariant 6: somebody else changed the hold";
    if (!step.is_a<NudgeRequest>() && now.nudges != hold.nudges) return "somebody's nudge is gone";
    const bool may_be_heard = !hold.claimed_at || step.is_a<RenewRequest>();
    if (!may_be_heard && now.last_feedback != hold.last_feedback) return "invariant 6: the lease moved unasked";
    if (hold.accepted_at && now.accepted_at != hold.accepted_at) return "invariant 6: the first accept was forgotten";
    return std::nullopt;
}

// 7: a turn passes over nobody that is alive, and nobody alive is gone from the queue but by its turn or its will.
Complaint skipped(const Transition& step) {
    std::vector<Waiter> ahead = step.before.queue;
    for (const Event& event : step.events) {
        if (event.kind == EventKind::Left)
            std::erase_if(ahead, [&](const Waiter& waiter) { return waiter.owner == event.owner; });
        if (event.kind != EventKind::HandedOff) continue;
        while (!ahead.empty() && ahead.front().owner != event.owner) {
            if (drops_at(ahead.front()) > event.at) return "invariant 7: a live waiter was skipped";
            ahead.erase(ahead.begin());
        }
        if (ahead.empty()) return "invariant 4: the lock was handed to somebody that did not wait";
        if (drops_at(ahead.front()) <= event.at) return "invariant 7: the lock was handed to a silent waiter";
        ahead.erase(ahead.begin());
    }
    for (const Waiter& waiter : ahead)
        if (drops_at(waiter) > step.now && !step.is_by(waiter.owner) && !place_of(step.after, waiter.owner))
            return "invariant 7: a live waiter lost its place";
    for (const Waiter& waiter : step.after.queue)
        if (drops_at(waiter) <= step.now) return "a silent waiter stays in the queue";
    return std::nullopt;
}

// What is remembered of others is theirs: only an end or an order changes it.
Complaint forgotten(const Transition& step) {
    for (const Ending& ending : step.before.endings) {
        if (step.is_by(ending.owner) || step.now - ending.at >= 24h) continue;
        const Ending* now = ending_of(step.after, ending.owner);
        if (!now) return "an ending was forgotten too early";
        const bool ended_again = std::any_of(step.events.begin(), step.events.end(), [&](const Event& event) {
            const bool an_end = event.kind == EventKind::Ended || event.kind == EventKind::Dropped ||
                                event.kind == EventKind::Requisitioned;
            return an_end && event.owner == ending.owner;
        });
        if (*now != ending && !ended_again) return "somebody else's ending changed";
    }
    return std::nullopt;
}

Complaint broken_property(const Transition& step) {
    for (const auto property : {unfair, reused, robbed, skipped, forgotten})
        if (auto complaint = property(step)) return complaint;
    return unsound(step.after, step.now);
}

// ---- Answers ----

Complaint wrong_windows(const LockState& state, const Request& request, const Answer& answer) {
    const Windows& windows = answer.windows;
    if (answer.status == Status::Holding) {
        const Instant end = lapses_at(*state.hold);
        if (windows.valid_until != end || windows.check_in_until != end || windows.hard_cap != state.hold->hard_cap)
            return "a holder's windows are not its deadlines";
        if (windows.check_in_from > end) return "a heartbeat is due after its deadline";
        if (windows.turn_latest) return "a holder has a turn to come";
    } else if (const Waiter* place = place_of(state, request.owner)) {
        Instant latest = state.hold->hard_cap;
        for (const Waiter* ahead = state.queue.data(); ahead != place; ++ahead) latest = latest + ahead->maximum_hold;
        if (windows.check_in_until != drops_at(*place) || windows.turn_earliest != kNow || windows.valid_until)
            return "a waiter's windows are not its deadlines";
        if (windows.turn_latest != latest) return "a waiter's latest turn is wrong";
        const Instant expected = windows.turn_expected.value_or(kNow);
        if (expected < kNow || expected > latest) return "a turn is expected when it cannot come";
    } else if (answer.status != Status::Queued && windows != Windows{}) {
        return "who neither holds nor waits has windows";
    }
    return std::nullopt;
}

Complaint wrong_answer(const Answer& answer, const Answer& read) {
    if (answer.refusal != read.refusal) return "refused when it must not be, or the other way, or for another reason";
    if (answer.status != read.status) return "another status than the protocol's";
    if (answer.hold != read.hold) return "the answer tells of another hold";
    if (answer.place != read.place || answer.position != read.position) return "the answer tells of another place";
    if (answer.queue_length != read.queue_length) return "the answer tells of another queue";
    if (answer.earlier_process != read.earlier_process) return "the answer tells of another process at the place";
    if (answer.joined != read.joined) return "the answer is wrong about who joined";
    if (answer.ending != read.ending) return "the answer tells of another ending";
    if (answer.previous != read.previous) return "the answer tells of another previous ending";
    if (answer.displaced != read.displaced) return "the answer tells of another displaced holder";
    if (answer.released != read.released || answer.cause != read.cause) return "the answer is wrong about the release";
    if (answer.now != kNow) return "the answer is of another time";
    return std::nullopt;
}

// ---- Settling ----

// The instants at which something may fall due after kNow if nobody is heard from, and those just before and after.
std::vector<Instant> telling_instants(const LockState& state, const Grid& grid) {
    std::vector<Instant> instants = {kNow + grid.tick, kNow + 600s, kNow + 24h};
    const auto add = [&](Instant due) { instants.insert(instants.end(), {due - 1ms, due, due + 1ms}); };
    if (state.hold)
        for (std::int64_t turns = 0; turns <= static_cast<std::int64_t>(state.queue.size()); ++turns)
            add(lapses_at(*state.hold) + turns * Duration{30s});
    for (const Waiter& waiter : state.queue) add(drops_at(waiter));
    for (const Ending& ending : state.endings) add(ending.at + 24h);
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
    return instants;
}

Complaint judge_silence(const LockState& state, const Grid& grid) {
    const Instant quiet = kNow + grid.lease + kOwners * Duration{30s};
    const LockState free = settle(state, quiet).state;
    if (free.hold || !free.queue.empty()) return "all are silent and the lock is not free in time";
    if (!settle(state, quiet + 24h).state.endings.empty()) return "all are silent and endings are kept too long";
    return std::nullopt;
}

}  // namespace

Complaint judge_passing(const LockState& before, const Settled& after, Instant now) {
    if (auto complaint = broken_property({before, after.state, after.events, nullptr, {}, now})) return complaint;
    const Reading read = read_settling(before, now);
    if (after.events != read.events) return "settling: other events than were due, or in another order";
    if (!same(after.state, read.state)) return "settling: another state than was due";
    return std::nullopt;
}

Complaint judge_settling(const LockState& state, const Grid& grid) {
    Settled stepwise{state, {}};
    for (const Instant instant : telling_instants(state, grid)) {
        const Settled direct = settle(state, instant);
        if (auto complaint = judge_passing(state, direct, instant)) return complaint;

        Settled next = settle(std::move(stepwise.state), instant);
        stepwise.state = std::move(next.state);
        stepwise.events.insert(stepwise.events.end(), next.events.begin(), next.events.end());
        if (stepwise.state != direct.state) return "settling in steps leads to another state";
        if (stepwise.events != direct.events) return "settling in steps leads to other events";
    }
    return judge_silence(state, grid);
}

// Nothing is bound to the processes of an ended grant any more, nor kept by it.
Complaint kept_by_the_dead(const LockState& state, std::optional<Epoch> gone) {
    if (gone && state.hold && state.hold->epoch == *gone) return "a grant outlived the processes it was bound to";
    return std::nullopt;
}

Complaint judge_request(const LockState& state, const Request& request, const Evidence& evidence,
                        const Decision& decision) {
    const std::optional<Epoch> gone = evidence.process_gone;
    const bool refused = decision.answer.refusal.has_value();
    const bool unchanged = decision.events.empty() && decision.state == state;
    const bool ends_by_itself = gone && state.hold && state.hold->epoch == *gone;
    if (refused && !unchanged && !ends_by_itself) return "a refused request changed something";
    if (!unchanged)
        if (auto complaint = broken_property({state, decision.state, decision.events, &request, gone, kNow}))
            return complaint;
    if (auto complaint = kept_by_the_dead(decision.state, gone)) return complaint;

    const ReadRequest read = read_request(state, request, gone, kNow);
    if (auto complaint = wrong_answer(decision.answer, read.answer)) return complaint;
    if (decision.events != read.events) return "other events than the protocol's, or in another order";
    if (!same(decision.state, read.state)) return "another state than the protocol's";
    return wrong_windows(decision.state, request, decision.answer);
}

Complaint judge_late_request(const LockState& state, const Request& request) {
    if (!state.hold) return std::nullopt;
    const Instant late = lapses_at(*state.hold);
    const Decision at_once = decide(state, request, late);
    Settled settled = settle(state, late);
    const Decision after = decide(settled.state, request, late);
    settled.events.insert(settled.events.end(), after.events.begin(), after.events.end());
    if (at_once.state != after.state || at_once.answer != after.answer || at_once.events != settled.events)
        return "deciding is not settling, then deciding";
    return std::nullopt;
}

}  // namespace hagi::test
