#include "cmd/await_grant.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    AcquireRequest request;
    bool wait = false;
    bool no_queue = false;
    bool keep_place = false;
    std::optional<Duration> timeout;
    std::optional<Requirement> requirement;
};

const char* unfit(const Options& options) {
    if (options.timeout && !options.wait) return "--timeout says how long to wait: give --wait, too";
    if (options.keep_place && !options.wait) return "--keep-place is about the end of waiting: give --wait, too";
    if (options.no_queue && options.wait) return "--no-queue and --wait contradict each other: give one of them";
    return nullptr;
}

int acquire_now(Session& session, const Options& options) {
    AcquireRequest request = options.request;
    if (options.no_queue) request.when_held = WhenHeld::Refuse;
    return session.ask_for(std::move(request), options.requirement);
}

int acquire_in_turn(Session& session, const Options& options) {
    const auto stop = session.context.listen_for_stop();
    const Announce announce = [&](const WatchEvent& event) { session.report.event(session.subject, event); };
    AcquireRequest request = options.request;
    request.process = session.context.identify();
    const Place at_end = options.keep_place ? Place::Keep : Place::Leave;
    const AwaitTerms terms{std::move(request), options.timeout.value_or(kWaitTimeout), at_end, std::nullopt, at_end};
    const Awaited awaited = await_grant(session, terms, *stop, announce);
    const EngineDescription& store = session.subject.store;
    if (store.created) announce({WatchEventKind::Warning, "store created: " + escaped(store.store), {}, {}});
    announce(awaited.ending);
    return awaited.ending.failure ? exit_code(awaited.ending.failure->code) : kSuccess;
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    AcquireRequest& request = options->request;
    add_address_options(app, options->common);
    add_checked(app, "--label", options->common, request.label, parse_label, "what the lock is wanted for");
    add_flag(app, "--wait", options->wait, "wait for the turn, one line whenever the place changes");
    add_seconds(app, "--timeout", options->timeout, 0s, kMaxWaitTimeout, "of --wait (default 900; 0 looks once)");
    add_flag(app, "--keep-place", options->keep_place, "with --wait: keep the place at the timeout or an interrupt");
    add_flag(app, "--no-queue", options->no_queue, "if the lock is not free, change nothing and exit 29");
    add_requirement(app, options->requirement);
    add_seconds(app, "--lease-seconds", request.lease, kMinLease, kMaxLease, "the lease (default 600)");
    add_seconds(app, "--max-hold", request.maximum_hold, kMinMaximumHold, kMaximumHold,
                "a nearer hard cap (default 86400)");
    add_checked(app, "--phase", options->common, request.progress.phase, parse_phase, "what the work is at");
    add_checked(app, "--note", options->common, request.progress.note, parse_note, "a note on progress");
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        if (const char* problem = unfit(*options))
            return Report(context, options->common.form()).failure({}, {ErrorCode::Usage, problem, {}});
        if (options->wait) options->common.busy_timeout = options->common.busy_timeout.value_or(kWatcherBusyTimeout);
        return with_session(context, options->common, About::Lock, StoreUse::Create, [&](Session& session) {
            return options->wait ? acquire_in_turn(session, *options) : acquire_now(session, *options);
        });
    };
}

}  // namespace

const Verb kAcquireVerb = {
    "acquire",
    "take the lock, or a place in its queue",
    "hagi agent lock acquire --wait --lock-id eu-1/duckov --owner sess-7f2c --label \"deploy 42\" && ./deploy\n"
    "Without --wait the exit is 0 for Queued, too, so `acquire && deploy` would also run while others hold the lock:\n"
    "hagi agent lock acquire --require Holding --lock-id eu-1/duckov --owner sess-7f2c && ./deploy",
    prepare,
};

}  // namespace hagi
