#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cmd/await_grant.hpp"
#include "cmd/keepalive.hpp"
#include "cmd/text.hpp"
#include "cmd/verb.hpp"
#include "lockcore/windows.hpp"
#include "platform/child_process.hpp"
#include "platform/process_identity.hpp"
#include "platform/stop_signal.hpp"

namespace hagi {
namespace {

constexpr Duration kKillAfter = 10s;
constexpr Duration kMaxKillAfter = 590s;
// Between the command's last instant and the lease's end: for the kill to take effect.
constexpr Duration kSafetyMargin = 1s;
// How long the command may run before it is worth while to listen for changes of the lock.
constexpr Duration kMoment = 20ms;
// A process of the group whose parent is none of ours ends without our hearing of it.
constexpr Duration kGroupPoll = 1s;

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

// What the starter of `run` may send. Before the command starts each of them ends the waiting, afterwards each goes on
// to the command; but for SIGTSTP, which stops both.
class RunSignals : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override { return fd() < 0 ? Interrupts{} : Interrupts{fd()}; }
    [[nodiscard]] int fd() const { return signal_.fd(); }  // negative: there is none
    bool requested() override {
        while (const auto signal = signal_.take()) {
            if (*signal == SIGTSTP)
                ::raise(SIGSTOP);
            else if (*signal != SIGCHLD)
                return true;
        }
        return false;
    }
    std::optional<int> take() { return signal_.take(); }
    [[nodiscard]] const sigset_t& mask_before() const { return signal_.mask_before(); }

private:
    StopSignal signal_{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
};

// What authorizes the start.
struct Accepted {
    Answer answer;
    Duration asked_at{};  // by the session's steady clock
};

// The command from its start to the end of its last process, and the lock that it needs.
class Supervision {
public:
    Supervision(Session& session, const Options& options, ChildProcess& child, RunSignals& signals,
                const Announce& announce, const Accepted& accepted)
        : session_(session),
          announce_(announce),
          child_(child),
          signals_(signals),
          terms_{accepted.answer.hold->epoch, options.interval, std::nullopt, {}, false, WatcherKind::Run},
          keepalive_(session, terms_, announce),
          foreground_(STDIN_FILENO),
          kill_after_(options.kill_after.value_or(kKillAfter)),
          longest_try_(longest_try(options)) {
        keepalive_.adopt(accepted.answer, accepted.asked_at);
    }

    // The exit code; `lost()` says whether there is still something to release.
    int run(const ChildProcess::Environment& additions, const std::string& name) {
        foreground_.lend_to(child_.pid());
        if (const int error = child_.let_go(additions)) return not_started(error, name);
        if (!ends_in_a_moment()) watch_over();
        foreground_.take_back();
        return ending_ ? hagi::exit_code(*ending_) : *exit_code_;
    }

    [[nodiscard]] bool lost() const { return ending_ == ErrorCode::LockLost; }

private:
    [[nodiscard]] Duration now() const { return session_.context.steady_now(); }

    // Many commands do, and need no bell.
    bool ends_in_a_moment() {
        is_readable(signals_.fd(), kMoment);
        pass_signals_on();
        return has_ended();
    }

    void watch_over() {
        const auto listener = session_.engine->listen(session_.subject.lock_id, session_.subject.owner);
        auto look = Keepalive::Look::Now;  // what happened until here went unheard
        for (;;) {
            listener->arm();
            if (!ending_) keep(look);
            end_by_force_when_due();
            const Duration due = now() + until_something_is_due();
            listener->sleep(due - now(), signals_.interrupts());
            const bool signalled = pass_signals_on();
            if (has_ended()) return;
            const bool rung = now() < due && !signalled && !keepalive_.in_outage();
            look = rung ? Keepalive::Look::Now : Keepalive::Look::WhenDue;
        }
    }

    [[nodiscard]] bool has_ended() const { return exit_code_ && child_.group_is_empty(); }

    int not_started(int error, const std::string& name) {
        foreground_.take_back();
        announce_({WatchEventKind::Stopped,
                   fmt::format("hagi: cannot run {}: {}: check its name and mode", escaped(name), std::strerror(error)),
                   {},
                   {}});
        return error == ENOENT || error == ENOTDIR ? 127 : 126;
    }

    void keep(Keepalive::Look look) {
        const bool may_outlast = keepalive_.in_outage() && now() + longest_try_ > last_moment_to_end();
        if (const auto ended = may_outlast ? std::nullopt : keepalive_.tick(look)) {
            announce_(*ended);
            end(ended->failure->code);
        } else if (keepalive_.in_outage() && now() >= last_moment_to_end()) {
            announce_({WatchEventKind::MayBeLost,
                       fmt::format("The lock {} cannot be renewed before its lease ends: stopping the command",
                                   session_.subject.lock_id.str()),
                       {},
                       {}});
            end(ErrorCode::Transport);
        }
    }

    [[nodiscard]] Duration last_moment_to_end() const { return keepalive_.valid_until() - kill_after_ - kSafetyMargin; }

    void end(ErrorCode why) {
        ending_ = why;
        kill_at_ = now() + kill_after_;
        // What may still be held until its lease ends must not be worked on any longer.
        if (why != ErrorCode::LockLost) kill_at_ = std::min(kill_at_, keepalive_.valid_until() - kSafetyMargin);
        child_.signal_group(SIGTERM);
        child_.signal_group(SIGCONT);  // a stopped process hears SIGTERM only when it goes on
    }

    void end_by_force_when_due() {
        if (ending_ && now() >= kill_at_) child_.signal_group(SIGKILL);
    }

    // True: there was one.
    bool pass_signals_on() {
        bool any = false;
        while (const auto signal = signals_.take()) {
            any = true;
            if (*signal == SIGTSTP)
                stop_with_the_command();
            else if (*signal != SIGCHLD)
                child_.signal_group(*signal);
        }
        const auto change = child_.take_change();
        if (change && !change->stopped) exit_code_ = change->exit_code;
        if (change && change->stopped && foreground_.possible()) stop_with_the_command();
        return any;
    }

    // The shell that started `run` takes the terminal and says "Stopped"; its fg wakes this process. Nobody beats
    // meanwhile, so nobody works either, and the work goes on only when a beat has told what has become of the lease.
    void stop_with_the_command() {
        child_.signal_group(SIGSTOP);
        foreground_.take_back();
        ::raise(SIGSTOP);
        if (!ending_) keep(Keepalive::Look::Now);
        foreground_.lend_to(child_.pid());
        child_.signal_group(SIGCONT);
    }

    [[nodiscard]] Duration until_something_is_due() const {
        Duration due = ending_ ? std::max(kill_at_ - now(), Duration{kFirstForce}) : keepalive_.due_in();
        if (!ending_ && keepalive_.in_outage()) {
            const Duration rest = std::max(last_moment_to_end() - now(), Duration::zero());
            due = due + longest_try_ > rest ? rest : due;
        }
        if (exit_code_) due = std::min<Duration>(due, kGroupPoll);
        return due;
    }

    static constexpr Duration kFirstForce = 50ms;  // between one SIGKILL and the next, should the first miss a fork

    Session& session_;
    const Announce& announce_;
    ChildProcess& child_;
    RunSignals& signals_;
    KeepTerms terms_;
    Keepalive keepalive_;
    ForegroundLoan foreground_;
    Duration kill_after_;
    Duration longest_try_;
    Duration kill_at_{};
    std::optional<ErrorCode> ending_;  // why the command must end
    std::optional<int> exit_code_;     // the command's own
};

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

    // A lock that was free was accepted in the same step.
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
    Supervision supervision(session, options, child, signals, announce, accepted);
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
