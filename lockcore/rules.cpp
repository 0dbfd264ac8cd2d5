#include "lockcore/rules.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/excerpt.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/transitions.hpp"
#include "lockcore/windows.hpp"

namespace hagi {
namespace {

using transition::Course;

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
    const Ending* ending = find_ending(state.endings, owner);
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
    const Ending* ending = find_ending(state.endings, owner);
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
    const Ending* ending = find_ending(state.endings, owner);
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
        set_progress(course, request.progress, now);
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

Answer apply(Course& course, const Owner& owner, const StatusRequest& request, Instant now) {
    hear(course, owner, now);
    if (request.when_granted == WhenGranted::Accept && holds(course.state, owner)) accept(course, now);
    return answer_for(course.state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const RenewRequest& request, Instant now) {
    LockState& state = course.state;
    if (!holds(state, owner) || (request.epoch && *request.epoch != state.hold->epoch))
        return refuse_as_lost(state, owner, request.epoch, RefusalCode::LockLost, now);
    claim(course, now);
    state.hold->last_feedback = now;
    if (request.lease) state.hold->lease = *request.lease;
    set_progress(course, request.progress, now);
    add_watcher(course, now);
    return answer_for(state, owner, now);
}

Answer apply(Course& course, const Owner& owner, const AcceptRequest& request, Instant now) {
    LockState& state = course.state;
    if (!state.known) return refuse(state, owner, {RefusalCode::NotFound, {}, request.epoch}, now);

    const bool named_another = request.epoch && !(state.hold && state.hold->epoch == *request.epoch);
    if (!holds(state, owner) || named_another) {
        const Ending* ending = find_ending(state.endings, owner);
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

bool names_another_grant(const LockState& state, const std::optional<Epoch>& epoch) {
    return epoch && !(state.hold && state.hold->epoch == *epoch);
}

Answer apply(Course& course, const Owner& owner, const RequisitionRequest& request, Instant now) {
    LockState& state = course.state;
    if (names_another_grant(state, request.epoch))
        return refuse(state, owner, {RefusalCode::Conflict, {}, request.epoch}, now);
    if (holds(state, owner)) {
        claim(course, now);
        set_progress(course, request.progress, now);
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
    transition::settle(course, now);
    return {std::move(course.state), std::move(course.events)};
}

Decision decide(LockState state, const Request& request, Instant now, const Evidence& evidence) {
    Course course{std::move(state), {}, request.binding, request.watcher};
    transition::settle(course, now);
    if (course.state.hold && course.state.hold->epoch == evidence.process_gone)
        lapse_hold(course, Cause::ProcessGone, now);
    Answer answer =
        std::visit([&](const auto& action) { return apply(course, request.owner, action, now); }, request.action);
    return {std::move(course.state), std::move(answer), std::move(course.events)};
}

Cause cause_for_watcher(const Answer& answer, Watched watched) {
    if (answer.ending) return answer.ending->cause;
    return watched == Watched::Grant ? Cause::Released : Cause::Left;
}

}  // namespace hagi
