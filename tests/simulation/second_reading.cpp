#include "tests/simulation/second_reading.hpp"

#include <algorithm>

namespace hagi::test {
namespace {

using namespace std::chrono_literals;

// The protocol's numbers once more, so that a wrong one in limits.hpp is seen.
constexpr Duration kClaim = 30s;
constexpr Duration kSilence = 60s;
constexpr Duration kShown = 600s;
constexpr Duration kKept = 24h;
constexpr std::size_t kHoldsRemembered = 9;
constexpr std::size_t kNudgesShown = 8;

void forget(std::vector<Ending>& endings, const Owner& owner) {
    endings.erase(
        std::remove_if(endings.begin(), endings.end(), [&](const Ending& ending) { return ending.owner == owner; }),
        endings.end());
}

void replace(std::vector<Ending>& endings, const Ending& ending) {
    forget(endings, ending.owner);
    endings.push_back(ending);
}

const Ending* remembered(const LockState& state, const Owner& owner) {
    for (const Ending& ending : state.endings)
        if (ending.owner == owner) return &ending;
    return nullptr;
}

std::size_t index_of(const std::vector<Waiter>& queue, const Owner& owner) {
    std::size_t index = 0;
    while (index < queue.size() && queue[index].owner != owner) ++index;
    return index;
}

Hold granted(const Waiter& terms, Epoch epoch, GrantKind how, Instant at) {
    Hold hold;
    hold.owner = terms.owner;
    hold.epoch = epoch;
    hold.lease = terms.lease;
    hold.hard_cap = at + terms.maximum_hold;
    hold.label = terms.label;
    hold.granted_at = hold.last_feedback = at;
    hold.granted_how = how;
    if (how != GrantKind::HandedOff) hold.claimed_at = at;
    hold.phase = terms.phase;
    if (!terms.phase.empty()) hold.phase_since = at;
    hold.note = terms.note;
    return hold;
}

// One thing that happens by itself. `rank` orders what happens at one instant.
struct Happening {
    Event event;
    int rank = 0;
};

// Follows the chain of holds that end before or at `now`, passing the lock to whoever is not silent by then.
void follow_holds(LockState& state, std::vector<Happening>& happenings, Instant now) {
    while (state.hold && lapses_at(*state.hold) <= now) {
        const Hold ended = *state.hold;
        const Instant at = lapses_at(ended);
        Cause cause = ended.claimed_at ? Cause::LeaseExpired : Cause::ClaimMissed;
        if (at == ended.hard_cap) cause = Cause::MaximumHold;
        happenings.push_back({{EventKind::Ended, at, ended.owner, ended.epoch, {}, {}, cause, ended.label}, 1});
        state.recent_holds.push_back(at - ended.granted_at);
        state.hold.reset();

        const auto next = std::find_if(state.queue.begin(), state.queue.end(),
                                       [&](const Waiter& waiter) { return drops_at(waiter) > at; });
        if (next == state.queue.end()) return;
        state.last_epoch = Epoch{state.last_epoch.value + 1};
        state.hold = granted(*next, state.last_epoch, GrantKind::HandedOff, at);
        happenings.push_back({{EventKind::HandedOff, at, next->owner, state.last_epoch, {}, {}, {}, next->label}, 2});
        state.queue.erase(next);
    }
}

void drop_the_silent(LockState& state, std::vector<Happening>& happenings, Instant now) {
    std::vector<Waiter> heard;
    for (const Waiter& waiter : state.queue)
        if (drops_at(waiter) > now)
            heard.push_back(waiter);
        else
            happenings.push_back(
                {{EventKind::Dropped, drops_at(waiter), waiter.owner, {}, {}, {}, Cause::NotPolled, waiter.label}, 0});
    state.queue = std::move(heard);
}

void remember(LockState& state, const Event& event) {
    if (event.kind == EventKind::Dropped)
        replace(state.endings, {event.owner, EndedKind::Place, {}, event.at, *event.cause, {}, {}});
    if (event.kind == EventKind::Ended)
        replace(state.endings, {event.owner, EndedKind::Hold, event.epoch, event.at, *event.cause, {}, {}});
}

void trim(std::vector<Duration>& holds) {
    while (holds.size() > kHoldsRemembered) holds.erase(holds.begin());
}

// ---- Requests ----

class Reader {
public:
    Reader(const LockState& state, const Request& request, Instant now)
        : owner_(request.owner), now_(now), binding_(request.binding) {
        read_.state = state;
    }

