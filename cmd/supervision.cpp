#include "cmd/supervision.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cmd/text.hpp"
#include "platform/process_identity.hpp"

namespace hagi {
namespace {

// How long the command may run before it is worth while to listen for changes of the lock.
constexpr Duration kMoment = 20ms;
// A process of the group whose parent is none of ours ends without our hearing of it.
constexpr Duration kGroupPoll = 1s;
// Between one SIGKILL and the next, should the first miss a fork.
constexpr Duration kForcePause = 50ms;

}  // namespace

bool RunSignals::requested() {
    while (const auto signal = signal_.take()) {
        if (*signal == SIGTSTP)
            ::raise(SIGSTOP);
        else if (*signal != SIGCHLD)
            return true;
    }
    return false;
}

Supervision::Supervision(Session& session, const SupervisionTerms& terms, ChildProcess& child, RunSignals& signals,
                         const Announce& announce, const Accepted& accepted)
    : session_(session),
      announce_(announce),
      child_(child),
      signals_(signals),
      keep_terms_{accepted.answer.hold->epoch, terms.interval, std::nullopt, {}, false, WatcherKind::Run},
      keepalive_(session, keep_terms_, announce),
      foreground_(STDIN_FILENO),
      kill_after_(terms.kill_after),
      longest_try_(terms.longest_try) {
    keepalive_.adopt(accepted.answer, accepted.asked_at);
}

int Supervision::run(const ChildProcess::Environment& additions, const std::string& name) {
    foreground_.lend_to(child_.pid());
    if (const int error = child_.let_go(additions)) return not_started(error, name);
    if (!ends_in_a_moment()) watch_over();
    foreground_.take_back();
    return ending_ ? hagi::exit_code(*ending_) : *exit_code_;
}

// Many commands do, and need no bell.
bool Supervision::ends_in_a_moment() {
    is_readable(signals_.fd(), kMoment);
    pass_signals_on();
    return has_ended();
}

void Supervision::watch_over() {
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

int Supervision::not_started(int error, const std::string& name) {
    foreground_.take_back();
    announce_({WatchEventKind::Stopped,
               fmt::format("hagi: cannot run {}: {}: check its name and mode", escaped(name), std::strerror(error)),
               {},
               {}});
    return error == ENOENT || error == ENOTDIR ? 127 : 126;
}

void Supervision::keep(Keepalive::Look look) {
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

Duration Supervision::last_moment_to_end() const { return keepalive_.valid_until() - kill_after_ - kSafetyMargin; }

void Supervision::end(ErrorCode why) {
    ending_ = why;
    kill_at_ = now() + kill_after_;
    // What may still be held until its lease ends must not be worked on any longer.
    if (why != ErrorCode::LockLost) kill_at_ = std::min(kill_at_, keepalive_.valid_until() - kSafetyMargin);
    child_.signal_group(SIGTERM);
    child_.signal_group(SIGCONT);  // a stopped process hears SIGTERM only when it goes on
}

void Supervision::end_by_force_when_due() {
    if (ending_ && now() >= kill_at_) child_.signal_group(SIGKILL);
}

// True: there was one.
bool Supervision::pass_signals_on() {
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
void Supervision::stop_with_the_command() {
    child_.signal_group(SIGSTOP);
    foreground_.take_back();
    ::raise(SIGSTOP);
    if (!ending_) keep(Keepalive::Look::Now);
    foreground_.lend_to(child_.pid());
    child_.signal_group(SIGCONT);
}

Duration Supervision::until_something_is_due() const {
    Duration due = ending_ ? std::max(kill_at_ - now(), kForcePause) : keepalive_.due_in();
    if (!ending_ && keepalive_.in_outage()) {
        const Duration rest = std::max(last_moment_to_end() - now(), Duration::zero());
        due = due + longest_try_ > rest ? rest : due;
    }
    if (exit_code_) due = std::min(due, kGroupPoll);
    return due;
}

}  // namespace hagi
