// Hosts: a thin view of locks. A host is the lock host/<host_id>; what is fresh, stale or taken by force is decided by
// the rules of the lock.
#include <fmt/format.h>

#include <array>

#include "cmd/mcp/tool.hpp"
#include "cmd/text.hpp"
#include "cmd/wall_clock.hpp"
#include "lockcore/windows.hpp"
#include "lockcore/words.hpp"

namespace hagi::mcp {
namespace {

constexpr std::string_view kPrefix = "host/";
constexpr Duration kMinTtl = 60s;  // a model thinks for longer than the shortest lease

// ---- What they are given ----

constexpr Field kHostId = {"host_id", Kind::Text, Need::Required, "the host, e.g. build-3"};
constexpr Field kOwner = {"owner", Kind::Text, Need::Required,
                          "your own session or workstream id, the same in every call, e.g. ws/occluder-wire"};
constexpr Field kPhase = {"phase", Kind::Text, Need::Optional, "what the work is at, one word, e.g. compile"};
constexpr Field kNote = {"note", Kind::Text, Need::Optional, "what you do there, one line that others read"};

constexpr std::array kClaimFields = {
    kHostId,
    kOwner,
    kPhase,
    kNote,
    Field{"ttl_sec", Kind::Integer, Need::Optional,
          "the claim goes stale after so long without a heartbeat_host (default 600)", kMinTtl / 1s, kMaxLease / 1s},
    Field{"force", Kind::Flag, Need::Optional,
          "take the host from its owner even while the claim is fresh. ONLY on an explicit order of the user, never "
          "because you are in a hurry: the owner loses the host in the middle of its work, is told that you forced it, "
          "and it is logged. Put the order into note"},
};
constexpr std::array kHeartbeatFields = {kHostId, kOwner, kPhase, kNote};
constexpr std::array kReleaseFields = {kHostId, kOwner};

// ---- What they answer ----

constexpr OutputSchema kClaimOutput = {
    R"json({
"host_id":{"type":"string"},
"owner":{"type":"string"},
"acquired_at":{"type":"string"},
"heartbeat_at":{"type":"string"},
"ttl_sec":{"type":"integer"},
"age_sec":{"type":"integer","description":"since the last heartbeat"},
"fresh":{"type":"boolean","description":"heard from within ttl_sec"},
"phase":{"type":"string","description":"empty when not reported"},
"phase_since":{"type":["string","null"]},
"phase_age_sec":{"type":["integer","null"]},
"note":{"type":"string"},
"stuck":{"type":"boolean","description":"fresh, but the phase has not changed for a long time"},
"stuck_reason":{"type":"string"},
"holder":{"type":"object","description":"of a failure: the claim of who has the host"}})json",
    R"(["host_id","owner","acquired_at","heartbeat_at","ttl_sec","age_sec","fresh","phase","phase_since",
"phase_age_sec","note","stuck","stuck_reason"])"};

constexpr OutputSchema kListOutput = {
    R"json({"hosts":{"type":"array","items":{
"type":"object",
"description":"when claimed, also the fields of the output of claim_host",
"properties":{"host_id":{"type":"string"},"claimed":{"type":"boolean"}},
"required":["host_id","claimed"]}}})json",
    R"(["hosts"])"};

constexpr OutputSchema kReleaseOutput = {
    R"json({
"host_id":{"type":"string"},
"owner":{"type":"string"},
"released":{"type":"string","enum":["hold","queue","nothing"],"description":"nothing: it was not yours, which is fine"}})json",
    R"(["host_id","owner","released"])"};

void put_claim(Json& json, const Hold& hold, const WallClock& clock, Duration stuck_after) {
    json["owner"] = hold.owner.str();
    json["acquired_at"] = clock.at(hold.granted_at);
    json["heartbeat_at"] = clock.at(hold.last_feedback);
    json["ttl_sec"] = hold.lease / 1s;
    json["age_sec"] = clock.since(hold.last_feedback);
    json["fresh"] = clock.now < end_of(hold);
    json["phase"] = hold.phase.str();
    json["phase_since"] = hold.phase_since ? Json(clock.at(*hold.phase_since)) : Json(nullptr);
    json["phase_age_sec"] = hold.phase_since ? Json(clock.since(*hold.phase_since)) : Json(nullptr);
    json["note"] = hold.note.str();
    const auto stuck = stuck_for(hold, clock.now, stuck_after);
    json["stuck"] = stuck.has_value();
    json["stuck_reason"] =
        stuck ? fmt::format("phase {} has not changed for {}", hold.phase.str(), span(*stuck)) : std::string();
}

WallClock clock_of(const Answer& answer) { return {answer.now, answer.wall_now}; }

