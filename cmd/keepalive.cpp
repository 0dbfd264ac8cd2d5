#include "cmd/keepalive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/text.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/watcher.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/windows.hpp"

namespace hagi {

std::optional<WatchEvent> Keepalive::tick(Look look) {
    if (look == Look::Now || due_in() == Duration::zero()) {
        if (auto ended = beat()) return ended;
    }
    return std::nullopt;
}

Duration Keepalive::due_in() const {
    const Duration now = session_.context.steady_now();
    if (!last_ && outage_.over()) return Duration::zero();
    if (!outage_.over()) {
        Duration due = tried_at_ + outage_.pause();
        if (last_ && !may_be_lost_told_) due = std::min(due, std::max(valid_until_, tried_at_));
        return std::max(due - now, Duration::zero());
    }
    Duration due = std::min(last_at_ + interval_, valid_until_);  // the hard cap may come before the next beat
    if (const auto warning = next_cap_warning()) due = std::min(due, *warning);
    if (last_->hold->phase_since && stuck_told_ != last_->hold->phase_since)
        due = std::min(due, last_at_ + (*last_->hold->phase_since + session_.subject.stuck_after - last_->now));
    return std::max(due - now, Duration::zero());
}

std::optional<WatchEvent> Keepalive::beat() {
    const Duration sent_at = session_.context.steady_now();
    tried_at_ = sent_at;
    RenewRequest request;
    request.epoch = epoch_;
    std::optional<Watcher> watcher;
    if (!last_) {
        request.lease = terms_.lease;
        request.progress = terms_.progress;
        watcher = self();
    }
    auto answer = session_.submit(std::move(request), std::move(watcher));
    if (!answer) return endure(answer.error());
    if (const auto event = outage_.recovered(session_.context.steady_now())) announce_(*event);
    if (answer->refusal) return lost(*std::move(answer));
    const bool first = !last_;
    note(*answer, sent_at);
    if (first) {
        tell_start();
        warn_of_another_watcher();
    } else if (terms_.every_beat) {
        tell_beat();
    }
    tell_findings();
    return std::nullopt;
}

void Keepalive::note(const Answer& answer, Duration sent_at) {
    last_ = answer;
    last_at_ = sent_at;
    epoch_ = answer.hold->epoch;
    valid_until_ = sent_at + (end_of(*answer.hold) - answer.now);
    may_be_lost_told_ = false;
    choose_interval(answer.hold->lease);
}

void Keepalive::adopt(const Answer& answer, Duration asked_at) {
    note(answer, asked_at);
    warn_of_another_watcher();
    tell_findings();
}

void Keepalive::tell_start() {
    announce_({WatchEventKind::Started,
               fmt::format("Heartbeat of {} epoch {} owner {} every {}, valid until {}", session_.subject.lock_id.str(),
                           epoch_->value, session_.subject.owner.str(), span(interval_),
                           text::time(*last_, end_of(*last_->hold))),
               last_,
               {}});
}

void Keepalive::tell_beat() {
    announce_({WatchEventKind::Beat,
               fmt::format("Beat {} epoch {}, valid until {}", session_.subject.lock_id.str(), epoch_->value,
                           text::time(*last_, end_of(*last_->hold))),
               last_,
               {}});
}

void Keepalive::tell_findings() {
    warn_of_interval();
    warn_of_cap();
    tell_when_stuck();
    tell_nudges();
}

void Keepalive::warn(std::string sentence) { announce_({WatchEventKind::Warning, std::move(sentence), last_, {}}); }

void Keepalive::warn_of_another_watcher() {
    const Watcher* const other = other_live_watcher(*last_->hold, self_);
    if (other == nullptr) return;
    warn(text::another_watcher(session_.subject, *last_, *other));
}

void Keepalive::tell_nudges() {
    for (const Nudge& nudge : last_->hold->nudges) {
        if (std::find(nudges_told_.begin(), nudges_told_.end(), nudge) != nudges_told_.end()) continue;
        announce_({WatchEventKind::Nudged,
                   fmt::format("{} is {}", session_.subject.lock_id.str(), text::nudge(*last_, nudge)),
                   last_,
                   {}});
    }
    nudges_told_ = last_->hold->nudges;
}

std::optional<WatchEvent> Keepalive::endure(const Error& error) {
    if (!may_pass(error)) {
        const Failure failure = failure_for(error);
        return WatchEvent{WatchEventKind::Stopped, failure.message, {}, failure};
    }
    const Duration now = session_.context.steady_now();
    if (const auto event = outage_.failed(error, now)) announce_(*event);
    if (last_ && now >= valid_until_ && !may_be_lost_told_) {
        may_be_lost_told_ = true;
        announce_({WatchEventKind::MayBeLost,
                   fmt::format("The lock {} epoch {} may already be lost: its lease ended while the store could not be "
                               "reached; stop using it until this watcher says that the store can be reached again",
                               session_.subject.lock_id.str(), epoch_->value),
                   {},
                   {}});
    }
    return std::nullopt;
}

WatchEvent Keepalive::lost(Answer answer) const {
    // At the first beat nothing is known to have been held: the refusal speaks for itself.
    if (!last_) {
        const Failure failure = failure_for(session_.subject, answer);
        return {WatchEventKind::Lost, failure.message, answer, failure};
    }
    const bool unknown_there = session_.subject.store.replaced && !answer.ending;
    const Cause cause = unknown_there ? Cause::NotTheHolder : cause_for_watcher(answer, Watched::Grant);
    answer.refusal->cause = cause;
    const std::string message = text::lost_grant(session_.subject, answer, *epoch_, cause);
    return {WatchEventKind::Lost, message, answer, Failure{ErrorCode::LockLost, message, answer}};
}

void Keepalive::choose_interval(Duration lease) {
    interval_ = terms_.interval.value_or(beat_interval(lease));
    if (interval_ >= lease) interval_ = beat_interval(lease);
}

void Keepalive::warn_of_interval() {
    if (!terms_.interval || *terms_.interval == interval_ || interval_told_) return;
    interval_told_ = true;
    announce_({WatchEventKind::Warning,
               fmt::format("The lease is {}: beating every {} instead of every {}", span(last_->hold->lease),
                           span(interval_), span(*terms_.interval)),
               {},
               {}});
}

std::optional<Duration> Keepalive::next_cap_warning() const {
    for (const Duration before : kCapWarnings) {
        const Instant at = last_->hold->hard_cap - before;
        if (before < cap_warned_before_ && at >= last_->hold->granted_at && at > last_->now)
            return last_at_ + (at - last_->now);
    }
    return std::nullopt;
}

void Keepalive::warn_of_cap() {
    bool due = false;  // of several that have passed by the first beat one line says enough
    for (const Duration before : kCapWarnings) {
        const Instant at = last_->hold->hard_cap - before;
        if (before >= cap_warned_before_ || at < last_->hold->granted_at || at > last_->now) continue;
        cap_warned_before_ = before;
        due = true;
    }
    if (!due) return;
    announce_({WatchEventKind::CapWarning,
               fmt::format("The lock {} epoch {} ends at its hard cap {} ({}), whatever is renewed: finish and release "
                           "it by then",
                           session_.subject.lock_id.str(), epoch_->value, text::time(*last_, last_->hold->hard_cap),
                           span(last_->hold->hard_cap - last_->now)),
               last_,
               {}});
}

void Keepalive::tell_when_stuck() {
    const Hold& hold = *last_->hold;
    const auto stuck = stuck_for(hold, last_->now, session_.subject.stuck_after);
    if (!stuck || stuck_told_ == hold.phase_since) return;
    stuck_told_ = hold.phase_since;
    announce_({WatchEventKind::Stuck,
               fmt::format("Stuck: phase {} of {} has not changed for {}; the lock is kept, look at the work",
                           escaped(hold.phase.str()), session_.subject.lock_id.str(), span(*stuck)),
               last_,
               {}});
}

std::optional<WatchEvent> beat_until(const std::function<bool()>& must_end, const Interrupts& interrupts,
                                     Session& session, Keepalive& keepalive) {
    const auto listener = session.engine->listen(session.subject.lock_id, session.subject.owner);
    auto weakness = listener->weakness();
    auto look = Keepalive::Look::Now;
    while (!must_end()) {
        listener->arm();
        if (auto ended = keepalive.tick(look)) return ended;
        if (weakness) keepalive.warn(*std::exchange(weakness, std::nullopt));
        const Duration due = session.context.steady_now() + keepalive.due_in();
        listener->sleep(keepalive.due_in(), interrupts);
        const bool woken = session.context.steady_now() < due && !keepalive.in_outage();
        look = woken ? Keepalive::Look::Now : Keepalive::Look::WhenDue;
    }
    return std::nullopt;
}

}  // namespace hagi