    // What came to light with the request: the processes of grant `gone` have ended.
    void learn(Epoch gone) {
        if (!state().hold || !(state().hold->epoch == gone)) return;
        const Hold hold = *state().hold;
        log(EventKind::Ended, hold.owner, hold.epoch, Cause::ProcessGone, hold.label);
        replace(state().endings, {hold.owner, EndedKind::Hold, hold.epoch, now_, Cause::ProcessGone, {}, {}});
        end_hold();
        give_to_the_next();
    }

    void operator()(const StatusRequest& request) {
        hear();
        if (is_holder() && request.when_granted == WhenGranted::Accept) start();
        see();
    }

    void operator()(const AcquireRequest& request) {
        const bool through_this_run =
            is_holder() && state().hold->binding && binding_ && state().hold->binding->run == binding_->run;
        if (binding_ && (is_waiting() || (is_holder() && !through_this_run)))
            return refuse({RefusalCode::Conflict, {}, {}});
        if (!state().hold) {
            give(terms(request), GrantKind::TakenFree);
            if (request.when_granted == WhenGranted::Accept) accept();
        } else if (is_holder()) {
            claim();
            update_hold(request.label, request.progress);
        } else if (request.when_held == WhenHeld::Refuse) {
            return refuse({RefusalCode::Conflict, {}, {}});
        } else if (is_waiting()) {
            update_place(request);
        } else {
            return join(request);
        }
        see();
        tell_previous();
    }

    void operator()(const RenewRequest& request) {
        if (!is_holder() || request.epoch.value_or(state().hold->epoch) != state().hold->epoch)
            return refuse_lost(RefusalCode::LockLost, request.epoch);
        claim();
        state().hold->last_feedback = now_;
        state().hold->lease = request.lease.value_or(state().hold->lease);
        update_hold({}, request.progress);
        see();
    }

    void operator()(const AcceptRequest& request) {
        if (!state().known) return refuse({RefusalCode::NotFound, {}, request.epoch});
        const bool another_named = request.epoch && (!state().hold || state().hold->epoch != *request.epoch);
        const Ending* ending = remembered(state(), owner_);
        const bool held_once = ending && ending->kind == EndedKind::Hold;
        if (another_named || (!is_holder() && held_once)) return refuse_lost(RefusalCode::WorkLeaseLost, request.epoch);
        if (!state().hold) return refuse({RefusalCode::WorkLeaseLost, Cause::NotTheHolder, {}});
        if (!is_holder()) return refuse({RefusalCode::Conflict, {}, request.epoch});

        const Hold& hold = *state().hold;
        const Instant lease_end = (hold.claimed_at ? hold.last_feedback : now_) + hold.lease;
        if (std::min(lease_end, hold.hard_cap) < now_ + request.minimum_left)
            return refuse({RefusalCode::WorkLeaseLost, Cause::TooLittleLeft, hold.epoch});
        claim();
        start();
        see();
    }

    void operator()(const ReleaseRequest& request) {
        read_.answer.released = Released::Nothing;
        if (is_holder() && (!request.epoch || *request.epoch == state().hold->epoch))
            release_hold();
        else if (is_waiting() && !request.epoch)
            release_place();
        else if (request.epoch)
            read_.answer.cause = Cause::StaleEpoch;
        see();
    }

    void operator()(const RequisitionRequest& request) {
        if (request.epoch && (!state().hold || state().hold->epoch != *request.epoch))
            return refuse({RefusalCode::Conflict, {}, request.epoch});
        if (is_holder()) {
            claim();
            update_hold({}, request.progress);
            return see();
        }
        if (state().hold) displace(EventKind::Requisitioned, Cause::Requisitioned, request.reason);
        if (is_waiting()) leave();
        AcquireRequest defaults;
        defaults.label = request.label;
        defaults.lease = request.lease;
        defaults.progress = request.progress;
        give(terms(defaults), GrantKind::Requisitioned);
        see();
    }

    void operator()(const StopRequest& request) {
        if (request.epoch && (!state().hold || state().hold->epoch != *request.epoch))
            return refuse({RefusalCode::Conflict, {}, request.epoch});
        if (state().hold) {
            displace(EventKind::Ended, Cause::Stopped, request.reason);
            give_to_the_next();
        }
        see();
    }

    void operator()(const NudgeRequest& request) {
        if (!state().known) return refuse({RefusalCode::NotFound, {}, {}});
        if (state().hold) nudge(*state().hold, request.reason);
        see();
    }

