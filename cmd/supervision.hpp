// The command of `run` from its start to the end of its last process, and the lock that it needs: kept while it works,
// and when the lock is lost, the command is ended before another's work can have begun.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "cmd/await_grant.hpp"
#include "cmd/keepalive.hpp"
#include "platform/child_process.hpp"
#include "platform/stop_signal.hpp"

namespace hagi {

// Between the command's last instant and the lease's end: for the kill to take effect.
inline constexpr Duration kSafetyMargin{1'000};

// What the starter of `run` may send. Before the command starts each of them ends the waiting, afterwards each goes on
// to the command; but for SIGTSTP, which stops both.
class RunSignals : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override { return fd() < 0 ? Interrupts{} : Interrupts{fd()}; }
    [[nodiscard]] int fd() const { return signal_.fd(); }  // negative: there is none
    bool requested() override;
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

struct SupervisionTerms {
    std::optional<Duration> interval;  // between beats; absent: as the lease suggests
    Duration kill_after{};             // from SIGTERM to SIGKILL
    Duration longest_try{};            // how long one try to renew may take
};

class Supervision {
public:
    // Everything outlives it but `accepted` and `terms`.
    Supervision(Session& session, const SupervisionTerms& terms, ChildProcess& child, RunSignals& signals,
                const Announce& announce, const Accepted& accepted);

    // Lets the command go, with `additions` to its environment, and returns the exit code of `run` when the last
    // process of its group has ended. `name`: what it was started as, for the message where that fails.
    int run(const ChildProcess::Environment& additions, const std::string& name);

    // Whether there is nothing left to release.
    [[nodiscard]] bool lost() const { return ending_ == ErrorCode::LockLost; }

private:
    [[nodiscard]] Duration now() const { return session_.context.steady_now(); }
    bool ends_in_a_moment();
    void watch_over();
    [[nodiscard]] bool has_ended() const { return exit_code_ && child_.group_is_empty(); }
    int not_started(int error, const std::string& name);
    void keep(Keepalive::Look look);
    [[nodiscard]] Duration last_moment_to_end() const;
    void end(ErrorCode why);
    void end_by_force_when_due();
    bool pass_signals_on();
    void stop_with_the_command();
    [[nodiscard]] Duration until_something_is_due() const;

    Session& session_;
    const Announce& announce_;
    ChildProcess& child_;
    RunSignals& signals_;
    KeepTerms keep_terms_;
    Keepalive keepalive_;
    ForegroundLoan foreground_;
    Duration kill_after_;
    Duration longest_try_;
    Duration kill_at_{};
    std::optional<ErrorCode> ending_;  // why the command must end
    std::optional<int> exit_code_;     // the command's own
};

}  // namespace hagi
