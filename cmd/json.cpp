#include "cmd/json.hpp"

#include <fmt/format.h>

#include "cmd/json_document.hpp"
#include "cmd/wall_clock.hpp"
#include "cmd/watcher.hpp"
#include "lockcore/names.hpp"
#include "lockcore/windows.hpp"
#include "lockcore/words.hpp"

namespace hagi::json {
namespace {

WallClock clock_of(const Answer& answer) { return {answer.now, answer.wall_now}; }

std::int64_t seconds(Duration length) { return std::chrono::floor<std::chrono::seconds>(length).count(); }

template <class Kind>
void put_text(Json& json, const char* key, const Text<Kind>& text) {
    if (!text.empty()) json[key] = text.str();
}

void put_time(Json& json, const char* key, const WallClock& clock, const std::optional<Instant>& at) {
    if (at) json[key] = clock.at(*at);
}

void put_subject(Json& json, const Subject& subject) {
    put_text(json, "lockId", subject.lock_id);
    put_text(json, "owner", subject.owner);
}

// What a holder and everyone else are told alike.
void put_grant(Json& json, const Hold& hold, const WallClock& clock, Duration stuck_after) {
    json["grantedAt"] = clock.at(hold.granted_at);
    json["leaseSec"] = seconds(hold.lease);
    json["heartbeatAt"] = clock.at(hold.last_feedback);
    json["ageSec"] = clock.since(hold.last_feedback);
    put_time(json, "acceptedAt", clock, hold.accepted_at);
    put_text(json, "label", hold.label);
    put_text(json, "phase", hold.phase);
    put_text(json, "note", hold.note);
    put_time(json, "phaseSince", clock, hold.phase_since);
    if (hold.phase_since) json["phaseAgeSec"] = clock.since(*hold.phase_since);
    json["fresh"] = clock.now < end_of(hold);
    const auto stuck = stuck_for(hold, clock.now, stuck_after);
    json["stuck"] = stuck.has_value();
    if (stuck) json["stuckReason"] = fmt::format("phase {} has not changed for {}", hold.phase.str(), span(*stuck));
}

Json nudges(const std::vector<Nudge>& nudges, const WallClock& clock) {
    Json json = Json::array();
    for (const Nudge& nudge : nudges)
        json.push_back({{"by", nudge.by.str()}, {"at", clock.at(nudge.at)}, {"reason", nudge.reason.str()}});
    return json;
}

Json watcher(const ShownWatcher& shown, const WallClock& clock) {
    Json json = {{"host", shown.watcher->process.host},
                 {"pid", shown.watcher->process.pid},
                 {"since", clock.at(shown.watcher->since)}};
    if (shown.liveness != Liveness::Unknown) json["alive"] = shown.liveness == Liveness::Alive;
    return json;
}

Json holder(const Hold& hold, const WallClock& clock, Duration stuck_after) {
    Json json = Json::object();
    json["owner"] = hold.owner.str();
    json["epoch"] = hold.epoch.value;
    json["claimed"] = hold.claimed_at.has_value();
    put_grant(json, hold, clock, stuck_after);
    json["validUntil"] = clock.at(end_of(hold));
    json["hardCapAt"] = clock.at(hold.hard_cap);
    if (!hold.nudges.empty()) json["nudges"] = nudges(hold.nudges, clock);
    return json;
}

Json requisition(const Ending& ending, const WallClock& clock) {
    return {{"by", ending.by.str()}, {"at", clock.at(ending.at)}, {"reason", ending.reason.str()}};
}

void put_ending(Json& json, const Ending& ending, const WallClock& clock) {
    if (ending.epoch.value != 0) json["epoch"] = ending.epoch.value;
    json["cause"] = word_for(ending.cause);
    json["endedAt"] = clock.at(ending.at);
    if (!ending.by.empty()) json["requisition"] = requisition(ending, clock);
}

Json previous(const Ending& ending, const WallClock& clock) {
    const bool taken = ending.cause == Cause::Requisitioned || ending.cause == Cause::Stopped;
    Json json = Json::object();
    json["status"] = word_for(taken ? Status::Requisitioned : Status::Expired);
    put_ending(json, ending, clock);
    return json;
}

Json windows(const Windows& windows, const WallClock& clock) {
    Json json = Json::object();
    put_time(json, "validUntil", clock, windows.valid_until);
    if (windows.valid_until) json["validForSec"] = clock.until(*windows.valid_until);
    put_time(json, "hardCapAt", clock, windows.hard_cap);
    if (windows.hard_cap) json["hardCapInSec"] = clock.until(*windows.hard_cap);
    if (windows.check_in_from)
        json["checkIn"] = {{"from", clock.at(*windows.check_in_from)}, {"until", clock.at(*windows.check_in_until)}};
    if (windows.turn_earliest) {
        Json turn = Json::object();
        put_time(turn, "earliest", clock, windows.turn_earliest);
        put_time(turn, "expected", clock, windows.turn_expected);
        put_time(turn, "latest", clock, windows.turn_latest);
        json["turn"] = turn;
    }
    return json;
}

void put_place(Json& json, const Answer& answer, Duration stuck_after) {
    const WallClock clock = clock_of(answer);
    json["position"] = answer.position;
    json["queueLength"] = answer.queue_length;
    json["enqueuedAt"] = clock.at(answer.place->enqueued_at);
    json["leaseSec"] = seconds(answer.place->lease);
    put_text(json, "label", answer.place->label);
    put_text(json, "phase", answer.place->phase);
    put_text(json, "note", answer.place->note);
    json["holder"] = holder(*answer.hold, clock, stuck_after);
}

void put_answer(Json& json, const Subject& subject, const Answer& answer) {
    const WallClock clock = clock_of(answer);
    put_subject(json, subject);
    json["status"] = word_for(answer.status);
    if (answer.status == Status::Holding) {
        json["epoch"] = answer.hold->epoch.value;
        json["claimed"] = true;
        put_grant(json, *answer.hold, clock, subject.stuck_after);
        if (const auto newest = newest_watcher(*answer.hold)) json["watcher"] = watcher(*newest, clock);
        if (!answer.hold->nudges.empty()) json["nudges"] = nudges(answer.hold->nudges, clock);
    }
    if (answer.status == Status::Queued) put_place(json, answer, subject.stuck_after);
    if (answer.ending) put_ending(json, *answer.ending, clock);
    if (answer.previous) json["previous"] = previous(*answer.previous, clock);
    if (answer.displaced)
        json["displaced"] = {{"owner", answer.displaced->owner.str()}, {"epoch", answer.displaced->epoch.value}};
    if (answer.released) json["released"] = word_for(*answer.released);
    if (answer.cause) json["cause"] = word_for(*answer.cause);
    json["windows"] = windows(answer.windows, clock);
    put_store(json, subject);
}

// In a failure the epoch is the caller's; the current grant is in "holder".
void put_failure(Json& json, const Subject& subject, const Failure& failure) {
    Json error = {{"code", name_of(failure.code)}, {"exitCode", exit_code(failure.code)}, {"message", failure.message}};
    const Answer* answer = failure.answer ? &*failure.answer : nullptr;
    if (answer && answer->refusal && answer->refusal->cause) error["cause"] = word_for(*answer->refusal->cause);
    if (answer && answer->ending && !answer->ending->by.empty())
        error["requisition"] = requisition(*answer->ending, clock_of(*answer));
    json["error"] = std::move(error);
    put_subject(json, subject);
    if (answer && answer->refusal && answer->refusal->epoch) json["epoch"] = answer->refusal->epoch->value;
    if (answer) json["status"] = word_for(answer->status);
    if (answer && answer->status == Status::Queued) {
        json["position"] = answer->position;
        json["queueLength"] = answer->queue_length;
    }
    if (answer && answer->released) json["released"] = word_for(*answer->released);
    if (answer && answer->hold) json["holder"] = holder(*answer->hold, clock_of(*answer), subject.stuck_after);
    put_store(json, subject);
}

std::string_view name_of(WatchEventKind kind) {
    switch (kind) {
        case WatchEventKind::Started: return "started";
        case WatchEventKind::Beat: return "beat";
        case WatchEventKind::Queued: return "queued";
        case WatchEventKind::Holding: return "holding";
        case WatchEventKind::Unreachable: return "unreachable";
        case WatchEventKind::MayBeLost: return "mayBeLost";
        case WatchEventKind::Recovered: return "recovered";
        case WatchEventKind::CapWarning: return "capWarning";
        case WatchEventKind::Warning: return "warning";
        case WatchEventKind::Stuck: return "stuck";
        case WatchEventKind::Nudged: return "nudged";
        case WatchEventKind::Lost: return "lost";
        case WatchEventKind::Dropped: return "dropped";
        case WatchEventKind::Timeout: return "timeout";
        case WatchEventKind::Stopped: break;
    }
    return "stopped";
}

}  // namespace

std::string answer(const Subject& subject, const Answer& answer) {
    Json json = Json::object();
    put_answer(json, subject, answer);
    return line(json);
}

namespace {

// One value as a shell wants it; texts of other callers escaped, as everywhere.
std::string plain(const Json& value) { return value.is_string() ? escaped(value.get<std::string>()) : value.dump(); }

const Json* find(const Json& json, std::string_view path) {
    const std::size_t dot = path.find('.');
    const auto found = json.find(path.substr(0, dot));
    if (found == json.end()) return nullptr;
    return dot == std::string_view::npos ? &*found : find(*found, path.substr(dot + 1));
}

}  // namespace

std::string fields(const Subject& subject, const Answer& answer, const std::vector<std::string>& names) {
    Json json = Json::object();
    put_answer(json, subject, answer);
    std::string lines;
    for (const std::string& name : names) {
        const Json* value = find(json, name);
        lines += (value ? plain(*value) : "") + "\n";
    }
    return lines;
}

namespace {

void put_list(Json& json, const Subject& subject, const ListAnswer& answer) {
    const WallClock clock{answer.now, answer.wall_now};
    Json locks = Json::array();
    for (const LockView& view : answer.locks) {
        Json queue = Json::array();
        for (const Waiter& waiter : view.state.queue) {
            Json place = {{"owner", waiter.owner.str()}};
            put_text(place, "label", waiter.label);
            place["position"] = queue.size() + 1;
            place["enqueuedAt"] = clock.at(waiter.enqueued_at);
            queue.push_back(std::move(place));
        }
        Json lock = {{"lockId", view.lock_id.str()}, {"holder", nullptr}};
        if (view.state.hold) lock["holder"] = holder(*view.state.hold, clock, subject.stuck_after);
        lock["queue"] = std::move(queue);
        locks.push_back(std::move(lock));
    }
    json["locks"] = std::move(locks);
    json["at"] = clock.at(answer.now);
    put_store(json, subject);
}

}  // namespace

std::string list(const Subject& subject, const ListAnswer& answer) {
    Json json = Json::object();
    put_list(json, subject, answer);
    return line(json);
}

std::string list_event(const Subject& subject, const ListAnswer& answer) {
    Json json = {{"event", "locks"}};
    put_list(json, subject, answer);
    return line(json);
}

namespace {

Json logged_event(const LoggedEvent& logged) {
    const Event& event = logged.event;
    Json json = {{"seq", logged.seq},
                 {"at", timestamp(logged.wall, Precision::Milliseconds)},
                 {"event", word_for(event.kind)},
                 {"lockId", logged.lock_id.str()},
                 {"owner", event.owner.str()}};
    if (event.epoch != Epoch{}) json["epoch"] = event.epoch.value;
    put_text(json, "by", event.by);
    put_text(json, "reason", event.reason);
    if (event.cause) json["cause"] = word_for(*event.cause);
    put_text(json, "label", event.label);
    return json;
}

}  // namespace

std::string log(const std::vector<LoggedEvent>& events) {
    Json rows = Json::array();
    for (const LoggedEvent& event : events) rows.push_back(logged_event(event));
    Json json = Json::object();
    json["events"] = std::move(rows);
    return line(json);
}

std::string log_line(const LoggedEvent& event) { return line(logged_event(event)); }

std::string guide(std::string_view text) { return line({{"guide", text}}); }

std::string failure(const Subject& subject, const Failure& failure) {
    Json json = Json::object();
    put_failure(json, subject, failure);
    return line(json);
}

std::string event(const Subject& subject, const WatchEvent& event) {
    Json json = {{"event", name_of(event.kind)}};
    if (event.failure)
        put_failure(json, subject, *event.failure);
    else if (event.answer)
        put_answer(json, subject, *event.answer);
    else
        put_subject(json, subject);
    json["message"] = event.message;
    return line(json);
}

}  // namespace hagi::json