    void operator()(const GiveUpRequest& request) {
        hear();
        see();
        if (!is_waiting() || request.place == Place::Keep) return;
        release_place();
    }

    void operator()(const WithdrawRequest& request) {
        read_.answer.released = Released::Nothing;
        const bool gained = is_holder() && (!request.held_before || *request.held_before != state().hold->epoch);
        if (gained)
            release_hold();
        else if (is_waiting() && request.place == Place::Leave)
            release_place();
        see();
    }

    ReadRequest result() && {
        trim(read_.state.recent_holds);
        return std::move(read_);
    }

private:
    LockState& state() { return read_.state; }
    bool is_holder() { return state().hold && state().hold->owner == owner_; }
    bool is_waiting() { return index_of(state().queue, owner_) < state().queue.size(); }

    void log(EventKind kind, const Owner& owner, Epoch epoch, std::optional<Cause> cause, const Label& label) {
        read_.events.push_back({kind, now_, owner, epoch, {}, {}, cause, label});
    }

    Waiter terms(const AcquireRequest& request) {
        return {owner_,
                request.label.value_or(Label{}),
                request.progress.phase.value_or(Phase{}),
                request.progress.note.value_or(Note{}),
                request.lease.value_or(600s),
                request.maximum_hold.value_or(24h),
                now_,
                now_,
                request.process};
    }

    void give(const Waiter& to, GrantKind how) {
        state().known = true;
        state().last_epoch = Epoch{state().last_epoch.value + 1};
        state().hold = granted(to, state().last_epoch, how, now_);
        if (how != GrantKind::HandedOff) state().hold->binding = binding_;
        log(how == GrantKind::HandedOff ? EventKind::HandedOff : EventKind::Granted, to.owner, state().last_epoch, {},
            to.label);
    }

    void claim() {
        Hold& hold = *state().hold;
        if (hold.claimed_at) return;
        hold.claimed_at = hold.last_feedback = now_;
        hold.binding = binding_;
        log(EventKind::Claimed, owner_, hold.epoch, {}, hold.label);
    }

    void accept() {
        Hold& hold = *state().hold;
        hold.accepted_at = now_;
        log(EventKind::Accepted, owner_, hold.epoch, {}, hold.label);
    }

    void start() {
        if (binding_) state().hold->binding = binding_;
        if (!state().hold->accepted_at) accept();
    }

    void hear() {
        if (is_holder()) claim();
        if (is_waiting()) state().queue[index_of(state().queue, owner_)].last_heard = now_;
    }

    void update_hold(const std::optional<Label>& label, const Progress& progress) {
        Hold& hold = *state().hold;
        hold.label = label.value_or(hold.label);
        hold.note = progress.note.value_or(hold.note);
        const Phase phase = progress.phase.value_or(hold.phase);
        if (phase == hold.phase) return;
        hold.phase = phase;
        hold.phase_since.reset();
        if (!phase.empty()) hold.phase_since = now_;
    }

    void update_place(const AcquireRequest& request) {
        hear();
        Waiter& place = state().queue[index_of(state().queue, owner_)];
        if (request.label) place.label = *request.label;
        if (request.progress.phase) place.phase = *request.progress.phase;
        if (request.progress.note) place.note = *request.progress.note;
        if (request.lease) place.lease = *request.lease;
        if (request.maximum_hold) place.maximum_hold = *request.maximum_hold;
        if (!request.process || place.process == request.process) return;
        read_.answer.earlier_process = place.process;
        place.process = request.process;
    }

    void join(const AcquireRequest& request) {
        state().queue.push_back(terms(request));
        see();
        tell_previous();
        if (request.when_held == WhenHeld::LookOnce) {
            state().queue.pop_back();
            read_.answer.released = Released::Place;
            return;
        }
        read_.answer.joined = true;
        log(EventKind::Queued, owner_, {}, {}, state().queue.back().label);
    }

    void leave() {
        const std::size_t index = index_of(state().queue, owner_);
        log(EventKind::Left, owner_, {}, Cause::Left, state().queue[index].label);
        state().queue.erase(state().queue.begin() + static_cast<std::ptrdiff_t>(index));
    }

    void release_place() {
        leave();
        forget(state().endings, owner_);
        read_.answer.released = Released::Place;
    }

    void end_hold() {
        state().recent_holds.push_back(now_ - state().hold->granted_at);
        state().hold.reset();
    }

