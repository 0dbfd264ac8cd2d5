#include "lockcore/rules.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/excerpt.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/windows.hpp"

namespace hagi {
namespace {

// A state on its way from one to the next, and what happened to it.
struct Course {
    LockState state;
    std::vector<Event> events;
    std::optional<Binding> binding;  // of who asks
    std::optional<Watcher> watcher;  // who asks, where it is one
};

auto find_place(std::vector<Waiter>& queue, const Owner& owner) {
    return std::find_if(queue.begin(), queue.end(), [&](const Waiter& waiter) { return waiter.owner == owner; });
}

auto find_place(const std::vector<Waiter>& queue, const Owner& owner) {
    return std::find_if(queue.begin(), queue.end(), [&](const Waiter& waiter) { return waiter.owner == owner; });
}

const Ending* find_ending(const LockState& state, const Owner& owner) {
    const auto found = std::find_if(state.endings.begin(), state.endings.end(),
                                    [&](const Ending& ending) { return ending.owner == owner; });
    return found == state.endings.end() ? nullptr : &*found;
}

bool holds(const LockState& state, const Owner& owner) { return state.hold && state.hold->owner == owner; }

void forget_ending(LockState& state, const Owner& owner) {
    std::erase_if(state.endings, [&](const Ending& ending) { return ending.owner == owner; });
}

void remember(LockState& state, Ending ending) {
    forget_ending(state, ending.owner);
    state.endings.push_back(std::move(ending));
}

// ---- Transitions -------------------------------------------------------------------------------------------

void set_progress(Hold& hold, const Progress& progress, Instant now) {
    if (progress.phase && *progress.phase != hold.phase) {
        hold.phase = *progress.phase;
        hold.phase_since = hold.phase.empty() ? std::nullopt : std::optional(now);
    }
    if (progress.note) hold.note = *progress.note;
}

// `wanted` says who gets it and on what terms.
Hold& grant(Course& course, const Waiter& wanted, GrantKind how, Instant at) {
    LockState& state = course.state;
    state.known = true;
    state.last_epoch = state.last_epoch.next();

    Hold hold;
    hold.owner = wanted.owner;
    hold.epoch = state.last_epoch;
    hold.lease = wanted.lease;
    hold.hard_cap = at + wanted.maximum_hold;
    hold.label = wanted.label;
    hold.granted_at = at;
    hold.granted_how = how;
    hold.last_feedback = at;
    if (how != GrantKind::HandedOff) {
        hold.claimed_at = at;
        hold.binding = course.binding;
    }
    set_progress(hold, {wanted.phase, wanted.note}, at);

    const auto kind = how == GrantKind::HandedOff ? EventKind::HandedOff : EventKind::Granted;
    course.events.push_back({kind, at, hold.owner, hold.epoch, {}, {}, {}, hold.label});
    return state.hold.emplace(std::move(hold));
}

void hand_off(Course& course, Instant at) {
    std::vector<Waiter>& queue = course.state.queue;
    if (queue.empty()) return;
    const Waiter first = std::move(queue.front());
    queue.erase(queue.begin());
    grant(course, first, GrantKind::HandedOff, at);
}

// Takes the hold away; what becomes of the lock is the caller's next step.
Hold take_hold(LockState& state, Instant at) {
    Hold ended = std::move(*state.hold);
    state.hold.reset();
    state.recent_holds.push_back(at - ended.granted_at);
    if (state.recent_holds.size() > kRecentHolds) state.recent_holds.erase(state.recent_holds.begin());
    return ended;
}

void lapse_hold(Course& course, Cause cause, Instant at) {
    const Hold ended = take_hold(course.state, at);
    remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});
    course.events.push_back({EventKind::Ended, at, ended.owner, ended.epoch, {}, {}, cause, ended.label});
    hand_off(course, at);
}

void release_hold(Course& course, Instant at) {
    const Hold ended = take_hold(course.state, at);
    forget_ending(course.state, ended.owner);
    course.events.push_back({EventKind::Released, at, ended.owner, ended.epoch, {}, {}, Cause::Released, ended.label});
    hand_off(course, at);
}

// Removes the place of `owner`, which has one.
void leave_queue(Course& course, const Owner& owner, Instant at) {
    const auto place = find_place(course.state.queue, owner);
    course.events.push_back({EventKind::Left, at, owner, {}, {}, {}, Cause::Left, place->label});
    course.state.queue.erase(place);
}

// Leaves by the owner's own will. What it forgets would else be told to another watcher of the same owner as the
// reason why this place is gone.
void release_place(Course& course, const Owner& owner, Instant at) {
    leave_queue(course, owner, at);
    forget_ending(course.state, owner);
}

