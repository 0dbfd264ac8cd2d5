#include "cmd/await_grant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cmd/outage.hpp"
#include "cmd/text.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/watcher.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/windows.hpp"
#include "platform/process_identity.hpp"

namespace hagi {
namespace {

constexpr Duration kFirstLookAfterEnd = 5ms;
constexpr Duration kLastLookAfterEnd = 1s;

// The process that the grant ahead is bound to. Its end is a reason to look at once; and again soon, in growing steps,
// since its command's group may take a moment to go.
class BoundHolder {
public:
    void follow(const Hold& hold) {
        if (hold.epoch == epoch_) return;
        epoch_ = hold.epoch;
        descriptor_.reset();
        next_look_ = kFirstLookAfterEnd;
        // What is gone by now, the rules were told at the look that showed this grant, or will be at the next poll.
        if (hold.binding && is_alive(hold.binding->run) == Liveness::Alive)
            descriptor_ = open_process(hold.binding->run.pid);
    }

    // What ends the sleep, or how long it may be at most.
    std::optional<Duration> prepare(Interrupts& interrupts) {
        if (!descriptor_ || next_look_ > kLastLookAfterEnd) return std::nullopt;
        if (!is_readable(descriptor_.get())) {
            interrupts.push_back(descriptor_.get());
            return std::nullopt;
        }
        return std::exchange(next_look_, next_look_ * 2);
    }

private:
    Epoch epoch_;
    UniqueFd descriptor_;
    Duration next_look_{};
};

class Waiting {
public:
    Waiting(Session& session, const AwaitTerms& terms, StopSource& stop, const Announce& announce)
        : session_(session), terms_(terms), stop_(stop), announce_(announce), began_(now()) {}

    Awaited run() {
        for (;;) {
            if (stop_.requested()) return withdraw();
            if (listener_) listener_->arm();
            const bool last_look = now() >= began_ + terms_.timeout;
            asked_at_ = now();
            const auto answer = look(last_look);
            if (auto ended = answer ? consider(*answer, last_look) : endure(answer.error(), last_look)) return *ended;
            if (!listener_ && listen()) continue;
            Interrupts interrupts = stop_.interrupts();
            const auto sooner = bound_.prepare(interrupts);
            listener_->sleep(std::min(until_next_look(), sooner.value_or(Duration::max())), interrupts);
        }
    }

private:
    [[nodiscard]] Duration now() const { return session_.context.steady_now(); }

    // Only for who must wait: most locks are free. True: look again before sleeping, since what happened between the
    // first look and here went unheard.
    bool listen() {
        listener_ = session_.engine->listen(session_.subject.lock_id, session_.subject.owner);
        if (auto weakness = listener_->weakness())
            announce_({WatchEventKind::Warning, *std::move(weakness), last_, {}});
        return last_.has_value();
    }

    Result<Answer> look(bool last_look) {
        if (!joined_ && terms_.begin == Begin::Acquire)
            return session_.submit(first_request(last_look), terms_.watcher);
        if (last_look) return session_.submit(GiveUpRequest{leaving()});
        return session_.submit(StatusRequest{terms_.request.when_granted}, terms_.watcher);
    }

    // Without time to wait the look and the leaving are one: no place and no trace of it is left behind.
    [[nodiscard]] AcquireRequest first_request(bool last_look) const {
        AcquireRequest request = terms_.request;
        if (last_look && terms_.at_timeout == Place::Leave) request.when_held = WhenHeld::LookOnce;
        return request;
    }

    [[nodiscard]] Place leaving() const { return made_place_ ? terms_.at_timeout : Place::Keep; }