    void release_hold() {
        log(EventKind::Released, owner_, state().hold->epoch, Cause::Released, state().hold->label);
        end_hold();
        forget(state().endings, owner_);
        read_.answer.released = Released::Hold;
        give_to_the_next();
    }

    void give_to_the_next() {
        if (state().queue.empty()) return;
        const Waiter next = state().queue.front();
        state().queue.erase(state().queue.begin());
        give(next, GrantKind::HandedOff);
    }

    void displace(EventKind kind, Cause cause, const Reason& reason) {
        const Hold hold = *state().hold;
        read_.answer.displaced = Displaced{hold.owner, hold.epoch};
        read_.events.push_back({kind, now_, hold.owner, hold.epoch, owner_, reason, cause, hold.label});
        replace(state().endings, {hold.owner, EndedKind::Hold, hold.epoch, now_, cause, owner_, reason});
        end_hold();
    }

    void nudge(Hold& hold, const Reason& reason) {
        std::erase_if(hold.nudges, [&](const Nudge& earlier) { return earlier.by == owner_; });
        hold.nudges.push_back({owner_, now_, reason});
        while (hold.nudges.size() > kNudgesShown) hold.nudges.erase(hold.nudges.begin());
        read_.events.push_back({EventKind::Nudged, now_, hold.owner, hold.epoch, owner_, reason, {}, hold.label});
    }

    // Fills in where the caller stands now.
    void see() {
        Answer& answer = read_.answer;
        answer.hold = state().hold;
        answer.queue_length = state().queue.size();
        answer.status = Status::None;
        const Ending* ending = remembered(state(), owner_);
        if (is_holder()) {
            answer.status = Status::Holding;
        } else if (is_waiting()) {
            answer.status = Status::Queued;
            answer.position = index_of(state().queue, owner_) + 1;
            answer.place = state().queue[answer.position - 1];
        } else if (ending && now_ - ending->at < kShown) {
            const bool by_order = ending->cause == Cause::Requisitioned || ending->cause == Cause::Stopped;
            answer.status = by_order ? Status::Requisitioned : Status::Expired;
            answer.ending = *ending;
        }
    }

    void tell_previous() {
        const Ending* ending = remembered(state(), owner_);
        if (ending && now_ - ending->at < kShown) read_.answer.previous = *ending;
    }

    void refuse(const Refusal& refusal) {
        see();
        read_.answer.refusal = refusal;
    }

    // Whatever is remembered about what the caller means: its last grant or place, or the epoch that it named.
    void refuse_lost(RefusalCode code, std::optional<Epoch> named) {
        const Ending* ending = remembered(state(), owner_);
        const bool a_hold = ending && ending->kind == EndedKind::Hold;
        if (ending && (!named || (a_hold && ending->epoch == *named))) {
            refuse({code, ending->cause, a_hold ? std::optional(ending->epoch) : named});
            read_.answer.ending = *ending;
            return;
        }
        const bool names_the_grant = named && state().hold && state().hold->epoch == *named;
        refuse({code, named && !names_the_grant ? Cause::StaleEpoch : Cause::NotTheHolder, named});
    }

    Owner owner_;
    Instant now_;
    std::optional<Binding> binding_;
    ReadRequest read_;
};

}  // namespace

Instant lapses_at(const Hold& hold) {
    if (!hold.claimed_at) return std::min(hold.granted_at + kClaim, hold.hard_cap);
    return std::min(hold.last_feedback + hold.lease, hold.hard_cap);
}

Instant drops_at(const Waiter& waiter) { return waiter.last_heard + kSilence; }

Reading read_settling(const LockState& state, Instant now) {
    Reading reading{state, {}};
    std::vector<Happening> happenings;
    follow_holds(reading.state, happenings, now);
    drop_the_silent(reading.state, happenings, now);
    std::stable_sort(happenings.begin(), happenings.end(), [](const Happening& one, const Happening& other) {
        return one.event.at != other.event.at ? one.event.at < other.event.at : one.rank < other.rank;
    });
    for (const Happening& happening : happenings) {
        remember(reading.state, happening.event);
        reading.events.push_back(happening.event);
    }
    std::erase_if(reading.state.endings, [&](const Ending& ending) { return now - ending.at >= kKept; });
    trim(reading.state.recent_holds);
    return reading;
}

ReadRequest read_request(const LockState& state, const Request& request, std::optional<Epoch> gone, Instant now) {
    Reader reader(state, request, now);
    if (gone) reader.learn(*gone);
    std::visit(reader, request.action);
    return std::move(reader).result();
}

}  // namespace hagi::test
