#include "cmd/mcp/worker.hpp"

#include <exception>
#include <new>
#include <utility>

#include "cmd/keepalive.hpp"

namespace hagi::mcp {
namespace {

// The epoch of the hold, once the turn has come; absent: it will not.
std::optional<Epoch> await_turn(Session& session, StopSource& stop, const Announce& announce) {
    const AwaitTerms terms{{}, kMaxWaitTimeout, Place::Keep, std::nullopt, std::nullopt, Begin::Look};
    const Awaited awaited = await_grant(session, terms, stop, announce);
    if (!stop.requested()) announce(awaited.ending);
    return awaited.granted ? std::optional(awaited.granted->hold->epoch) : std::nullopt;
}

void keep(Session& session, Epoch epoch, StopSource& stop, const Announce& announce) {
    KeepTerms terms;
    terms.epoch = epoch;
    Keepalive keepalive(session, terms, announce);
    const auto must_end = [&] { return stop.requested(); };
    if (const auto ended = beat_until(must_end, stop.interrupts(), session, keepalive)) announce(*ended);
}

Failure failure_of(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
        return {ErrorCode::Transport, "out of memory: free some and repeat the call, which is safe", {}};
    return {ErrorCode::Unknown, std::string("a defect of hagi itself (") + error.what() + "): please report it", {}};
}

}  // namespace

Subject subject_of(const Context& context, const Standing& claim) {
    auto resolved = resolve_store(context, {});
    Subject subject = resolved ? *std::move(resolved) : Subject{};
    subject.lock_id = claim.lock_id;
    subject.owner = claim.owner;
    subject.reader = Reader::Tools;
    return subject;
}

void Mailbox::post(Letter letter) {
    {
        const std::lock_guard lock(mutex_);
        letters_.push_back(std::move(letter));
    }
    wakeup_.ring();
}

std::deque<Mailbox::Letter> Mailbox::take() {
    wakeup_.take();
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
}

void StopRequest::ask() {
    asked_ = true;
    wakeup_.ring();
}

Interrupts StopRequest::interrupts() const { return wakeup_.fd() < 0 ? Interrupts{} : Interrupts{wakeup_.fd()}; }

Worker::Worker(std::function<void(StopSource&)> work) : thread_([this, work = std::move(work)] { work(stop_); }) {}

Worker::~Worker() {
    stop_.ask();
    thread_.join();
}

ToolResult run_call(const Tool& tool, Json arguments, Context& context, const EngineTerms& terms, StopSource& stop,
                    const Announce& announce) {
    try {
        const auto checked = Arguments::check(tool.fields, std::move(arguments));
        if (!checked) return failed({}, checked.error());
        Job job{context, terms, *checked, stop, announce};
        return tool.call(job);
    } catch (const std::exception& error) {
        return failed({}, failure_of(error));
    }
}

void keep_claim(Context& context, const EngineTerms& terms, const Standing& claim, StopSource& stop,
                const Announce& announce) {
    try {
        const Subject subject = subject_of(context, claim);
        auto session = open_session(context, subject, terms, StoreUse::Change, Report(context, Form::Json));
        if (!session) {
            const Failure failure = failure_for(session.error());
            return announce({WatchEventKind::Stopped, failure.message, {}, failure});
        }
        const auto epoch = claim.epoch ? claim.epoch : await_turn(*session, stop, announce);
        if (epoch) keep(*session, *epoch, stop, announce);
    } catch (const std::exception& error) {
        const Failure failure = failure_of(error);
        announce({WatchEventKind::Stopped, failure.message, {}, failure});
    }
}

}  // namespace hagi::mcp
