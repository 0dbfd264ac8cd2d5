// The gate: one writer at a time among all processes on one store, first come, first served by the kernel, freed by
// the kernel when its holder dies. It is an exclusive lock on a file beside the store, which is never removed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"
#include "platform/side_file.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

struct GateHolder {
    pid_t pid = 0;
    std::string command;  // escaped; empty: not known
};

// One object belongs to one thread; threads of one process exclude each other through objects of their own.
// Waiting uses SIGRTMIN, for which it installs an empty handler: leave that signal alone. Never carry it over fork.
class FileGate {
public:
    FileGate(std::string path, SideFileMode mode);  // touches nothing yet
    FileGate(const FileGate&) = delete;
    FileGate& operator=(const FileGate&) = delete;

    // Waits at most `at_most` (0: only tries). Unreachable: still taken, and the message names the process that has
    // it where that can be told; or the file could not be opened (then also PermissionDenied). Already entered: a
    // success that changes nothing.
    Outcome enter(Duration at_most);

    void leave() noexcept;
    [[nodiscard]] bool entered() const { return entered_; }

    // Who is inside just now; absent: nobody, or a process that cannot be seen from here.
    [[nodiscard]] std::optional<GateHolder> holder() const;

    // Why enter() gave up after `waited`, as one line.
    static std::string busy_message(const std::optional<GateHolder>& holder, Duration waited);

private:
    Outcome open_file();
    [[nodiscard]] bool still_in_place() const;

    std::string path_;
    SideFileMode mode_;
    UniqueFd file_;
    bool entered_ = false;
};

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

// The holder according to a text in the form of /proc/locks: the process that holds a whole-file write lock on
// `inode` of the device `major`:`minor`.
std::optional<pid_t> find_lock_holder(const std::string& proc_locks, unsigned major, unsigned minor, ino_t inode);

}  // namespace hagi
