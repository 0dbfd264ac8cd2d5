// What histories of `run` are told with.
#pragma once

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "platform/process_identity.hpp"
#include "tests/process/hagi.hpp"
#include "tests/support/await.hpp"

namespace hagi::test {

inline Words run_line(const std::string& owner, Words options, const Words& command) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--lock-id", "a", "--owner", owner, "--"});
    options.insert(options.end(), command.begin(), command.end());
    return options;
}

inline Words shell(const std::string& script) { return {"sh", "-c", script}; }

// What a command that must not start would leave behind.
inline std::string marker(const Hagi& hagi) { return hagi.folder() + "/started"; }
inline Words mark(const Hagi& hagi) { return {"touch", marker(hagi)}; }
inline bool started(const Hagi& hagi) { return std::filesystem::exists(marker(hagi)); }

inline bool is_free(const Hagi& hagi) { return hagi.json({"list"})["locks"].empty(); }

// Until somebody waits for the lock that is held.
inline void await_waiter(const Hagi& hagi) {
    await(
        [&] {
            const auto locks = hagi.json({"list"})["locks"];
            return !locks.empty() && !locks[0]["queue"].empty();
        },
        "nobody waits");
}

inline pid_t read_pid(Process& process) { return static_cast<pid_t>(std::stol(process.read_line().value())); }

// Of a process that may not be ours, and may have ended already.
class End {
public:
    explicit End(pid_t pid) : descriptor_(open_process(pid)) {}

    void await() const {
        constexpr int kPatience = 60'000;
        pollfd ended{descriptor_.get(), POLLIN, 0};
        if (descriptor_ && ::poll(&ended, 1, kPatience) != 1) throw std::runtime_error("a process does not end");
    }

private:
    UniqueFd descriptor_;
};

inline std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Says its number, which is its group's, and has a child; neither heeds what can be ignored, both keep stdout open.
inline constexpr const char* kStubborn = "trap '' TERM INT HUP; echo $$; sh -c 'echo $$; exec sleep 300' & wait; wait";

}  // namespace hagi::test