void claim(Course& course, Instant now) {
    Hold& hold = *course.state.hold;
    if (hold.claimed_at) return;
    hold.claimed_at = now;
    hold.last_feedback = now;
    hold.binding = course.binding;
    course.events.push_back({EventKind::Claimed, now, hold.owner, hold.epoch, {}, {}, {}, hold.label});
}

void add_watcher(Hold& hold, Watcher watcher, Instant now) {
    std::erase_if(hold.watchers, [&](const Watcher& known) { return known.process == watcher.process; });
    watcher.since = now;
    hold.watchers.push_back(std::move(watcher));
    if (hold.watchers.size() > kWatchersKept) hold.watchers.erase(hold.watchers.begin());
}

// Once a grant; by who holds it.
void accept(Course& course, Instant now) {
    Hold& hold = *course.state.hold;
    if (course.watcher) add_watcher(hold, *course.watcher, now);
    if (hold.accepted_at) return;
    hold.accepted_at = now;
    course.events.push_back({EventKind::Accepted, now, hold.owner, hold.epoch, {}, {}, {}, hold.label});
}

// The holder claims, a waiter keeps its place. A refused request never comes here.
void hear(Course& course, const Owner& owner, Instant now) {
    if (holds(course.state, owner)) return claim(course, now);
    const auto place = find_place(course.state.queue, owner);
    if (place != course.state.queue.end()) place->last_heard = now;
}

// ---- Settling ----------------------------------------------------------------------------------------------

Instant end_of(const Ending& ending) { return ending.at + kEndingKept; }

std::optional<Instant> next_due(const LockState& state) {
    std::optional<Instant> due;
    const auto consider = [&](Instant at) { due = due ? std::min(*due, at) : at; };
    if (state.hold) consider(hagi::end_of(*state.hold));
    for (const Waiter& waiter : state.queue) consider(hagi::end_of(waiter));
    for (const Ending& ending : state.endings) consider(end_of(ending));
    return due;
}

void drop_silent_waiters(Course& course, Instant at) {
    for (const Waiter& waiter : course.state.queue) {
        if (hagi::end_of(waiter) > at) continue;
        remember(course.state, {waiter.owner, EndedKind::Place, {}, at, Cause::NotPolled, {}, {}});
        course.events.push_back({EventKind::Dropped, at, waiter.owner, {}, {}, {}, Cause::NotPolled, waiter.label});
    }
    std::erase_if(course.state.queue, [&](const Waiter& waiter) { return hagi::end_of(waiter) <= at; });
}

// Of several causes at one instant the one that nothing could have averted is named.
Cause cause_of_lapse(const Hold& hold, Instant at) {
    if (hold.hard_cap <= at) return Cause::MaximumHold;
    return hold.claimed_at ? Cause::LeaseExpired : Cause::ClaimMissed;
}

// All that falls due at `at`, before which nothing else is due. The order is part of the protocol: a waiter that
// fell silent must not be granted at the instant it is dropped.
void apply_due(Course& course, Instant at) {
    drop_silent_waiters(course, at);
    if (course.state.hold && hagi::end_of(*course.state.hold) <= at)
        lapse_hold(course, cause_of_lapse(*course.state.hold, at), at);
    std::erase_if(course.state.endings, [&](const Ending& ending) { return end_of(ending) <= at; });
}

void settle_course(Course& course, Instant now) {
    for (auto due = next_due(course.state); due && *due <= now; due = next_due(course.state)) apply_due(course, *due);
}

// ---- Answers -----------------------------------------------------------------------------------------------

bool is_shown(const Ending& ending, Instant now) { return now < ending.at + kEndingShown; }

Status status_of(const Ending& ending) {
    return ending.cause == Cause::Requisitioned || ending.cause == Cause::Stopped ? Status::Requisitioned
                                                                                  : Status::Expired;
}

Answer answer_for(const LockState& state, const Owner& owner, Instant now) {
    Answer answer;
    answer.now = now;
    answer.hold = state.hold;
    answer.queue_length = crowd_before(state.queue, state.queue.end()).count;
    answer.windows = windows_of(state, owner, now);

    const auto place = find_place(state.queue, owner);
    const Ending* ending = find_ending(state, owner);
    if (holds(state, owner)) {
        answer.status = Status::Holding;
    } else if (place != state.queue.end()) {
        answer.status = Status::Queued;
        answer.place = *place;
        answer.position = crowd_before(state.queue, place).count + 1;
    } else if (ending && is_shown(*ending, now)) {
        answer.status = status_of(*ending);
        answer.ending = *ending;
    }
    return answer;
}

