#include "tests/support/history.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lockcore/excerpt.hpp"
#include "lockcore/invariants.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/wake.hpp"
#include "lockcore/windows.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// ---- Writing ----

std::string seconds(std::int64_t milliseconds) {
    if (milliseconds % 1000 == 0) return std::to_string(milliseconds / 1000);
    std::ostringstream text;
    text << static_cast<double>(milliseconds) / 1000.0;
    return text.str();
}
std::string shown(Instant at) { return seconds(at.milliseconds); }
std::string shown(Duration time) { return seconds(time.count()); }
std::string shown(Epoch epoch) { return "#" + std::to_string(epoch.value); }
std::string shown(const std::optional<Instant>& at) { return at ? shown(*at) : "-"; }

std::string shown(Cause cause) {
    static const std::map<Cause, std::string> kNames = {
        {Cause::LeaseExpired, "lease expired"},
        {Cause::MaximumHold, "maximum hold"},
        {Cause::ClaimMissed, "claim missed"},
        {Cause::NotPolled, "not polled"},
        {Cause::Requisitioned, "requisitioned"},
        {Cause::Stopped, "stopped"},
        {Cause::ProcessGone, "process gone"},
        {Cause::Released, "released"},
        {Cause::Left, "left"},
        {Cause::StaleEpoch, "stale epoch"},
        {Cause::NotTheHolder, "not the holder"},
        {Cause::TooLittleLeft, "too little left"},
    };
    return kNames.at(cause);
}

std::string shown(EventKind kind) {
    static const std::map<EventKind, std::string> kNames = {
        {EventKind::Queued, "queued"},
        {EventKind::Granted, "granted"},
        {EventKind::HandedOff, "handed off"},
        {EventKind::Claimed, "claimed"},
        {EventKind::Accepted, "accepted"},
        {EventKind::Released, "released"},
        {EventKind::Left, "left"},
        {EventKind::Dropped, "dropped"},
        {EventKind::Ended, "ended"},
        {EventKind::Requisitioned, "requisitioned"},
        {EventKind::Nudged, "nudged"},
    };
    return kNames.at(kind);
}

std::string shown(const Event& event) {
    std::string text = shown(event.at) + " " + shown(event.kind) + " " + event.owner.str();
    if (event.epoch != Epoch{}) text += " " + shown(event.epoch);
    if (event.cause) text += " " + shown(*event.cause);
    if (!event.by.empty()) text += " by " + event.by.str() + ": " + event.reason.str();
    if (!event.label.empty()) text += " [" + event.label.str() + "]";
    return text;
}

std::string shown(const Ending& ending) {
    std::string text = ending.kind == EndedKind::Hold ? shown(ending.epoch) : "place";
    text += " " + shown(ending.cause);
    if (!ending.by.empty()) text += " by " + ending.by.str() + ": " + ending.reason.str();
    return text;
}

std::string shown(const Hold& hold) {
    static const std::map<GrantKind, std::string> kHow = {{GrantKind::TakenFree, "taken free"},
                                                          {GrantKind::HandedOff, "handed off"},
                                                          {GrantKind::Requisitioned, "requisitioned"}};
    std::string text = hold.owner.str() + " " + shown(hold.epoch) + " " + kHow.at(hold.granted_how) + " at " +
                       shown(hold.granted_at) + " claimed " + shown(hold.claimed_at) + " heard " +
                       shown(hold.last_feedback) + " lease " + shown(hold.lease) + " cap " + shown(hold.hard_cap);
    if (hold.accepted_at) text += " accepted " + shown(hold.accepted_at);
    if (!hold.label.empty()) text += " label " + hold.label.str();
    if (!hold.phase.empty()) text += " phase " + hold.phase.str() + " since " + shown(hold.phase_since);
    if (!hold.note.empty()) text += " note " + hold.note.str();
    if (hold.binding) text += " bound to " + std::to_string(hold.binding->run.pid);
    for (const Watcher& watcher : hold.watchers)
        text += " watched by " + std::to_string(watcher.process.pid) + " since " + shown(watcher.since);
    for (const Nudge& nudge : hold.nudges)
        text += " nudged by " + nudge.by.str() + " at " + shown(nudge.at) + ": " + nudge.reason.str();
    return text;
}

