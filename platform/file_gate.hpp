// The gate: one writer at a time among all processes on one store, first come, first served by the kernel, freed by
// the kernel when its holder dies. It is an exclusive lock on a file beside the store, which is never removed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"
#include "platform/side_file.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

struct GateHolder {
    pid_t pid = 0;
    std::string command;  // escaped; empty: not known
};

// How a process waits that finds the gate taken.
enum class GateWait {
    InKernel,  // woken in the order of arrival
    Polling,   // where a lock that is waited for may not be given up again: a FUSE filesystem hears no interrupt
};

// One object belongs to one thread; threads of one process exclude each other through objects of their own.
// Waiting uses SIGRTMIN, for which it installs an empty handler: leave that signal alone. Never carry it over fork.
class FileGate {
public:
    FileGate(std::string path, SideFileMode mode, GateWait wait = GateWait::InKernel);  // touches nothing yet
    FileGate(const FileGate&) = delete;
    FileGate& operator=(const FileGate&) = delete;

    // Waits at most `at_most` (0: only tries). Unreachable: still taken, and the message names the process that has
    // it where that can be told; or the file could not be opened (then also PermissionDenied). Already entered: a
    // success that changes nothing.
    Outcome enter(Duration at_most);

    void leave() noexcept;
    [[nodiscard]] bool entered() const { return entered_; }

    // A short text that the gate's file keeps for whoever comes next. Not synced: a power cut may take it back, or
    // leave anything. Empty: there is none, or it cannot be read. Also from outside.
    [[nodiscard]] std::string note() const;

    // Inside only. A failure leaves what was there, or anything.
    void leave_note(std::string_view text) noexcept;

    // Who is inside just now; absent: nobody, or a process that cannot be seen from here.
    [[nodiscard]] std::optional<GateHolder> holder() const;

private:
    Outcome take(Duration at_most);
    [[nodiscard]] bool still_in_place() const;

    std::string path_;
    SideFileMode mode_;
    GateWait wait_;
    UniqueFd file_;
    bool entered_ = false;
};

// Why enter() gave up after `waited`, as one line.
std::string busy_message(const std::optional<GateHolder>& holder, Duration waited);

// Leaves the gate at the end of a scope.
class GateLeaver {
public:
    explicit GateLeaver(FileGate& gate) : gate_(gate) {}
    ~GateLeaver() { gate_.leave(); }
    GateLeaver(const GateLeaver&) = delete;
    GateLeaver& operator=(const GateLeaver&) = delete;

private:
    FileGate& gate_;
};

// One whole-file write lock in force, out of a text in the form of /proc/locks.
struct WriteLock {
    pid_t pid = 0;
    dev_t device = 0;
};

// Those on files with this inode number, on whichever device.
std::vector<WriteLock> write_locks_on(const std::string& proc_locks, ino_t inode);

}  // namespace hagi