    std::optional<Awaited> consider(const Answer& answer, bool last_look) {
        if (const auto event = outage_.recovered(now())) announce_(*event);
        if (answer.refusal) return ended(WatchEventKind::Stopped, failure_for(session_.subject, answer));
        const bool first = !joined_;
        if (first) note_joining(answer);
        if (first) warn_of_another_process(answer);
        last_ = answer;
        last_at_ = now();
        switch (answer.status) {
            case Status::Holding: return granted(answer);
            case Status::Queued: bound_.follow(*answer.hold); break;
            case Status::Expired:
            case Status::Requisitioned:
            case Status::None: return dropped(answer);
        }
        // A place that an unseen try made is found by the last look only now: it is left by one more.
        const bool still_to_leave = first && made_place_ && leaving() == Place::Leave && !answer.released;
        if (last_look && !still_to_leave) return timed_out(answer);
        if (last_look) return std::nullopt;
        if (first || answer.position != told_position_) tell_place(answer);
        if (first) warn_of_short_timeout(answer);
        return std::nullopt;
    }

    // A try whose outcome stayed unseen may have made the place; its age tells.
    void note_joining(const Answer& answer) {
        joined_ = true;
        const bool young = answer.place && answer.now - answer.place->enqueued_at <= now() - began_;
        made_place_ = answer.joined || (unseen_tries_ && young);
    }

    void tell_place(const Answer& answer) {
        told_position_ = answer.position;
        announce_({WatchEventKind::Queued, text::waiting(session_.subject, answer), answer, {}});
    }

    // Two that use one owner id are one owner to the lock: each takes the other's turn for its own.
    void warn_of_another_process(const Answer& answer) {
        const auto& waits = answer.earlier_process;
        if (waits && is_alive(*waits) == Liveness::Alive)
            announce_({WatchEventKind::Warning, text::another_waiter(session_.subject, *waits), answer, {}});
        const Watcher* const keeps = answer.status == Status::Holding && terms_.request.process
                                         ? other_live_watcher(*answer.hold, *terms_.request.process)
                                         : nullptr;
        if (keeps != nullptr)
            announce_({WatchEventKind::Warning, text::another_watcher(session_.subject, answer, *keeps), answer, {}});
    }

    void warn_of_short_timeout(const Answer& answer) {
        const auto& expected = answer.windows.turn_expected;
        if (!expected || *expected <= answer.now + terms_.timeout) return;
        announce_({WatchEventKind::Warning,
                   fmt::format("The timeout of {} is likely too short: as holds of {} usually go, the turn comes at {}",
                               span(terms_.timeout), session_.subject.lock_id.str(), text::time(answer, *expected)),
                   answer,
                   {}});
    }

    // The store could not be asked.
    std::optional<Awaited> endure(const Error& error, bool last_look) {
        unseen_tries_ = true;
        if (last_look || !may_pass(error)) return failed(error);
        if (const auto event = outage_.failed(error, now())) announce_(*event);
        return std::nullopt;
    }

    [[nodiscard]] Duration until_next_look() const {
        const Duration at = now();
        Duration rest = began_ + terms_.timeout - at;
        if (!outage_.over()) return std::clamp(outage_.pause(), Duration::zero(), std::max(rest, Duration::zero()));
        rest = std::min(rest, last_at_ + kWaiterPoll - at);
        if (const auto change = next_change(*last_)) rest = std::min(rest, last_at_ + (*change - last_->now) - at);
        return std::max(rest, Duration::zero());
    }

    [[nodiscard]] Awaited granted(const Answer& answer) const {
        return {answer, asked_at_, {WatchEventKind::Holding, text::holding(session_.subject, answer), answer, {}}};
    }

    [[nodiscard]] Awaited ended(WatchEventKind kind, Failure failure) const {
        return {{}, {}, {kind, failure.message, failure.answer, failure}};
    }

    [[nodiscard]] Awaited failed(const Error& error) const {
        Failure failure = failure_for(error);
        if (!outage_.over() && may_pass(error)) failure.code = ErrorCode::Transport;
        if (may_pass(error) && joined_)
            failure.message += fmt::format(" (the place lapses within {} unless it is kept)", span(kWaiterTtl));
        return ended(WatchEventKind::Stopped, std::move(failure));
    }

