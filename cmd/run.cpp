#include <fmt/format.h>

#include <algorithm>

#include "cmd/await_grant.hpp"
#include "cmd/supervision.hpp"
#include "cmd/verb.hpp"
#include "lockcore/windows.hpp"

namespace hagi {
namespace {

constexpr Duration kKillAfter = 10s;
constexpr Duration kMaxKillAfter = 590s;

struct Options {
    CommonOptions common;
    AcquireRequest request;
    std::optional<Duration> timeout;
    std::optional<Duration> interval;
    std::optional<Duration> kill_after;
    std::optional<Epoch> epoch;
    std::optional<std::int64_t> conflict_exit_code;
    bool keep_place = false;
    bool no_queue = false;
    std::vector<std::string> command;
};

std::optional<std::string> unfit(const Options& options) {
    if (options.command.empty()) return "run needs a command: give it behind --";
    const Duration lease = options.request.lease.value_or(kDefaultLease);
    if (options.kill_after.value_or(kKillAfter) >= lease - 2 * kSafetyMargin)
        return fmt::format("--kill-after must be below the lease less 2 s, {} s here: give less",
                           (lease - 2 * kSafetyMargin) / 1s);
    if (options.interval && *options.interval >= lease)
        return fmt::format("--interval must be below the lease of {} s: give a third of it", lease / 1s);
    if (options.no_queue && (options.timeout || options.keep_place))
        return "--no-queue does not wait: give it without --timeout and --keep-place";
    if (options.epoch && (options.no_queue || options.timeout || options.keep_place))
        return "--epoch runs inside a grant that is there: give it without --no-queue, --timeout and --keep-place";
    return std::nullopt;
}

// A try to renew must return before the lease ends, or nobody would be there to end the command in time. The lease of a
// grant that is there already is not known yet: it may end a second after a beat.
Duration longest_try(const Options& options) {
    const Duration lease = options.epoch ? kMinLease : options.request.lease.value_or(kDefaultLease);
    const Duration rest = options.epoch && options.interval
                              ? kSafetyMargin
                              : lease - options.interval.value_or(beat_interval(lease)) - kSafetyMargin;
    return std::min(options.common.busy_timeout.value_or(kWatcherBusyTimeout), rest);
}

// Gets the turn: the answer that authorizes the start, or the exit code where there is none.
class Turn {
public:
    Turn(Session& session, const Options& options, RunSignals& signals, const Announce& announce)
        : session_(session), options_(options), signals_(signals), announce_(announce) {}

    std::variant<Accepted, int> take() {
        if (options_.epoch) return accept(*options_.epoch);
        return options_.no_queue ? take_now() : take_in_turn();
    }

private:
    std::variant<Accepted, int> take_now() {
        AcquireRequest request = options_.request;
        request.when_held = WhenHeld::Refuse;
        const Duration asked_at = session_.context.steady_now();
        const auto answer = session_.submit(std::move(request), self());
        if (!answer) return session_.fail(answer.error());
        if (answer->refusal)
            return conflict(session_.report.failure(session_.subject, failure_for(session_.subject, *answer)));
        return started_with({*answer, asked_at});
    }

    std::variant<Accepted, int> take_in_turn() {
        AcquireRequest request = options_.request;
        request.process = session_.context.identify();
        const Place at_end = options_.keep_place ? Place::Keep : Place::Leave;
        const AwaitTerms terms{std::move(request), options_.timeout.value_or(kWaitTimeout), at_end, self(), at_end};
        bool waited = false;
        const Announce announce = [&](const WatchEvent& event) {
            waited = true;
            announce_(event);
        };
        const Awaited awaited = await_grant(session_, terms, signals_, announce);
        if (waited || awaited.ending.failure) announce_(awaited.ending);
        if (awaited.ending.failure) return conflict(exit_code(awaited.ending.failure->code));
        return started_with({*awaited.granted, awaited.asked_at});
    }

    // The step that took the lock, or claimed it, accepted it, too; but not what was found held already.
    std::variant<Accepted, int> started_with(const Accepted& granted) {
        if (granted.answer.hold->accepted_at) return granted;
        return accept(granted.answer.hold->epoch);
    }

    // The guard: between the grant and here this process may have been paused past its lease.
    std::variant<Accepted, int> accept(Epoch epoch) {
        const Duration asked_at = session_.context.steady_now();
        const auto answer = session_.submit(AcceptRequest{epoch, {}}, self());
        if (answer && !answer->refusal) return Accepted{*answer, asked_at};
        const int code = answer ? session_.report.failure(session_.subject, failure_for(session_.subject, *answer))
                                : session_.fail(answer.error());
        if (!options_.epoch) (void)session_.submit(ReleaseRequest{epoch});
        return conflict(code);
    }

    [[nodiscard]] Watcher self() const { return {session_.context.identify(), WatcherKind::Run, {}}; }

