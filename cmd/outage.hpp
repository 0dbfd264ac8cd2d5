// What a watcher does while its store cannot be reached: how long it pauses, and what it says, once.
#pragma once

#include <optional>

#include "cmd/report.hpp"

namespace hagi {

// Whether trying again may help; otherwise the watcher ends with the error.
bool may_pass(const Error& error);

class Outage {
public:
    [[nodiscard]] bool over() const { return !since_; }

    // A try failed at `now` (of the watcher's own clock). The line to say, if any: at once where the store's file is
    // gone, otherwise after a minute, and never twice.
    std::optional<WatchEvent> failed(const Error& error, Duration now);

    // A try succeeded. The line to say, if the outage was spoken of.
    std::optional<WatchEvent> recovered(Duration now);

    // Before the next try: 1 s, doubling up to 10 s.
    [[nodiscard]] Duration pause() const { return pause_; }

private:
    std::optional<Duration> since_;
    bool announced_ = false;
    Duration pause_{};
};

}  // namespace hagi
