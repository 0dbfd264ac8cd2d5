// A command in a process group of its own that does not outlive its starter. Its process is made at once, so that its
// number is known and it has nothing of what its starter opens later, and held until it is let go.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockcore/result.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

struct HeldChild;

// One object for one thread of one process.
class ChildProcess {
public:
    // Makes the command's process and a guardian, which kills the command's group when this process is killed.
    // `signal_mask` is what the command gets. Signals that this process ignores are given back their default, SIGHUP
    // inherited as ignored (nohup) excepted. Call it before anything is opened that must not be shared. Unreachable: no
    // more processes or descriptors.
    static Result<ChildProcess> hold(std::vector<std::string> command, const sigset_t& signal_mask);

    ChildProcess(ChildProcess&&) = default;
    ChildProcess& operator=(ChildProcess&&) = delete;
    ~ChildProcess();  // a command that was never let go ends without having run

    using Environment = std::vector<std::pair<std::string, std::string>>;

    // Lets it go, with `additions` to its environment. 0, or the errno of its exec: then it has ended and is reaped.
    int let_go(const Environment& additions);

    // Also its process group.
    [[nodiscard]] pid_t pid() const { return pid_; }

    struct Change {
        bool stopped = false;  // by a job-control signal; otherwise it ended
        int exit_code = 0;     // as a shell counts: 128 and the signal's number
    };

    // What has become of the command since the last call, if anything. Also reaps the orphans it leaves behind. Call
    // it after SIGCHLD. Does not block.
    std::optional<Change> take_change();  // NOLINT(readability-make-member-function-const): takes it from the kernel

    // To every process of the group that may be signalled.
    void signal_group(int signal) const;

    // Whether the last process of the group has ended and was reaped.
    [[nodiscard]] bool group_is_empty() const;

private:
    ChildProcess() = default;

    pid_t pid_ = -1;
    std::vector<std::string> command_;
    HeldChild* held_ = nullptr;
    UniqueFd gate_;      // closed without a word: the held child ends
    UniqueFd report_;    // the errno of a failed exec
    UniqueFd guardian_;  // closed without a word: the guardian kills the group
};

// Makes the ends of children heard of even where SIGCHLD was inherited as ignored. Call it before StopSignal.
void expect_children();

// The terminal's foreground, lent to a child's process group and taken back. Does nothing where `terminal` is none, or
// this process is not in its foreground.
class ForegroundLoan {
public:
    explicit ForegroundLoan(int terminal);
    ~ForegroundLoan() { take_back(); }
    ForegroundLoan(const ForegroundLoan&) = delete;
    ForegroundLoan& operator=(const ForegroundLoan&) = delete;

    void lend_to(pid_t group);
    void take_back();
    [[nodiscard]] bool possible() const { return terminal_ >= 0; }

private:
    int terminal_;
    bool lent_ = false;
};

}  // namespace hagi
