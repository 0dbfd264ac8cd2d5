// The verbs of `hagi agent lock` as tools: the same requests, and the documents of cmd/json.hpp as their output.
#include <array>

#include "cmd/json.hpp"
#include "cmd/mcp/tool.hpp"
#include "cmd/timestamp.hpp"

namespace hagi::mcp {
namespace {

constexpr std::int64_t kMaxEpoch = INT64_MAX;
constexpr Duration kMaxWait = 50s;  // below the waiter TTL, and below the minute after which common clients give up
constexpr std::int64_t kDefaultEvents = 100;  // a model reads all of them
constexpr std::int64_t kMaxEvents = 1000;

constexpr std::int64_t whole_seconds(Duration length) { return length / 1s; }

// ---- What they are given ----

constexpr Field kLockId = {"lock_id", Kind::Text, Need::Required, "the lock, e.g. eu-1/duckov"};
constexpr Field kOwner = {"owner", Kind::Text, Need::Optional,
                          "your own session id, the same in every call; else the server's HAGI_LOCK_OWNER, else "
                          "HAGI_SESSION_ID"};
constexpr Field kLabel = {"label", Kind::Text, Need::Optional, "what the lock is wanted for, e.g. deploy build 42"};
constexpr Field kPhase = {"phase", Kind::Text, Need::Optional, "what the work is at, one word, e.g. compile"};
constexpr Field kNote = {"note", Kind::Text, Need::Optional, "a note on progress, one line"};
constexpr Field kLease = {"lease_sec",
                          Kind::Integer,
                          Need::Optional,
                          "the lock lapses after so long without a lock_renew (default 600)",
                          whole_seconds(kMinLease),
                          whole_seconds(kMaxLease)};
constexpr Field kThisEpoch = {"epoch", Kind::Integer, Need::Optional, "only this grant", 1, kMaxEpoch};

constexpr std::array kAcquireFields = {
    kLockId,
    kOwner,
    kLabel,
    kPhase,
    kNote,
    kLease,
    Field{"max_hold_sec", Kind::Integer, Need::Optional,
          "the lock ends after so long whatever is renewed (default 86400)", whole_seconds(kMinMaximumHold),
          whole_seconds(kMaximumHold)},
    Field{"no_queue", Kind::Flag, Need::Optional, "if the lock is not free, change nothing and fail"},
    Field{"wait_sec", Kind::Integer, Need::Optional,
          "wait so long for the turn; the place in the queue is kept after it (default 0)", 0, whole_seconds(kMaxWait)},
};
constexpr std::array kStatusFields = {kLockId, kOwner};
constexpr std::array kRenewFields = {kLockId, kOwner, kThisEpoch, kLease, kPhase, kNote};
constexpr std::array kAcceptFields = {
    kLockId, kOwner, kThisEpoch,
    Field{"min_left_sec", Kind::Integer, Need::Optional, "fail when less than this is left of the lease", 0,
          whole_seconds(kMaximumHold)}};
constexpr std::array kReleaseFields = {kLockId, kOwner, kThisEpoch};
constexpr std::array kRequisitionFields = {
    kLockId, kOwner,
    Field{"reason", Kind::Text, Need::Required, "who ordered it and why, in words that the displaced holder reads"},
    kLabel, kThisEpoch};
constexpr Field kPrefix = {"prefix", Kind::Text, Need::Optional, "only locks whose id begins with this"};
constexpr std::array kListFields = {kPrefix, Field{"all", Kind::Flag, Need::Optional, "also locks that are idle"}};
constexpr std::array kLogFields = {
    Field{"lock_id", Kind::Text, Need::Optional, "only this lock"},
    Field{"owner", Kind::Text, Need::Optional, "only what is by or about it"},
    kPrefix,
    Field{"since", Kind::Text, Need::Optional, "RFC 3339, or 45s, 30m, 2h, 7d ago"},
    Field{"limit", Kind::Integer, Need::Optional, "the newest so many (default 100)", 1, kMaxEvents},
};

// ---- What they answer ----

constexpr OutputSchema kAnswerOutput = {
    R"json({
"lockId":{"type":"string"},
"owner":{"type":"string"},
"status":{"type":"string","enum":["Holding","Queued","Expired","Requisitioned","None"],
"description":"only Holding means that the lock is yours"},
"epoch":{"type":"integer",
"description":"numbers this grant and only ever grows: a resource can refuse a smaller one than it has seen"},
"claimed":{"type":"boolean"},
"position":{"type":"integer","description":"Queued: your place, 1 is next"},
"queueLength":{"type":"integer"},
"leaseSec":{"type":"integer"},
"heartbeatAt":{"type":"string"},
"ageSec":{"type":"integer"},
"label":{"type":"string"},
"phase":{"type":"string"},
"note":{"type":"string"},
"fresh":{"type":"boolean"},
"stuck":{"type":"boolean"},
"stuckReason":{"type":"string"},
"cause":{"type":"string"},
"holder":{"type":"object","description":"who holds the lock, where that is not you"},
"previous":{"type":"object","description":"how your hold or place before this one ended"},
"displaced":{"type":"object"},
"released":{"type":"string","enum":["hold","queue","nothing"]},
"nudges":{"type":"array","items":{"type":"object"},"description":"who asks you for the lock, and why"},
"windows":{"type":"object","description":"validUntil: when the lock lapses unless something is done; checkIn: when you are expected again; turn: when your turn may come"},
"store":{"type":"string"}})json",
    R"(["lockId","owner","status","windows"])"};