std::string host_id_of(const LockId& lock_id) { return lock_id.str().substr(kPrefix.size()); }

// ---- What they say ----

std::string shown(const std::string& text) { return escaped(text); }

// `claimed by ws/a (phase compile for 2 min, note "..."), last heard from 45 s ago`.
std::string holder(const Answer& answer) {
    const Hold& hold = *answer.hold;
    std::string phase = "no phase reported";
    if (hold.phase_since)
        phase = fmt::format("phase {} for {}", shown(hold.phase.str()), span(answer.now - *hold.phase_since));
    if (!hold.note.empty()) phase += fmt::format(", note \"{}\"", shown(hold.note.str()));
    return fmt::format("claimed by {} ({}), last heard from {} ago", shown(hold.owner.str()), phase,
                       span(answer.now - hold.last_feedback));
}

std::string refusal_of_claim(const Subject& subject, const Answer& answer) {
    return fmt::format(
        "host {} is {}, and stays so until {} unless it is heard from again: use a free host (list_hosts shows them), "
        "or "
        "try again after that",
        host_id_of(subject.lock_id), holder(answer), text::time(answer, end_of(*answer.hold)));
}

std::string how_it_was_lost(const Answer& answer) {
    if (!answer.ending) return std::string(word_for(answer.refusal->cause.value_or(Cause::NotTheHolder)));
    const Ending& ending = *answer.ending;
    std::string how = fmt::format("{} at {}", word_for(ending.cause), text::time(answer, ending.at));
    if (!ending.by.empty()) how += fmt::format(" by {}, \"{}\"", shown(ending.by.str()), shown(ending.reason.str()));
    return how;
}

std::string loss(const Subject& subject, const Answer& answer) {
    const bool held = answer.ending && answer.ending->kind == EndedKind::Hold;
    return fmt::format("host {} is not yours{} ({}): {}; now it is {}: claim_host tells whether you can have it",
                       host_id_of(subject.lock_id), held ? " any more" : "", how_it_was_lost(answer),
                       held ? "stop using it" : "do not use it", answer.hold ? holder(answer) : "free");
}

// ---- What they do ----

ToolResult failed_host(const Subject& subject, Failure failure) {
    ToolResult result;
    result.sentence = failure.message;
    Json& error = result.document["error"];
    error["code"] = name_of(failure.code);
    error["message"] = failure.message;
    const Answer* const answer = failure.answer ? &*failure.answer : nullptr;
    if (answer && answer->refusal && answer->refusal->cause) error["cause"] = word_for(*answer->refusal->cause);
    if (!subject.lock_id.empty()) result.document["host_id"] = host_id_of(subject.lock_id);
    if (!subject.owner.empty()) result.document["owner"] = subject.owner.str();
    if (answer && answer->hold && answer->status != Status::Holding)
        put_claim(result.document["holder"], *answer->hold, clock_of(*answer), subject.stuck_after);
    return result;
}

ToolResult failed_host(const Subject& subject, const Error& error) { return failed_host(subject, failure_for(error)); }

Result<LockId> parse_host_id(std::string_view text) {
    // As part of a longer name the empty text and "/" would be blamed on the lock.
    if (text.empty()) return Error{ErrorKind::InvalidArgument, "the host id: it is empty: name the host"};
    return parse_lock_id(std::string(kPrefix) + std::string(text));
}

Result<Subject> host_subject(const Context& context, Reading& reading) {
    auto subject = resolve_store(context, {});
    if (!subject) return subject;
    subject->reader = Reader::Tools;
    subject->lock_id = reading.text("host_id", parse_host_id).value_or(LockId{});
    subject->owner = reading.text("owner", parse_owner).value_or(Owner{});
    if (reading.error()) return *reading.error();
    return subject;
}

using Sentence = std::string (*)(const Subject&, const Answer&);

// One request of the caller's own claim; `refusal` puts into words why it was refused.
ToolResult ask(Job& job, Reading& reading, StoreUse use, decltype(hagi::Request::action) action, Sentence refusal) {
    const auto subject = host_subject(job.context, reading);
    if (!subject) return failed_host({}, subject.error());
    auto session = open_session(job.context, *subject, job.terms, use, Report(job.context, Form::Json));
    if (!session) return failed_host(*subject, session.error());
    const auto answer = session->submit(std::move(action));
    if (!answer) return failed_host(session->subject, answer.error());
    if (answer->refusal)
        return failed_host(*subject, {code_for(answer->refusal->code), refusal(*subject, *answer), *answer});

    ToolResult result;
    result.document["host_id"] = host_id_of(subject->lock_id);
    if (answer->released) {
        result.document["owner"] = subject->owner.str();
        result.document["released"] = word_for(*answer->released);
    } else {
        put_claim(result.document, *answer->hold, clock_of(*answer), subject->stuck_after);
    }
    note_standing(result, *subject, *answer);
    return result;
}

