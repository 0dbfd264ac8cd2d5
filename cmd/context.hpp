// All that a verb may touch, passed to it and never global: so a test can run any verb in its own process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/screen.hpp"
#include "lockcore/clock.hpp"
#include "lockcore/engine.hpp"
#include "lockcore/process.hpp"

namespace hagi {

// A stream of complete texts, each written at once.
class Output {
public:
    virtual ~Output() = default;

    // False when the reader is gone or the device is full; what a verb has done stays done.
    virtual bool write(std::string_view text) = 0;
};

// What asks a watcher to end: SIGINT, SIGTERM, SIGHUP.
class StopSource {
public:
    virtual ~StopSource() = default;

    [[nodiscard]] virtual Interrupts interrupts() const = 0;
    virtual bool requested() = 0;
};

enum class StoreUse {
    Create,    // verbs that may write a grant or a place: made where it is missing
    Change,    // verbs that change what is there: a missing store is answered for as an empty one
    ReadOnly,  // verbs that write nothing
};

struct EngineTerms {
    std::optional<std::string> path;  // --store; absent: from the environment
    Duration busy_timeout{};
};

struct Context {
    Output& out;
    Output& err;

    // The value of an environment variable; absent also where it is empty.
    std::function<std::optional<std::string>(std::string_view name)> environment;

    std::function<Result<std::unique_ptr<Engine>>(const EngineTerms&, StoreUse)> open_engine;

    // For what a watcher times by itself: timeouts, back-off.
    Clock& clock;
    [[nodiscard]] Duration steady_now() { return clock.read()->steady; }  // the machine's clock cannot fail

    // Who this command is to the other processes of the machine.
    std::function<ProcessIdentity()> identify;

    // From this call on the signals end nothing by themselves.
    std::function<std::unique_ptr<StopSource>()> listen_for_stop;

    // How wide the terminal is that stdout is, in columns; absent where it is none, so that nothing is cut.
    std::function<std::optional<std::size_t>()> columns = [] { return std::optional<std::size_t>(); };

    // Takes the whole terminal until the screen is destroyed; null where nobody looks on and types.
    std::function<std::unique_ptr<Screen>()> take_screen = [] { return std::unique_ptr<Screen>(); };
};

}  // namespace hagi
