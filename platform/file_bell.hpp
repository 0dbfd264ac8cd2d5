// How the processes of one machine wake each other: a named pipe for each owner of each lock, in a folder beside the
// store. A listener has its pipe open for reading; to ring is to open it for writing and close it again, which hangs
// up on every listener at once. No byte is written, so nothing fills up and nobody can steal another's ring.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lockcore/change_signal.hpp"
#include "lockcore/limits.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

// How often a listener looks whether the store is still there where nothing tells it. As often as a waiter polls: a
// thousand of them would otherwise wake twice for each poll.
inline constexpr Duration kLookAtStore = kWaiterPoll;

class FileListener final : public Listener {
public:
    // Made by FileBell only. Arms itself; `pipe_name` lies in the folder "<store>-bells".
    FileListener(std::shared_ptr<const std::string> store, std::string pipe_name);
    ~FileListener() override;
    FileListener(const FileListener&) = delete;
    FileListener& operator=(const FileListener&) = delete;

    // Also repairs what has gone: the folder, the pipe, the watch on the store.
    void arm() override;

    // Also returns when the store's file is deleted, moved or replaced: at once, or, where the user's inotify instances
    // are used up, within kLookAtStore.
    void sleep(Duration at_most, const Interrupts& interrupts) override;

    // No bell, or no inotify instance left.
    [[nodiscard]] std::optional<std::string> weakness() const override;

    // True: rings are not heard just now, only time and interrupts end a sleep. The next arm() tries again.
    [[nodiscard]] bool deaf() const { return !pipe_; }

    using StoreIdentity = std::optional<std::pair<dev_t, ino_t>>;  // absent: no such file

private:
    [[nodiscard]] bool must_reopen() const;
    void open_pipe();
    void watch_store();
    bool store_changed();

    std::shared_ptr<const std::string> store_;
    std::string pipe_name_;
    UniqueFd pipe_;
    UniqueFd watch_;            // absent where the user's inotify instances are used up: then
    StoreIdentity store_seen_;  // is compared every now and then
};

// For stores on a local filesystem only: pipes do not reach other hosts. May be used from any thread.
class FileBell : public ChangeSignal {
public:
    // `store` is the resolved path of the store's file (paths.hpp). Touches nothing: the folder is made by the first
    // listener and gets the store's mode, group and owner.
    explicit FileBell(std::string store);

    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override;

    // Removes the pipe if its last listener was killed.
    void ring(const LockId& lock_id, const Owner& owner) noexcept override;

    // For doctor: where the pipes are.
    [[nodiscard]] std::string folder() const;

private:
    std::shared_ptr<const std::string> store_;
};

// The name of the pipe in the folder: 16 hex digits.
std::string bell_name(const LockId& lock_id, const Owner& owner);

}  // namespace hagi