Progress progress_of(Reading& reading) {
    return {reading.text("phase", parse_phase), reading.text("note", parse_note)};
}

// The note of whoever forces is the order's words, as far as they fit beside its name.
hagi::Reason reason_of_force(Reading& reading) {
    const std::string who = fmt::format("forced by {} with claim_host", reading.raw().text("owner").value_or(""));
    const auto with_note = parse_reason(fmt::format("{}: {}", who, reading.raw().text("note").value_or("")));
    return with_note && reading.raw().text("note") ? *with_note : hagi::Reason(who);
}

ToolResult claim(Job& job) {
    Reading reading(job.arguments);
    const Progress progress = progress_of(reading);
    const auto ttl = reading.seconds("ttl_sec");
    if (job.arguments.flag("force"))
        return ask(job, reading, StoreUse::Create,
                   RequisitionRequest{reason_of_force(reading), Label{}, std::nullopt, ttl, progress},
                   refusal_of_claim);
    AcquireRequest request;
    request.progress = progress;
    request.lease = ttl;
    request.when_held = WhenHeld::Refuse;
    return ask(job, reading, StoreUse::Create, std::move(request), refusal_of_claim);
}

ToolResult heartbeat(Job& job) {
    Reading reading(job.arguments);
    return ask(job, reading, StoreUse::Change, RenewRequest{std::nullopt, std::nullopt, progress_of(reading)}, loss);
}

ToolResult release(Job& job) {
    Reading reading(job.arguments);
    return ask(job, reading, StoreUse::Change, ReleaseRequest{}, loss);
}

ToolResult list(Job& job) {
    const auto subject = resolve_store(job.context, {});
    if (!subject) return failed_host({}, subject.error());
    auto session = open_session(job.context, *subject, job.terms, StoreUse::ReadOnly, Report(job.context, Form::Json));
    if (!session) return failed_host({}, session.error());
    const auto answer = session->engine->list({std::string(kPrefix), true});
    if (!answer) return failed_host({}, answer.error());

    Json hosts = Json::array();
    for (const LockView& view : answer->locks) {
        Json host;
        host["host_id"] = host_id_of(view.lock_id);
        host["claimed"] = view.state.hold.has_value();
        if (view.state.hold) put_claim(host, *view.state.hold, {answer->now, answer->wall_now}, subject->stuck_after);
        hosts.push_back(std::move(host));
    }
    ToolResult result;
    result.document["hosts"] = std::move(hosts);
    return result;
}

// ---- The table ----

constexpr std::array kTools = {
    Tool{"list_hosts",
         "List the hosts",
         "Every known host, claimed or free: who has it, what they are at (phase), how long since they were heard from "
         "(age_sec), whether the claim is fresh and whether the work looks stuck. Changes nothing.",
         {},
         kListOutput,
         {true, false, true},
         list},
    Tool{
        "claim_host",
        "Claim a host for a workstream",
        "Exclusive use of a host for your workstream. Before you touch a shared host, claim it; if the call fails, the "
        "host is NOT yours. A stale claim (no heartbeat within its ttl_sec) is taken over by itself; another owner's "
        "fresh claim is refused, and the refusal says who has the host and what to do instead. It does not queue. "
        "Repeating it is safe and does not renew: call heartbeat_host at least every two minutes while you work, say "
        "what you are at in phase and move it on when the work moves on, and release_host at the end. force takes a "
        "host from a live owner: only an explicit order of the user justifies it.",
        kClaimFields,
        kClaimOutput,
        {false, true, true},
        claim},
    Tool{
        "heartbeat_host",
        "Keep a claim fresh",
        "Keeps your claim of a host fresh and reports the phase of the work. Call it at least every two minutes while "
        "you work; a phase that does not change for 30 minutes is shown to others as stuck. When it fails, the host is "
        "no longer yours: it says why and to whom it went; stop using the host at once.",
        kHeartbeatFields,
        kClaimOutput,
        {false, false, true},
        heartbeat},
    Tool{"release_host",
         "Give a host back",
         "Gives the host back as soon as your work on it has ended, so that others need not wait for the claim to go "
         "stale. Succeeds whether or not the host was yours; released says what was given back.",
         kReleaseFields,
         kReleaseOutput,
         {false, false, true},
         release},
};

}  // namespace

std::span<const Tool> host_tools() { return kTools; }

}  // namespace hagi::mcp