Answer refuse(const LockState& state, const Owner& owner, Refusal refusal, Instant now) {
    Answer answer = answer_for(state, owner, now);
    answer.refusal = refusal;
    return answer;
}

// The caller does not hold the grant it means (`epoch`, where it named one): says why, as long as that is known.
Answer refuse_as_lost(const LockState& state, const Owner& owner, std::optional<Epoch> epoch, RefusalCode code,
                      Instant now) {
    const Ending* ending = find_ending(state, owner);
    const bool remembered = ending && (!epoch || (ending->kind == EndedKind::Hold && ending->epoch == *epoch));
    if (remembered) {
        if (!epoch && ending->kind == EndedKind::Hold) epoch = ending->epoch;
        Answer answer = refuse(state, owner, {code, ending->cause, epoch}, now);
        answer.ending = *ending;
        return answer;
    }
    const bool of_another = state.hold && state.hold->epoch == epoch && !holds(state, owner);
    const Cause cause = epoch && !of_another ? Cause::StaleEpoch : Cause::NotTheHolder;
    return refuse(state, owner, {code, cause, epoch}, now);
}

// ---- Requests ----------------------------------------------------------------------------------------------

// Each takes the settled state and changes it only where it does not refuse.

Waiter wanted_by(const Owner& owner, const AcquireRequest& request, Instant now) {
    Waiter wanted;
    wanted.owner = owner;
    wanted.label = request.label.value_or(Label{});
    wanted.phase = request.progress.phase.value_or(Phase{});
    wanted.note = request.progress.note.value_or(Note{});
    wanted.lease = request.lease.value_or(kDefaultLease);
    wanted.maximum_hold = request.maximum_hold.value_or(kMaximumHold);
    wanted.enqueued_at = now;
    wanted.last_heard = now;
    wanted.process = request.process;
    return wanted;
}

void update(Waiter& place, const AcquireRequest& request) {
    place.label = request.label.value_or(place.label);
    place.phase = request.progress.phase.value_or(place.phase);
    place.note = request.progress.note.value_or(place.note);
    place.lease = request.lease.value_or(place.lease);
    place.maximum_hold = request.maximum_hold.value_or(place.maximum_hold);
}

// The newest process is the place's; the one before it is told to the newest.
std::optional<ProcessIdentity> take_over(Waiter& place, const AcquireRequest& request) {
    if (!request.process || request.process == place.process) return std::nullopt;
    return std::exchange(place.process, request.process);
}

Answer with_previous(Answer answer, const LockState& state, const Owner& owner) {
    const Ending* ending = find_ending(state, owner);
    if (ending && is_shown(*ending, answer.now)) answer.previous = *ending;
    return answer;
}

Answer join_queue(Course& course, const Owner& owner, const AcquireRequest& request, Instant now) {
    if (request.when_held == WhenHeld::LookOnce) {
        LockState as_if = course.state;
        as_if.queue.push_back(wanted_by(owner, request, now));
        Answer answer = answer_for(as_if, owner, now);
        answer.released = Released::Place;
        return answer;
    }
    course.state.queue.push_back(wanted_by(owner, request, now));
    course.events.push_back({EventKind::Queued, now, owner, {}, {}, {}, {}, course.state.queue.back().label});
    Answer answer = answer_for(course.state, owner, now);
    answer.joined = true;
    return answer;
}

// A second process must not run inside a grant or place that its owner has through another one.
bool is_taken_elsewhere(const Course& course, const Owner& owner) {
    if (!course.binding) return false;
    if (!holds(course.state, owner)) return find_place(course.state.queue, owner) != course.state.queue.end();
    return !course.state.hold->binding || course.state.hold->binding->run != course.binding->run;
}

Answer apply(Course& course, const Owner& owner, const AcquireRequest& request, Instant now) {
    LockState& state = course.state;
    const auto place = find_place(state.queue, owner);
    if (is_taken_elsewhere(course, owner)) return refuse(state, owner, {RefusalCode::Conflict, {}, {}}, now);
    if (holds(state, owner)) {
        claim(course, now);
        if (request.label) state.hold->label = *request.label;
        set_progress(*state.hold, request.progress, now);
    } else if (!state.hold) {
        grant(course, wanted_by(owner, request, now), GrantKind::TakenFree, now);
        if (request.when_granted == WhenGranted::Accept) accept(course, now);
    } else if (request.when_held == WhenHeld::Refuse) {
        return refuse(state, owner, {RefusalCode::Conflict, {}, {}}, now);
    } else if (place != state.queue.end()) {
        place->last_heard = now;
        update(*place, request);
        const auto earlier = take_over(*place, request);
        Answer answer = with_previous(answer_for(state, owner, now), state, owner);
        answer.earlier_process = earlier;
        return answer;
    } else {
        return with_previous(join_queue(course, owner, request, now), state, owner);
    }
    return with_previous(answer_for(state, owner, now), state, owner);
}

