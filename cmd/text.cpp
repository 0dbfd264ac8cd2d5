#include "cmd/text.hpp"

#include <fmt/format.h>

#include "cmd/shell_word.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/watcher.hpp"
#include "lockcore/names.hpp"
#include "lockcore/windows.hpp"
#include "lockcore/words.hpp"

namespace hagi::text {
namespace {

template <class Kind>
std::string shown(const Text<Kind>& text) {
    return escaped(text.str());
}

// A quote within is marked, so that nobody can end the quotation and go on in hagi's own words.
template <class Kind>
std::string quoted(const Text<Kind>& text) {
    std::string quoted = "\"";
    for (const char c : shown(text)) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    return quoted + '"';
}

std::string wall_time(Duration wall_now, Instant now, Instant at) {
    return timestamp(wall_now + (at - now), Precision::Seconds);
}

// ` for "deploy", phase compile`: nothing where neither is known.
std::string purpose(const Hold& hold) {
    std::string words;
    if (!hold.label.empty()) words += " for " + quoted(hold.label);
    if (!hold.phase.empty()) words += ", phase " + shown(hold.phase);
    return words;
}

// `held by bob for "deploy", phase compile, since ..., valid until ...`
std::string holder(const Hold& hold, Duration wall_now, Instant now) {
    const std::string until = wall_time(wall_now, now, end_of(hold));
    if (!hold.claimed_at)
        return fmt::format("handed off to {}{}, who must claim it by {}", shown(hold.owner), purpose(hold), until);
    return fmt::format("held by {}{}, since {}, valid until {}", shown(hold.owner), purpose(hold),
                       wall_time(wall_now, now, hold.granted_at), until);
}

std::string holder(const Answer& answer) { return holder(*answer.hold, answer.wall_now, answer.now); }

std::string shell_command(const Subject& subject, std::string_view verb, std::string_view more) {
    std::string line = fmt::format("hagi agent lock {} --lock-id={} --owner={}", verb,
                                   shell_word(subject.lock_id.str()), shell_word(subject.owner.str()));
    if (!more.empty()) line += fmt::format(" {}", more);
    if (subject.store_option) line += " --store=" + shell_word(*subject.store_option);
    return line;
}

// Lock ids and owners of a caller have no character that JSON would escape.
std::string tool_call(const Subject& subject, std::string_view verb, std::string_view more) {
    return fmt::format(R"(lock_{} {{"lock_id":"{}","owner":"{}"{}}})", verb, subject.lock_id.str(), subject.owner.str(),
                       more);
}

std::string wait_command(const Subject& subject) {
    return subject.reader == Reader::Tools ? tool_call(subject, "acquire", R"(,"wait_sec":50)")
                                           : shell_command(subject, "acquire", "--wait");
}

std::string in(const Answer& answer, Instant at) {
    return fmt::format("{} ({})", time(answer, at), span(at - answer.now));
}

// `lease expired at ...`, or who took it, when and why.
std::string how_it_ended(const Answer& answer, const Ending& ending) {
    if (ending.by.empty()) return fmt::format("{} at {}", word_for(ending.cause), time(answer, ending.at));
    return fmt::format("{} by {} at {}: {}", word_for(ending.cause), shown(ending.by), time(answer, ending.at),
                       quoted(ending.reason));
}

std::string nudge_words(const Nudge& nudge, const std::string& at) {
    return fmt::format("asked by {} at {}: {}", shown(nudge.by), at, quoted(nudge.reason));
}

std::string epoch_words(Epoch epoch) { return epoch.value == 0 ? "" : fmt::format(" epoch {}", epoch.value); }

// `, before epoch 3: lease expired at ...`: nothing where nothing ended lately.
std::string before(const Answer& answer) {
    if (!answer.previous) return "";
    return fmt::format(", before{}: {}", epoch_words(answer.previous->epoch), how_it_ended(answer, *answer.previous));
}

std::string queue_position(const Answer& answer) {
    return fmt::format("place {} of {}", answer.position, answer.queue_length);
}

// ---- Lines below the first ----

void add_line(std::string& lines, const std::string& line) { lines += "  " + line + "\n"; }

void add_progress(std::string& lines, const Subject& subject, const Answer& answer, const Hold& hold) {
    if (!hold.label.empty()) add_line(lines, "for " + quoted(hold.label));
    if (hold.phase_since)
        add_line(lines, fmt::format("phase {} since {}", shown(hold.phase), time(answer, *hold.phase_since)));
    if (!hold.note.empty()) add_line(lines, "note " + quoted(hold.note));
    if (const auto unchanged = stuck_for(hold, answer.now, subject.stuck_after))
        add_line(lines, stuck(hold, *unchanged));
}

std::string watcher_words(const Answer& answer, const ShownWatcher& shown_watcher) {
    const Watcher& watcher = *shown_watcher.watcher;
    const char* state = shown_watcher.liveness == Liveness::Alive  ? "is alive"
                        : shown_watcher.liveness == Liveness::Gone ? "is gone: start another"
                                                                   : "cannot be seen from here";
    return fmt::format("watcher pid {} on {} since {} {}", watcher.process.pid, escaped(watcher.process.host),
                       time(answer, watcher.since), state);
}

std::string lines_of_hold(const Subject& subject, const Answer& answer) {
    const Hold& hold = *answer.hold;
    std::string lines;
    add_progress(lines, subject, answer, hold);
    add_line(lines, fmt::format("valid until {} unless renewed: {}", in(answer, end_of(hold)),
                                command(subject, "renew", hold.epoch)));
    add_line(lines, fmt::format("hard cap {}", in(answer, hold.hard_cap)));
    if (hold.accepted_at) add_line(lines, "accepted at " + time(answer, *hold.accepted_at));
    if (const auto watcher = newest_watcher(hold)) add_line(lines, watcher_words(answer, *watcher));
    for (const Nudge& asked : hold.nudges) add_line(lines, nudge(answer, asked));
    return lines;
}

// What its holder was asked by the caller, and is shown.
void add_own_nudge(std::string& lines, const Subject& subject, const Answer& answer) {
    for (const Nudge& asked : answer.hold->nudges)
        if (asked.by == subject.owner) add_line(lines, nudge(answer, asked));
}

std::string lines_of_place(const Subject& subject, const Answer& answer) {
    std::string lines;
    add_own_nudge(lines, subject, answer);
    add_line(lines, fmt::format("poll again by {}, or the place is dropped", in(answer, end_of(*answer.place))));
    const Windows& windows = answer.windows;
    if (windows.turn_expected) add_line(lines, "turn expected " + in(answer, *windows.turn_expected));
    if (windows.turn_latest) add_line(lines, "turn at the latest " + in(answer, *windows.turn_latest));
    return lines;
}

std::string lines_of_ending(const Subject& subject, const Answer& answer) {
    std::string lines;
    add_line(lines, how_it_ended(answer, *answer.ending));
    const bool held = answer.ending->kind == EndedKind::Hold;
    add_line(lines, (held ? "stop using it" : "you are not in the queue any more") +
                        ("; for a new turn: " + wait_command(subject)));
    return lines;
}

std::string lines_of_none(const Subject& subject, const Answer& answer) {
    std::string lines;
    add_line(lines, answer.hold ? holder(answer) : "the lock is free");
    if (answer.hold) add_own_nudge(lines, subject, answer);
    return lines;
}

std::string first_line(const Subject& subject, const Answer& answer) {
    if (answer.status == Status::Queued && !answer.released) return queued(subject, answer);
    std::string which;
    if (answer.status == Status::Holding) which = epoch_words(answer.hold->epoch);
    if (answer.ending) which = epoch_words(answer.ending->epoch);
    return fmt::format("{} {}{} owner {}", word_for(answer.status), shown(subject.lock_id), which,
                       shown(subject.owner));
}

}  // namespace

std::string time(const Answer& answer, Instant at) { return wall_time(answer.wall_now, answer.now, at); }

std::string command(const Subject& subject, std::string_view verb, std::optional<Epoch> epoch) {
    if (subject.reader == Reader::Shell)
        return shell_command(subject, verb, epoch ? fmt::format("--epoch {}", epoch->value) : "");
    // There is no watcher among the tools: whoever has only them renews.
    return tool_call(subject, verb == "heartbeat" ? "renew" : verb,
                     epoch ? fmt::format(R"(,"epoch":{})", epoch->value) : "");
}

namespace {

std::string standing(const Subject& subject, const Answer& answer) {
    return fmt::format("Queued {} {} owner {}: {}{}", shown(subject.lock_id), queue_position(answer),
                       shown(subject.owner), holder(answer), before(answer));
}

}  // namespace

std::string with_store(const Subject& subject, const std::string& message) {
    constexpr std::string_view kCommand = "`hagi agent lock ";
    if (!subject.store_option) return message;
    std::string completed = message;
    for (std::size_t at = 0; (at = completed.find(kCommand, at)) != std::string::npos;) {
        at = completed.find('`', at + 1);
        if (at == std::string::npos) break;
        const std::string option = " --store=" + shell_word(*subject.store_option);
        completed.insert(at, option);
        at += option.size() + 1;
    }
    return completed;
}

std::string queued(const Subject& subject, const Answer& answer) {
    return fmt::format("{}; to wait for your turn: {}", standing(subject, answer), wait_command(subject));
}

std::string waiting(const Subject& subject, const Answer& answer) {
    return fmt::format("{}; this command waits for your turn; to see where you stand: {}", standing(subject, answer),
                       command(subject, "status"));
}

std::string holding(const Subject& subject, const Answer& answer) {
    const Hold& hold = *answer.hold;
    return fmt::format("Holding {} epoch {} owner {}, valid until {}{}; to keep it: {}", shown(subject.lock_id),
                       hold.epoch.value, shown(subject.owner), in(answer, end_of(hold)), before(answer),
                       command(subject, "heartbeat", hold.epoch));
}

std::string answer(const Subject& subject, const Answer& answer) {
    std::string lines = first_line(subject, answer) + "\n";
    if (answer.released) add_line(lines, fmt::format("released: {}", word_for(*answer.released)));
    if (answer.cause) add_line(lines, fmt::format("because: {}", word_for(*answer.cause)));
    if (answer.displaced)
        add_line(lines,
                 fmt::format("displaced {}{}", shown(answer.displaced->owner), epoch_words(answer.displaced->epoch)));
    switch (answer.status) {
        case Status::Holding: lines += lines_of_hold(subject, answer); break;
        case Status::Queued: lines += lines_of_place(subject, answer); break;
        case Status::Expired:
        case Status::Requisitioned: lines += lines_of_ending(subject, answer); break;
        case Status::None: lines += lines_of_none(subject, answer); break;
    }
    if (answer.previous && answer.status != Status::Queued) add_line(lines, before(answer).substr(2));
    if (subject.store.created) add_line(lines, "store created: " + escaped(subject.store.store));
    return lines;
}

std::string stuck(const Hold& hold, Duration unchanged) {
    return fmt::format("stuck: phase {} has not changed for {}", shown(hold.phase), span(unchanged));
}

std::string lock(const Subject& subject, const ListAnswer& answer, const LockView& lock) {
    const std::string at = timestamp(answer.wall_now, Precision::Seconds);
    if (!lock.state.hold) return fmt::format("{} {} free\n", at, shown(lock.lock_id));
    const Hold& hold = *lock.state.hold;
    std::string line = fmt::format("{} {} epoch {} {}, {} waiting", at, shown(lock.lock_id), hold.epoch.value,
                                   holder(hold, answer.wall_now, answer.now), lock.state.queue.size());
    for (const Waiter& waiter : lock.state.queue)
        line += (&waiter == &lock.state.queue.front() ? ": " : ", ") + shown(waiter.owner);
    if (const auto unchanged = stuck_for(hold, answer.now, subject.stuck_after)) line += "; " + stuck(hold, *unchanged);
    for (const Nudge& asked : hold.nudges) line += "; " + nudge(answer, asked);
    return line + "\n";
}

std::string log(const std::vector<LoggedEvent>& events) {
    std::string lines;
    for (const LoggedEvent& logged : events) {
        const Event& event = logged.event;
        lines += fmt::format("{} {} {} owner {}", timestamp(logged.wall, Precision::Seconds), shown(logged.lock_id),
                             word_for(event.kind), shown(event.owner));
        lines += epoch_words(event.epoch);
        if (!event.by.empty()) lines += " by " + shown(event.by);
        if (event.cause && word_for(*event.cause) != word_for(event.kind))
            lines += fmt::format(", {}", word_for(*event.cause));
        if (!event.reason.empty()) lines += ": " + quoted(event.reason);
        if (!event.label.empty()) lines += " for " + quoted(event.label);
        lines += "\n";
    }
    return lines;
}

std::string another_watcher(const Subject& subject, const Answer& answer, const Watcher& watcher) {
    return fmt::format(
        "Another watcher keeps {} alive for {} since {}, pid {} on {}: two agents with one owner id are one owner",
        shown(subject.lock_id), shown(subject.owner), time(answer, watcher.since), watcher.process.pid,
        escaped(watcher.process.host));
}

std::string another_waiter(const Subject& subject, const ProcessIdentity& process) {
    return fmt::format("Another process waits for {} as {}, pid {} on {}: two agents with one owner id are one owner",
                       shown(subject.lock_id), shown(subject.owner), process.pid, escaped(process.host));
}

std::string nudge(const Answer& answer, const Nudge& nudge) { return nudge_words(nudge, time(answer, nudge.at)); }

std::string nudge(const ListAnswer& answer, const Nudge& nudge) {
    return nudge_words(nudge, wall_time(answer.wall_now, answer.now, nudge.at));
}

namespace {

std::string conflict(const Subject& subject, const Answer& answer) {
    if (!answer.hold)
        return fmt::format("{} is free, so there is no such grant: to take it, run: {}", shown(subject.lock_id),
                           command(subject, "acquire"));
    if (answer.status == Status::Holding)
        return fmt::format("your owner id already holds {}, with epoch {}: to see it, run: {}", shown(subject.lock_id),
                           answer.hold->epoch.value, command(subject, "status"));
    const std::string place =
        answer.status == Status::Queued ? "your place is kept, " + queue_position(answer) : "you are not in its queue";
    return fmt::format("{} is {}; {}: to wait for your turn, run: {}", shown(subject.lock_id), holder(answer), place,
                       wait_command(subject));
}

std::string why_lost(const Subject& subject, const Answer& answer, Cause cause) {
    if (answer.ending) return how_it_ended(answer, *answer.ending);
    if (subject.store.replaced) return "its store was replaced by another";
    return std::string(word_for(cause));
}

std::string next_after_loss(const Subject& subject, const Answer& answer) {
    if (answer.status == Status::Holding || answer.status == Status::Queued)
        return "to see where you stand, run: " + command(subject, "status");
    return "for a new turn, run: " + wait_command(subject);
}

std::string too_little_left(const Subject& subject, const Answer& answer) {
    return fmt::format("too little of the lease on {} is left, {} until {}: do not start; to renew it, run: {}",
                       shown(subject.lock_id), span(end_of(*answer.hold) - answer.now),
                       time(answer, end_of(*answer.hold)), command(subject, "renew", answer.hold->epoch));
}

}  // namespace

std::string refusal(const Subject& subject, const Answer& answer) {
    const Refusal& refusal = *answer.refusal;
    const Cause cause = refusal.cause.value_or(Cause::NotTheHolder);
    switch (refusal.code) {
        case RefusalCode::Conflict: return conflict(subject, answer);
        case RefusalCode::NotFound:
            return fmt::format("{} was never granted to anyone: to take it, run: {}", shown(subject.lock_id),
                               command(subject, "acquire"));
        case RefusalCode::LockLost:
        case RefusalCode::WorkLeaseLost: break;
    }
    if (cause == Cause::TooLittleLeft) return too_little_left(subject, answer);
    const char* must = refusal.code == RefusalCode::WorkLeaseLost ? "do not start" : "stop using it";
    return fmt::format("{}{} is not yours ({}): {}; {}", shown(subject.lock_id),
                       refusal.epoch ? epoch_words(*refusal.epoch) : "", why_lost(subject, answer, cause), must,
                       next_after_loss(subject, answer));
}

std::string lost_grant(const Subject& subject, const Answer& answer, Epoch epoch, Cause cause) {
    return fmt::format("Lost {} epoch {} owner {} ({}): stop using it; {}", shown(subject.lock_id), epoch.value,
                       shown(subject.owner), why_lost(subject, answer, cause), next_after_loss(subject, answer));
}

std::string lost_place(const Subject& subject, const Answer& answer, Cause cause) {
    return fmt::format("Dropped from the queue of {} owner {} ({}): you do not have the lock; {}",
                       shown(subject.lock_id), shown(subject.owner), why_lost(subject, answer, cause),
                       next_after_loss(subject, answer));
}

std::string timed_out(const Subject& subject, const Answer& answer, Duration timeout) {
    const std::string place = answer.released ? "you left the queue, from " : "you keep your place, ";
    return fmt::format("Timeout after {}: {} is {}; {}{}; to wait again: {}", span(timeout), shown(subject.lock_id),
                       holder(answer), place, queue_position(answer), wait_command(subject));
}

}  // namespace hagi::text