constexpr OutputSchema kListOutput = {
    R"json({
"locks":{"type":"array","items":{"type":"object","properties":{
"lockId":{"type":"string"},
"holder":{"type":["object","null"]},
"queue":{"type":"array","items":{"type":"object"}}},
"required":["lockId","holder","queue"]}},
"at":{"type":"string"},
"store":{"type":"string"}})json",
    R"(["locks","at"])"};

constexpr OutputSchema kLogOutput = {
    R"json({"events":{"type":"array","items":{"type":"object","properties":{
"seq":{"type":"integer"},"at":{"type":"string"},"event":{"type":"string"},"lockId":{"type":"string"},
"owner":{"type":"string"},"epoch":{"type":"integer"},"by":{"type":"string"},"reason":{"type":"string"},
"cause":{"type":"string"},"label":{"type":"string"}},
"required":["seq","at","event","lockId","owner"]}}})json",
    R"(["events"])"};

// ---- What they do ----

ToolResult told(const Subject& subject, const Answer& answer) {
    ToolResult result =
        answer.refusal ? failed(subject, failure_for(subject, answer)) : succeeded(json::answer(subject, answer));
    note_standing(result, subject, answer);
    return result;
}

// One request of the caller's own lock.
ToolResult ask(Job& job, Reading& reading, StoreUse use, decltype(hagi::Request::action) action) {
    const auto subject = lock_subject(job.context, reading);
    if (!subject) return failed({}, subject.error());
    auto session = open_session(job.context, *subject, job.terms, use, Report(job.context, Form::Json));
    if (!session) return failed(*subject, session.error());
    const auto answer = session->submit(std::move(action));
    return answer ? told(session->subject, *answer) : failed(session->subject, answer.error());
}

Progress progress_of(Reading& reading) {
    return {reading.text("phase", parse_phase), reading.text("note", parse_note)};
}

AcquireRequest acquire_request(Reading& reading) {
    AcquireRequest request;
    request.label = reading.text("label", parse_label);
    request.progress = progress_of(reading);
    request.lease = reading.seconds("lease_sec");
    request.maximum_hold = reading.seconds("max_hold_sec");
    if (reading.raw().flag("no_queue")) request.when_held = WhenHeld::Refuse;
    return request;
}

bool acquire_waits(const Arguments& arguments) { return arguments.number("wait_sec").value_or(0) > 0; }

// The place stays: a model's calls are short, and the next one goes on waiting in it.
ToolResult acquire_in_turn(Job& job, const Subject& subject, AcquireRequest request, Duration timeout) {
    request.process = job.context.identify();
    auto session = open_session(job.context, subject, job.terms, StoreUse::Create, Report(job.context, Form::Json));
    if (!session) return failed(subject, session.error());
    const AwaitTerms terms{std::move(request), timeout, Place::Keep, std::nullopt, Place::Leave};
    const Awaited awaited = await_grant(*session, terms, job.stop, job.announce);
    if (awaited.granted) return told(session->subject, *awaited.granted);
    const Failure& failure = *awaited.ending.failure;
    const bool still_waiting = failure.code == ErrorCode::WaitTimeout && failure.answer;
    return still_waiting ? told(session->subject, *failure.answer) : failed(session->subject, failure);
}

ToolResult acquire(Job& job) {
    Reading reading(job.arguments);
    const AcquireRequest request = acquire_request(reading);
    if (!acquire_waits(job.arguments)) return ask(job, reading, StoreUse::Create, request);
    if (request.when_held == WhenHeld::Refuse)
        reading.note({ErrorKind::Usage, "no_queue and wait_sec contradict each other: give one of them"});
    const auto subject = lock_subject(job.context, reading);
    if (!subject) return failed({}, subject.error());
    return acquire_in_turn(job, *subject, request, *reading.seconds("wait_sec"));
}

ToolResult status(Job& job) {
    Reading reading(job.arguments);
    ToolResult result = ask(job, reading, StoreUse::Change, StatusRequest{});
    result.claimed.reset();  // to look is not to claim, and anyone may look
    return result;
}

ToolResult renew(Job& job) {
    Reading reading(job.arguments);
    return ask(job, reading, StoreUse::Change,
               RenewRequest{reading.epoch(), reading.seconds("lease_sec"), progress_of(reading)});
}

ToolResult accept(Job& job) {
    Reading reading(job.arguments);
    return ask(job, reading, StoreUse::Change,
               AcceptRequest{reading.epoch(), reading.seconds("min_left_sec").value_or(Duration{})});
}

