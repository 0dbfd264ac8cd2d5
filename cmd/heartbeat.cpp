#include <fmt/format.h>

#include "cmd/keepalive.hpp"
#include "cmd/text.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/verb.hpp"
#include "lockcore/windows.hpp"
#include "platform/process_identity.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    KeepTerms terms;
    std::optional<int> while_pid;
};

std::optional<std::string> unfit(const Options& options) {
    const Duration lease = options.terms.lease.value_or(kDefaultLease);
    if (options.terms.interval && *options.terms.interval >= lease)
        return fmt::format("--interval must be below the lease of {} s: give a third of it", lease / 1s);
    return std::nullopt;
}

// A process that the watcher must not outlive. What cannot be told is taken for alive.
class Companion {
public:
    explicit Companion(std::optional<int> pid) {
        if (!pid) return;
        process_ = identity_of(*pid);
        gone_ = !process_ && this_process().start_ticks != 0;
        wakes_ = open_process(*pid);
    }

    [[nodiscard]] bool gone() const { return gone_ || (process_ && is_alive(*process_) == Liveness::Gone); }
    [[nodiscard]] Interrupts with(Interrupts interrupts) const {
        if (wakes_) interrupts.push_back(wakes_.get());
        return interrupts;
    }

private:
    std::optional<ProcessIdentity> process_;
    UniqueFd wakes_;  // without it the process is looked for at every beat
    bool gone_ = false;
};

WatchEvent stopped(const Session& session, const Keepalive& keepalive, const std::string& why) {
    std::string message =
        fmt::format("Stopped the heartbeat of {}, {}: the lock is not released", session.subject.lock_id.str(), why);
    if (const auto& last = keepalive.last())
        message += fmt::format(" and lapses at {}", text::time(*last, end_of(*last->hold)));
    return {WatchEventKind::Stopped, message, keepalive.last(), {}};
}

int beat_until_it_ends(Session& session, const Options& options) {
    const Announce announce = [&](const WatchEvent& event) { session.report.event(session.subject, event); };
    const auto stop = session.context.listen_for_stop();
    const Companion companion(options.while_pid);
    Keepalive keepalive(session, options.terms, announce);

    const auto must_end = [&] { return stop->requested() || companion.gone(); };
    if (const auto ended = beat_until(must_end, companion.with(stop->interrupts()), session, keepalive)) {
        announce(*ended);
        return exit_code(ended->failure->code);
    }
    announce(stopped(session, keepalive, stop->requested() ? "as asked" : "its process is gone"));
    return kSuccess;
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    KeepTerms& terms = options->terms;
    add_address_options(app, options->common);
    add_epoch(app, terms.epoch, "only this grant; absent: the one held now");
    add_seconds(app, "--interval", terms.interval, 1s, kMaxLease,
                "between beats (default 120, or a third of the lease)");
    add_seconds(app, "--lease-seconds", terms.lease, kMinLease, kMaxLease, "change the lease");
    add_checked(app, "--phase", options->common, terms.progress.phase, parse_phase, "report at the start");
    add_checked(app, "--note", options->common, terms.progress.note, parse_note, "report at the start");
    add_process(app, "--while-pid", options->while_pid, "end when this process is gone");
    add_flag(app, "--verbose", terms.every_beat, "a line for every beat");
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    return [options](Context& context) {
        if (const auto problem = unfit(*options))
            return Report(context, options->common.form()).failure({}, {ErrorCode::Usage, *problem, {}});
        options->common.busy_timeout = options->common.busy_timeout.value_or(kWatcherBusyTimeout);
        return with_session(context, options->common, About::Lock, StoreUse::Change,
                            [&](Session& session) { return beat_until_it_ends(session, *options); });
    };
}

}  // namespace

const Verb kHeartbeatVerb = {
    "heartbeat",
    "a watcher that keeps the lock alive and says when it is lost",
    "hagi agent lock heartbeat --lock-id eu-1/duckov --owner sess-7f2c --while-pid $$ &\n"
    "Quiet while all is well. Exit 32 when the lock was lost, 0 when stopped; it never releases the lock.",
    prepare,
};

}  // namespace hagi