std::string shown(const Waiter& waiter) {
    std::string text = waiter.owner.str() + " since " + shown(waiter.enqueued_at) + " heard " +
                       shown(waiter.last_heard) + " lease " + shown(waiter.lease) + " max-hold " +
                       shown(waiter.maximum_hold);
    if (!waiter.label.empty()) text += " label " + waiter.label.str();
    if (!waiter.phase.empty()) text += " phase " + waiter.phase.str();
    if (!waiter.note.empty()) text += " note " + waiter.note.str();
    if (waiter.process) text += " process " + std::to_string(waiter.process->pid);
    return text;
}

std::string shown(const Windows& windows) {
    return "valid " + shown(windows.valid_until) + " cap " + shown(windows.hard_cap) + " check-in " +
           shown(windows.check_in_from) + ".." + shown(windows.check_in_until) + " turn " +
           shown(windows.turn_earliest) + ".." + shown(windows.turn_expected) + ".." + shown(windows.turn_latest);
}

std::string status_name(const Ending& ending) {
    const bool by_order = ending.cause == Cause::Requisitioned || ending.cause == Cause::Stopped;
    return by_order ? "Requisitioned" : "Expired";
}

std::string shown_status(const Answer& answer) {
    switch (answer.status) {
        case Status::Holding: return "Holding " + shown(answer.hold->epoch);
        case Status::Queued:
            return "Queued " + std::to_string(answer.position) + "/" + std::to_string(answer.queue_length) +
                   (answer.joined ? " joined" : "");
        case Status::Expired: return "Expired " + shown(answer.ending.value());
        case Status::Requisitioned: return "Requisitioned " + shown(answer.ending.value());
        case Status::None: break;
    }
    return "None";
}

std::string shown_refusal(const Answer& answer) {
    static const std::map<RefusalCode, std::string> kCodes = {{RefusalCode::Conflict, "CONFLICT"},
                                                              {RefusalCode::LockLost, "LOCK_LOST"},
                                                              {RefusalCode::WorkLeaseLost, "WORK_LEASE_LOST"},
                                                              {RefusalCode::NotFound, "NOT_FOUND"}};
    std::string text = "refused " + kCodes.at(answer.refusal->code);
    if (answer.refusal->epoch) text += " " + shown(*answer.refusal->epoch);
    if (answer.refusal->cause) text += " " + shown(*answer.refusal->cause);
    if (answer.hold) text += ", held by " + answer.hold->owner.str() + " " + shown(answer.hold->epoch);
    return text;
}

std::string shown(const Answer& answer) {
    if (answer.refusal) return shown_refusal(answer);
    std::string text = shown_status(answer);
    if (answer.released == Released::Hold) text += ", released hold";
    if (answer.released == Released::Place) text += ", released place";
    if (answer.released == Released::Nothing) text += ", released nothing";
    if (answer.cause) text += ": " + shown(*answer.cause);
    if (answer.displaced) text += ", displaced " + answer.displaced->owner.str() + " " + shown(answer.displaced->epoch);
    if (answer.earlier_process) text += ", earlier process " + std::to_string(answer.earlier_process->pid);
    if (answer.previous) text += ", previous " + status_name(*answer.previous) + " " + shown(*answer.previous);
    return text;
}

template <class Things, class Show>
std::string joined(const Things& things, const char* between, Show show) {
    std::string text;
    for (const auto& thing : things) text += (text.empty() ? "" : between) + show(thing);
    return text.empty() ? "-" : text;
}

// ---- Reading ----

struct Line {
    Instant at;
    std::vector<std::string> words;  // after the time, before the arrow
    std::string outcome;
};

