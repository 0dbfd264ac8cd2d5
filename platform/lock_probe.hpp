// Whether locks on one filesystem are seen from two places, tried out: each place runs a probe at the same time, the
// first one holds locks, the second one asks for them. A lock of either kind that hagi relies on must be refused.
#pragma once

#include <cstdint>
#include <string>

#include "lockcore/change_signal.hpp"
#include "lockcore/result.hpp"
#include "lockcore/types.hpp"
#include "platform/side_file.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

class LockProbe {
public:
    // Its files are `path` and `path` + "-bytes".
    LockProbe(std::string path, SideFileMode mode);
    ~LockProbe();  // removes its files where this is the first place
    LockProbe(const LockProbe&) = delete;
    LockProbe& operator=(const LockProbe&) = delete;

    enum class Verdict {
        First,       // nobody else is here: both locks are held now, stay()
        Cross,       // another place holds them, and they were refused here
        DoNotCross,  // another place holds them, and yet they could be had here
    };

    // Takes some seconds where the other place must be told from what a killed probe has left behind.
    Result<Verdict> look();

    // First place only: stays for others until `at_most` has passed or an interrupt is readable. Not later. DoNotCross,
    // at once: another place holds the same locks.
    Verdict stay(Duration at_most, const Interrupts& interrupts);

    // Of the other place, as it told: its host and process, escaped.
    [[nodiscard]] const std::string& other() const { return other_; }
    // Both places are one running kernel, so this proves nothing about other machines.
    [[nodiscard]] bool same_machine() const { return same_machine_; }

private:
    Outcome open_files();
    void recognize(const std::string& text);
    [[nodiscard]] bool somebody_is_here();
    [[nodiscard]] bool contradicted();
    void tell();

    std::string path_;
    SideFileMode mode_;
    UniqueFd whole_;
    UniqueFd bytes_;
    std::string other_;
    bool same_machine_ = false;
    bool first_ = false;
    std::uint64_t count_ = 0;
    std::string told_;  // what this place has written last
};

}  // namespace hagi