    // As flock's --conflict-exit-code.
    [[nodiscard]] int conflict(int code) const {
        const bool replaced = options_.conflict_exit_code && exit_code(ErrorCode::Conflict) <= code &&
                              code <= exit_code(ErrorCode::WaitTimeout);
        return replaced ? static_cast<int>(*options_.conflict_exit_code) : code;
    }

    Session& session_;
    const Options& options_;
    RunSignals& signals_;
    const Announce& announce_;
};

void release(Session& session, Epoch epoch, const Announce& announce) {
    const auto answer = session.submit(ReleaseRequest{epoch});
    if (answer) return;
    announce({WatchEventKind::Warning,
              fmt::format("The lock {} could not be released ({}): the next command on it finds this process gone",
                          session.subject.lock_id.str(), answer.error().message),
              {},
              {}});
}

int run_command(Session& session, const Options& options, ChildProcess& child, RunSignals& signals) {
    if (!options.epoch) session.binding = Binding{session.context.identify(), child.pid()};
    const Announce announce = [&](const WatchEvent& event) { session.report.event(session.subject, event); };
    const auto turn = Turn(session, options, signals, announce).take();
    if (const int* const code = std::get_if<int>(&turn)) return *code;

    const auto& accepted = std::get<Accepted>(turn);
    const Epoch epoch = accepted.answer.hold->epoch;
    const SupervisionTerms terms{options.interval, options.kill_after.value_or(kKillAfter), longest_try(options)};
    Supervision supervision(session, terms, child, signals, announce, accepted);
    const int code = supervision.run({{"HAGI_LOCK_ID", session.subject.lock_id.str()},
                                      {"HAGI_LOCK_OWNER", session.subject.owner.str()},
                                      {"HAGI_LOCK_EPOCH", std::to_string(epoch.value)},
                                      {"HAGI_LOCK_STORE", session.subject.store.store}},
                                     options.command.front());
    if (!options.epoch && !supervision.lost()) release(session, epoch, announce);
    return code;
}

int hold_and_run(Context& context, Options& options) {
    // stdout is the command's: whatever `run` says goes to stderr.
    Context own{context.err,        context.err,      context.environment,     context.open_engine,
                context.clock,      context.identify, context.listen_for_stop, context.columns,
                context.take_screen};
    Report report(own, options.common.form());
    if (const auto problem = unfit(options)) return report.failure({}, {ErrorCode::Usage, *problem, {}});
    if (const auto subject = resolve_subject(own, options.common); !subject)
        return report.failure({}, failure_for(subject.error()));

    expect_children();
    RunSignals signals;
    auto child = ChildProcess::hold(options.command, signals.mask_before());
    if (!child) return report.failure({}, failure_for(child.error()));
    options.common.busy_timeout = longest_try(options);
    return with_session(own, options.common, About::Lock, StoreUse::Create,
                        [&](Session& session) { return run_command(session, options, *child, signals); });
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    AcquireRequest& request = options->request;
    add_address_options(app, options->common);
    add_checked(app, "--label", options->common, request.label, parse_label, "what the lock is wanted for");
    add_seconds(app, "--timeout", options->timeout, 0s, kMaxWaitTimeout, "for the turn (default 900)");
    add_flag(app, "--keep-place", options->keep_place, "keep the place at the timeout or an interrupt");
    add_flag(app, "--no-queue", options->no_queue, "if the lock is not free, exit 29");
    add_count(app, "-E,--conflict-exit-code", options->conflict_exit_code, 0, 255, "in place of 29, 30 and 31");
    add_epoch(app, options->epoch, "run inside this grant, which is yours already, and do not release it");
    add_seconds(app, "--lease-seconds", request.lease, kMinLease, kMaxLease, "the lease (default 600)");
    add_seconds(app, "--max-hold", request.maximum_hold, kMinMaximumHold, kMaximumHold,
                "a nearer hard cap (default 86400)");
    add_seconds(app, "--interval", options->interval, 1s, kMaxLease,
                "between beats (default 120, or a third of the lease)");
    add_seconds(app, "--kill-after", options->kill_after, 0s, kMaxKillAfter,
                "from SIGTERM to SIGKILL when the lock is lost (default 10)");
    add_checked(app, "--phase", options->common, request.progress.phase, parse_phase, "what the work is at");
    add_checked(app, "--note", options->common, request.progress.note, parse_note, "a note on progress");
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    add_quiet_option(app, options->common,
                     "say nothing of the waiting, nor that the turn did not come: only what goes wrong");
    request.when_granted = WhenGranted::Accept;
    add_command(app, options->command, "behind --: the command and its arguments");
    return [options](Context& context) { return hold_and_run(context, *options); };
}

}  // namespace

const Verb kRunVerb = {
    "run",
    "wait for the turn, run a command, release the lock",
    "hagi agent lock run --lock-id eu-1/duckov --owner ci-$BUILD_ID --label \"deploy $BUILD_ID\" -- ./deploy --all\n"
    "Exits as the command does; 32 when the lock was lost (the command is then ended), 29 to 31 when the turn did not\n"
    "come. A process that leaves the command's process group (setsid) is beyond its reach.",
    prepare,
};

}  // namespace hagi