ToolResult release(Job& job) {
    Reading reading(job.arguments);
    return ask(job, reading, StoreUse::Change, ReleaseRequest{reading.epoch()});
}

ToolResult requisition(Job& job) {
    Reading reading(job.arguments);
    RequisitionRequest request;
    request.reason = reading.text("reason", parse_reason).value_or(Reason{});
    request.label = reading.text("label", parse_label).value_or(Label{});
    request.epoch = reading.epoch();
    return ask(job, reading, StoreUse::Create, std::move(request));
}

ToolResult list(Job& job) {
    const auto subject = resolve_store(job.context, {});
    if (!subject) return failed({}, subject.error());
    auto session = open_session(job.context, *subject, job.terms, StoreUse::ReadOnly, Report(job.context, Form::Json));
    if (!session) return failed(*subject, session.error());
    const auto answer = session->engine->list({job.arguments.text("prefix").value_or(""), job.arguments.flag("all")});
    return answer ? succeeded(json::list(session->subject, *answer)) : failed(session->subject, answer.error());
}

LogQuery log_query(Job& job, Reading& reading) {
    LogQuery query;
    query.lock_id = reading.text("lock_id", parse_lock_id);
    query.owner = reading.text("owner", parse_owner);
    query.prefix = job.arguments.text("prefix").value_or("");
    query.limit = static_cast<std::size_t>(job.arguments.number("limit").value_or(kDefaultEvents));
    if (const auto since = job.arguments.text("since")) {
        query.since = parse_moment(*since, job.context.clock.read()->wall);
        if (!query.since)
            reading.note({ErrorKind::Usage, "since is a time such as 2026-11-30T06:20:11Z, or 45s, 30m, 2h, 7d, not " +
                                                in_quotes(*since) + ": give one of these"});
    }
    return query;
}

ToolResult log(Job& job) {
    Reading reading(job.arguments);
    const LogQuery query = log_query(job, reading);
    if (reading.error()) return failed({}, *reading.error());
    const auto subject = resolve_store(job.context, {});
    if (!subject) return failed({}, subject.error());
    auto session = open_session(job.context, *subject, job.terms, StoreUse::ReadOnly, Report(job.context, Form::Json));
    if (!session) return failed(*subject, session.error());
    const auto events = session->engine->read_log(query);
    return events ? succeeded(json::log(*events)) : failed(session->subject, events.error());
}

// ---- The table ----

constexpr Hints kLooks = {true, false, true};
constexpr Hints kRepeatable = {false, false, true};
constexpr Hints kTakes = {false, true, false};

constexpr std::array kTools = {
    Tool{"lock_acquire", "Take a lock, or a place in its queue",
         "Takes the lock if it is free, else a place in its fair queue (status Queued: the lock is NOT yours). Give "
         "wait_sec and call it again until status is Holding: a place that is not heard from for 60 s is dropped. "
         "Repeating it is safe: it keeps the grant or the place, and does not renew. Once Holding: lock_accept right "
         "before the work starts, lock_renew at least every two minutes, lock_release at the end.",
         kAcquireFields, kAnswerOutput, kRepeatable, acquire, acquire_waits},
    Tool{"lock_status", "See where you stand with a lock",
         "Where you stand: Holding, Queued, Expired, Requisitioned or None. It keeps a place in the queue alive and "
         "claims a turn that has come; it does not renew.",
         kStatusFields, kAnswerOutput, kRepeatable, status},
    Tool{"lock_renew", "Keep a lock: one heartbeat",
         "One heartbeat: keeps the lock for another lease, and reports what the work is at (phase; move it on, or you "
         "are shown as stuck). Fails when the lock is no longer yours, and says why: then stop using the resource.",
         kRenewFields, kAnswerOutput, kRepeatable, renew},
    Tool{"lock_accept", "Guard the start of work",
         "The guard right before work starts: only its success authorizes the start. Fails when the lock has lapsed, "
         "was taken, or has less left than min_left_sec. It is no heartbeat.",
         kAcceptFields, kAnswerOutput, kRepeatable, accept},
    Tool{"lock_release", "Give a lock back",
         "Gives the lock back, or leaves its queue; the next in the queue gets it at once. Succeeds whether or not "
         "anything was held; released says what was.",
         kReleaseFields, kAnswerOutput, kRepeatable, release},
    Tool{"lock_requisition", "Take a lock from its holder, by order",
         "Takes the lock from its live holder at once, in the middle of its work. Only an explicit order of the user "
         "justifies it, never your own hurry: say in reason who ordered it and why. The holder is told, and it is "
         "logged.",
         kRequisitionFields, kAnswerOutput, kTakes, requisition},
    Tool{"lock_list", "List locks", "Who holds what, and who waits. Changes nothing.", kListFields, kListOutput, kLooks,
         list},
    Tool{"lock_log", "Read the audit trail",
         "The audit trail, newest last: every grant, hand-off, loss and order. Changes nothing.", kLogFields,
         kLogOutput, kLooks, log},
};

}  // namespace

std::span<const Tool> lock_tools() { return kTools; }

}  // namespace hagi::mcp