Duration parsed_seconds(const std::string& text) {
    return Duration{static_cast<std::int64_t>(std::stod(text) * 1000.0 + 0.5)};
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<Line> parsed_line(const std::string& text) {
    if (trimmed(text).empty() || trimmed(text).substr(0, 2) == "//") return std::nullopt;
    const auto arrow = text.find("->");
    if (arrow == std::string::npos) throw std::runtime_error("no arrow in: " + text);
    Line line;
    std::istringstream words(text.substr(0, arrow));
    std::string word;
    words >> word;
    if (word.substr(0, 2) != "t=") throw std::runtime_error("no time in: " + text);
    line.at = Instant{} + parsed_seconds(word.substr(2));
    while (words >> word) line.words.push_back(word);
    line.outcome = trimmed(text.substr(arrow + 2));
    return line;
}

// The options of one request; asking for one marks it as read.
class Options {
public:
    Options(std::vector<std::string>::const_iterator first, std::vector<std::string>::const_iterator last) {
        for (; first != last; ++first) {
            const auto equals = first->find('=');
            std::string value = equals == std::string::npos ? "" : first->substr(equals + 1);
            for (char& c : value)
                if (c == '_') c = ' ';
            values_[first->substr(0, equals)] = value;
        }
    }

    bool flag(const std::string& name) { return values_.erase(name) > 0; }

    template <class T>
    std::optional<T> text(const std::string& name) {
        const auto found = values_.extract(name);
        return found.empty() ? std::nullopt : std::optional<T>(T(found.mapped()));
    }

    std::optional<Duration> time(const std::string& name) {
        const auto found = values_.extract(name);
        return found.empty() ? std::nullopt : std::optional(parsed_seconds(found.mapped()));
    }

    std::optional<Epoch> epoch(const std::string& name) {
        const auto found = values_.extract(name);
        return found.empty() ? std::nullopt : std::optional(Epoch{std::stoll(found.mapped())});
    }

    std::optional<ProcessIdentity> process(const std::string& name) {
        const auto found = values_.extract(name);
        if (found.empty()) return std::nullopt;
        return ProcessIdentity{std::stoi(found.mapped()), 1, "boot-1", 1, "host"};
    }

    Progress progress() { return {text<Phase>("phase"), text<Note>("note")}; }
    Place place() { return flag("keep") ? Place::Keep : Place::Leave; }
    WhenGranted when_granted() { return flag("and-accept") ? WhenGranted::Accept : WhenGranted::Hold; }
    [[nodiscard]] bool all_read() const { return values_.empty(); }

private:
    std::map<std::string, std::string> values_;
};

Request acquire_request(const Owner& owner, Options& options) {
    AcquireRequest request;
    request.label = options.text<Label>("label");
    request.progress = options.progress();
    request.lease = options.time("lease");
    request.maximum_hold = options.time("max-hold");
    if (options.flag("no-queue")) request.when_held = WhenHeld::Refuse;
    request.when_granted = options.when_granted();
    request.process = options.process("process");
    if (options.flag("look-once")) request.when_held = WhenHeld::LookOnce;
    return {owner, request, {}, {}};
}

Request requisition_request(const Owner& owner, Options& options) {
    RequisitionRequest request;
    request.reason = options.text<Reason>("reason").value();
    request.label = options.text<Label>("label").value_or(Label{});
    request.epoch = options.epoch("epoch");
    request.lease = options.time("lease");
    request.progress = options.progress();
    return {owner, request, {}, {}};
}

Request request_of(const Owner& owner, const std::string& verb, Options& options) {
    if (verb == "acquire") return acquire_request(owner, options);
    if (verb == "status") return {owner, StatusRequest{options.when_granted()}, {}, {}};
    if (verb == "renew")
        return {owner, RenewRequest{options.epoch("epoch"), options.time("lease"), options.progress()}, {}, {}};
    if (verb == "accept")
        return {owner, AcceptRequest{options.epoch("epoch"), options.time("min-left").value_or(Duration{})}, {}, {}};
    if (verb == "release") return {owner, ReleaseRequest{options.epoch("epoch")}, {}, {}};
    if (verb == "requisition") return requisition_request(owner, options);
    if (verb == "stop")
        return {owner, StopRequest{options.text<Reason>("reason").value(), options.epoch("epoch")}, {}, {}};
    if (verb == "nudge") return {owner, NudgeRequest{options.text<Reason>("reason").value()}, {}, {}};
    if (verb == "give-up") return {owner, GiveUpRequest{options.place()}, {}, {}};
    if (verb == "withdraw") return {owner, WithdrawRequest{options.place(), options.epoch("held")}, {}, {}};
    throw std::runtime_error("no such verb: " + verb);
}

// Whether `part` is `whole` with some waiters left out and accounted for.
bool is_part(const std::vector<Waiter>& part, const std::vector<Waiter>& whole) {
    std::size_t at = 0;
    for (Waiter waiter : part) {
        const Crowd left_out = std::exchange(waiter.left_out, Crowd{});
        if (at >= whole.size() || waiter != whole[at]) return false;
        Crowd skipped;
        for (++at; at < whole.size() && skipped.count < left_out.count; ++at, ++skipped.count)
            skipped.maximum_holds += whole[at].maximum_hold;
        if (skipped != left_out) return false;
    }
    return at == whole.size();
}

// ---- Playing ----

class History {
public:
    explicit History(LockState from) : state_(std::move(from)) {}

    std::string play(const Line& line) {
        const std::string& first = line.words.at(0);
        if (line.words.size() == 1 || first == "place" || first == "windows") return look(line);
        Options options(line.words.begin() + 2, line.words.end());
        Request request = request_of(Owner(first), line.words[1], options);
        if (const auto run = options.process("run")) request.binding = Binding{*run, 0};
        if (const auto watch = options.process("watch")) request.watcher = Watcher{*watch, WatcherKind::Heartbeat, {}};
        const Evidence evidence{options.epoch("gone")};
        if (!options.all_read()) throw std::runtime_error("an option that " + line.words[1] + " does not have");
        return ask(request, line.at, evidence);
    }

    [[nodiscard]] const LockState& state() const { return state_; }

private:
    std::string ask(const Request& request, Instant at, const Evidence& evidence) {
        const Settled settled = settle(state_, at);
        Decision decision = decide(state_, request, at, evidence);
        check(at, settled, decision, decide(settled.state, request, at, evidence));
        check_excerpt(request, at, evidence, decision);
        woken_ = owners_to_wake(state_, decision.state);
        events_.insert(events_.end(), decision.events.begin(), decision.events.end());
        state_ = std::move(decision.state);
        return shown(decision.answer);
    }

    static void check(Instant at, const Settled& settled, const Decision& decision, const Decision& decided_after) {
        CHECK(broken_invariant(settled.state, at).value_or("") == "");
        CHECK(broken_invariant(decision.state, at).value_or("") == "");
        CHECK((decision.state == decided_after.state));
        CHECK((decision.answer == decided_after.answer));
        const bool process_gone = decision.state.last_epoch != settled.state.last_epoch ||
                                  decision.state.hold.has_value() != settled.state.hold.has_value();
        if (decision.answer.refusal && !process_gone) CHECK((decision.state == settled.state));
    }

    // Where nothing is due, a part of the queue is enough.
    void check_excerpt(const Request& request, Instant at, const Evidence& evidence, const Decision& decision) const {
        if (!state_.hold) return;
        Instant least_heard = at;
        for (const Waiter& waiter : state_.queue) least_heard = std::min(least_heard, waiter.last_heard);
        if (!excerpt_suffices(*state_.hold, least_heard, at)) return;
        const LockState excerpt = excerpt_of(state_, request.owner);
        const Decision decided = decide(excerpt, request, at, evidence);
        CHECK((decided.answer == decision.answer));
        CHECK((decided.events == decision.events));
        CHECK((owners_to_wake(excerpt, decided.state) == owners_to_wake(state_, decision.state)));
        CHECK(is_part(decided.state.queue, decision.state.queue));
        LockState rest = decided.state;
        rest.queue = decision.state.queue;
        CHECK((rest == decision.state));
    }

    std::string look(const Line& line) {
        const std::string& what = line.words[0];
        const LockState state = settle(state_, line.at).state;
        if (what == "hold") return state.hold ? shown(*state.hold) : "-";
        if (what == "queue") return joined(state.queue, " ", [](const Waiter& waiter) { return waiter.owner.str(); });
        if (what == "place") return place(state, Owner(line.words.at(1)));
        if (what == "windows") return shown(windows_of(state, Owner(line.words.at(1)), line.at));
        if (what == "wake") return joined(woken_, " ", [](const Owner& owner) { return owner.str(); });
        if (what == "endings") {
            const auto show = [](const Ending& ending) { return ending.owner.str() + " " + shown(ending); };
            return joined(state.endings, "; ", show);
        }
        if (what != "events") throw std::runtime_error("cannot look at " + what);
        const Settled settled = settle(state_, line.at);
        state_ = settled.state;
        events_.insert(events_.end(), settled.events.begin(), settled.events.end());
        const auto show = [](const Event& event) { return shown(event); };
        return joined(std::exchange(events_, {}), "; ", show);
    }

    static std::string place(const LockState& state, const Owner& owner) {
        for (const Waiter& waiter : state.queue)
            if (waiter.owner == owner) return shown(waiter);
        return "-";
    }

    LockState state_;
    std::vector<Event> events_;
    std::vector<Owner> woken_;
};

}  // namespace

LockState check_history(std::string_view script) { return check_history(script, {}); }

LockState check_history(std::string_view script, LockState from) {
    History history(std::move(from));
    std::istringstream lines{std::string(script)};
    for (std::string text; std::getline(lines, text);) {
        const auto line = parsed_line(text);
        if (!line) continue;
        INFO("in this line: " << trimmed(text));
        CHECK(history.play(*line) == line->outcome);
    }
    return history.state();
}

}  // namespace hagi::test