    [[nodiscard]] Awaited dropped(Answer answer) const {
        const bool unknown_there = session_.subject.store.replaced && !answer.ending;
        const Cause cause = unknown_there ? Cause::NotTheHolder : cause_for_watcher(answer, Watched::Place);
        answer.refusal = Refusal{RefusalCode::LockLost, cause, {}};
        return ended(WatchEventKind::Dropped,
                     {ErrorCode::LockLost, text::lost_place(session_.subject, answer, cause), answer});
    }

    [[nodiscard]] Awaited timed_out(const Answer& answer) const {
        return ended(WatchEventKind::Timeout,
                     {ErrorCode::WaitTimeout, text::timed_out(session_.subject, answer, terms_.timeout), answer});
    }

    // What was there before this call stays; what it gained, seen or not, is given back.
    Awaited withdraw() {
        if (!joined_ && !unseen_tries_) return interrupted("nothing was asked for yet");
        if (!terms_.at_interrupt) return interrupted("nothing was given back");
        std::optional<Epoch> held_before;
        if (!joined_) {
            const auto answer = session_.submit(StatusRequest{});
            if (!answer) return interrupted_untold(answer.error());
            note_joining(*answer);
            const bool old_grant =
                answer->status == Status::Holding && answer->now - answer->hold->granted_at > now() - began_;
            if (old_grant) held_before = answer->hold->epoch;
        }
        const auto answer = session_.submit(WithdrawRequest{*terms_.at_interrupt, held_before});
        if (!answer) return interrupted_untold(answer.error());
        if (answer->released == Released::Hold) return interrupted("the lock was given back");
        if (answer->status == Status::Holding) return interrupted("the lock, held before, is kept");
        return interrupted(answer->status == Status::Queued ? "the place is kept" : "the place was left");
    }

    [[nodiscard]] Awaited interrupted_untold(const Error& error) const {
        // Before the first answer nobody knows whether it was a place or the lock itself that an unseen try gained.
        const std::string lapses =
            joined_ ? "the place lapses within " + span(kWaiterTtl)
                    : "what it may have gained lapses within " + span(terms_.request.lease.value_or(kDefaultLease));
        return interrupted(fmt::format("the store could not be told, so {} ({})", lapses, error.message));
    }

    [[nodiscard]] Awaited interrupted(const std::string& what) const {
        return ended(WatchEventKind::Stopped,
                     {ErrorCode::OperationFailed,
                      fmt::format("Stopped waiting for {}: {}", session_.subject.lock_id.str(), what),
                      {}});
    }

    Session& session_;
    const AwaitTerms& terms_;
    StopSource& stop_;
    const Announce& announce_;
    std::unique_ptr<Listener> listener_;
    Outage outage_;
    BoundHolder bound_;
    Duration began_;
    Duration asked_at_{};
    bool joined_ = false;        // the store has answered at least once
    bool made_place_ = false;    // by this call
    bool unseen_tries_ = false;  // a request may have landed without an answer
    std::size_t told_position_ = 0;
    std::optional<Answer> last_;
    Duration last_at_{};
};

}  // namespace

Awaited await_grant(Session& session, const AwaitTerms& terms, StopSource& stop, const Announce& announce) {
    return Waiting(session, terms, stop, announce).run();
}

Result<Answer> await_change(Session& session, Duration at_most, const std::function<bool(const Answer&)>& satisfied) {
    const auto listener = session.engine->listen(session.subject.lock_id, session.subject.owner);
    const Duration until = session.context.steady_now() + at_most;
    auto answer = session.submit(StatusRequest{});
    if (!answer) return answer;
    const Answer first = *answer;
    for (;;) {
        const bool differs = answer->status != first.status || answer->position != first.position;
        const Duration now = session.context.steady_now();
        if (differs || satisfied(*answer) || now >= until) return answer;
        Duration rest = until - now;
        if (const auto change = next_change(*answer)) rest = std::min(rest, *change - answer->now);
        listener->sleep(rest, {});
        listener->arm();
        answer = session.submit(StatusRequest{});
        if (!answer) return answer;
    }
}

}  // namespace hagi