Answer apply(Course& course, const Owner& owner, const StatusRequest&, Instant now) {
    hear(course, owner, now);
    return answer_for(course.state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const RenewRequest& request, Instant now) {
    LockState& state = course.state;
    if (!holds(state, owner) || (request.epoch && *request.epoch != state.hold->epoch))
        return refuse_as_lost(state, owner, request.epoch, RefusalCode::LockLost, now);
    claim(course, now);
    state.hold->last_feedback = now;
    if (request.lease) state.hold->lease = *request.lease;
    set_progress(*state.hold, request.progress, now);
    if (course.watcher) add_watcher(*state.hold, *course.watcher, now);
    return answer_for(state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const AcceptRequest& request, Instant now) {
    LockState& state = course.state;
    if (!state.known) return refuse(state, owner, {RefusalCode::NotFound, {}, request.epoch}, now);

    const bool named_another = request.epoch && !(state.hold && state.hold->epoch == *request.epoch);
    if (!holds(state, owner) || named_another) {
        const Ending* ending = find_ending(state, owner);
        const bool lost_a_hold = ending && ending->kind == EndedKind::Hold;
        if (!named_another && !lost_a_hold)
            return state.hold ? refuse(state, owner, {RefusalCode::Conflict, {}, request.epoch}, now)
                              : refuse(state, owner, {RefusalCode::WorkLeaseLost, Cause::NotTheHolder, {}}, now);
        return refuse_as_lost(state, owner, request.epoch, RefusalCode::WorkLeaseLost, now);
    }

    Hold claimed = *state.hold;
    if (!claimed.claimed_at) {
        claimed.claimed_at = now;
        claimed.last_feedback = now;
    }
    if (end_of(claimed) - now < request.minimum_left)
        return refuse(state, owner, {RefusalCode::WorkLeaseLost, Cause::TooLittleLeft, claimed.epoch}, now);

    claim(course, now);
    if (course.binding) state.hold->binding = course.binding;
    accept(course, now);
    return answer_for(state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const ReleaseRequest& request, Instant now) {
    LockState& state = course.state;
    const bool waits = find_place(state.queue, owner) != state.queue.end();
    Released released = Released::Nothing;
    if (holds(state, owner) && (!request.epoch || *request.epoch == state.hold->epoch)) {
        release_hold(course, now);
        released = Released::Hold;
    } else if (waits && !request.epoch) {
        release_place(course, owner, now);
        released = Released::Place;
    }
    Answer answer = answer_for(state, owner, now);
    answer.released = released;
    if (released == Released::Nothing && request.epoch) answer.cause = Cause::StaleEpoch;
    return answer;
}

// By order of `by`; what becomes of the lock is the caller's next step.
struct Order {
    Cause cause = Cause::Requisitioned;
    Owner by;
    Reason reason;
};

Displaced displace(Course& course, const Order& order, Instant now) {
    const Hold ended = take_hold(course.state, now);
    const EventKind kind = order.cause == Cause::Requisitioned ? EventKind::Requisitioned : EventKind::Ended;
    remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, now, order.cause, order.by, order.reason});
    course.events.push_back({kind, now, ended.owner, ended.epoch, order.by, order.reason, order.cause, ended.label});
    return {ended.owner, ended.epoch};
}

bool names_another_grant(const LockState& state, const std::optional<Epoch>& epoch) {
    return epoch && !(state.hold && state.hold->epoch == *epoch);
}

Answer apply(Course& course, const Owner& owner, const RequisitionRequest& request, Instant now) {
    LockState& state = course.state;
    if (names_another_grant(state, request.epoch))
        return refuse(state, owner, {RefusalCode::Conflict, {}, request.epoch}, now);
    if (holds(state, owner)) {
        claim(course, now);
        set_progress(*state.hold, request.progress, now);
        return answer_for(state, owner, now);
    }

    std::optional<Displaced> displaced;
    if (state.hold) displaced = displace(course, {Cause::Requisitioned, owner, request.reason}, now);
    if (find_place(state.queue, owner) != state.queue.end()) leave_queue(course, owner, now);

    AcquireRequest terms;
    terms.label = request.label;
    terms.lease = request.lease;
    terms.progress = request.progress;
    grant(course, wanted_by(owner, terms, now), GrantKind::Requisitioned, now);
    Answer answer = answer_for(state, owner, now);
    answer.displaced = displaced;
    return answer;
}

Answer apply(Course& course, const Owner& owner, const StopRequest& request, Instant now) {
    if (names_another_grant(course.state, request.epoch))
        return refuse(course.state, owner, {RefusalCode::Conflict, {}, request.epoch}, now);
    std::optional<Displaced> displaced;
    if (course.state.hold) {
        displaced = displace(course, {Cause::Stopped, owner, request.reason}, now);
        hand_off(course, now);
    }
    Answer answer = answer_for(course.state, owner, now);
    answer.displaced = displaced;
    return answer;
}

Answer apply(Course& course, const Owner& owner, const NudgeRequest& request, Instant now) {
    LockState& state = course.state;
    if (!state.known) return refuse(state, owner, {RefusalCode::NotFound, {}, {}}, now);
    if (state.hold) {
        std::vector<Nudge>& nudges = state.hold->nudges;
        std::erase_if(nudges, [&](const Nudge& nudge) { return nudge.by == owner; });
        nudges.push_back({owner, now, request.reason});
        if (nudges.size() > kNudgesKept) nudges.erase(nudges.begin());
        course.events.push_back({EventKind::Nudged,
                                 now,
                                 state.hold->owner,
                                 state.hold->epoch,
                                 owner,
                                 request.reason,
                                 {},
                                 state.hold->label});
    }
    return answer_for(state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const GiveUpRequest& request, Instant now) {
    hear(course, owner, now);
    Answer answer = answer_for(course.state, owner, now);
    if (answer.status == Status::Queued && request.place == Place::Leave) {
        release_place(course, owner, now);
        answer.released = Released::Place;
    }
    return answer;
}

Answer apply(Course& course, const Owner& owner, const WithdrawRequest& request, Instant now) {
    LockState& state = course.state;
    Released released = Released::Nothing;
    if (holds(state, owner) && request.held_before != state.hold->epoch) {
        release_hold(course, now);
        released = Released::Hold;
    } else if (request.place == Place::Leave && find_place(state.queue, owner) != state.queue.end()) {
        release_place(course, owner, now);
        released = Released::Place;
    }
    Answer answer = answer_for(state, owner, now);
    answer.released = released;
    return answer;
}

}  // namespace

Settled settle(LockState state, Instant now) {
    Course course{std::move(state), {}, {}, {}};
    settle_course(course, now);
    return {std::move(course.state), std::move(course.events)};
}

Decision decide(LockState state, const Request& request, Instant now, const Evidence& evidence) {
    Course course{std::move(state), {}, request.binding, request.watcher};
    settle_course(course, now);
    if (course.state.hold && course.state.hold->epoch == evidence.process_gone)
        lapse_hold(course, Cause::ProcessGone, now);
    Answer answer =
        std::visit([&](const auto& action) { return apply(course, request.owner, action, now); }, request.action);
    return {std::move(course.state), std::move(answer), std::move(course.events)};
}

std::vector<Owner> owners_to_wake(const LockState& before, const LockState& after) {
    std::vector<Owner> woken;
    const auto add = [&](const Owner& owner) {
        if (std::find(woken.begin(), woken.end(), owner) == woken.end()) woken.push_back(owner);
    };
    const bool same_grant =
        before.hold && after.hold ? before.hold->epoch == after.hold->epoch : !before.hold && !after.hold;
    if (!same_grant && after.hold) add(after.hold->owner);
    if (!same_grant && before.hold) add(before.hold->owner);
    if (same_grant && after.hold && before.hold->nudges != after.hold->nudges) add(after.hold->owner);

    // A gap is a place that ended or whose turn has come; those behind one moved up.
    std::vector<Owner> moved_up;
    bool gap = false;
    auto now_at = after.queue.begin();
    for (const Waiter& was : before.queue) {
        const bool stays = now_at != after.queue.end() && now_at->owner == was.owner;
        if (!stays) {
            gap = true;
            add(was.owner);
            continue;
        }
        ++now_at;
        if (gap && moved_up.size() < kPlacesWoken) moved_up.push_back(was.owner);
    }
    for (const Owner& owner : moved_up) add(owner);
    return woken;
}

Cause cause_for_watcher(const Answer& answer, Watched watched) {
    if (answer.ending) return answer.ending->cause;
    return watched == Watched::Grant ? Cause::Released : Cause::Left;
}

}  // namespace hagi
