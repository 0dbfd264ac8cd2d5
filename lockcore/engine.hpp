// What stores the locks. An engine stamps a request with the store's time, applies the pure rules and keeps the
// result; it decides nothing itself. One engine belongs to one thread of one process; never carry it over fork.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockcore/answer.hpp"
#include "lockcore/change_signal.hpp"
#include "lockcore/event.hpp"
#include "lockcore/request.hpp"
#include "lockcore/result.hpp"
#include "lockcore/rules.hpp"
#include "lockcore/witness.hpp"

namespace hagi {

struct ListQuery {
    std::string prefix;     // of the lock id; empty: all
    bool idle_too = false;  // also locks that have neither holder nor queue
};

struct LogQuery {
    std::optional<LockId> lock_id;
    std::optional<Owner> owner;     // whose event it is, or by whom
    std::string prefix;             // of the lock id; empty: all
    std::optional<Duration> since;  // wall-clock time
    std::int64_t after = 0;         // only events with a greater seq
    std::size_t limit = 0;          // the newest so many
};

struct EngineDescription {
    std::string store;      // what to show: its path
    bool created = false;   // by this engine
    bool replaced = false;  // its file became another store's since this engine was opened
};

class Engine {
public:
    virtual ~Engine() = default;

    // Decides `request` and keeps the outcome. Every event of it is durable before this returns a value; an Error
    // means that nothing was changed, except that Unreachable may hide a change that did land: repeating is safe.
    // After Unreachable and Gone the next call tries anew, by path.
    virtual Result<Answer> submit(const LockId& lock_id, const Request& request) = 0;

    // Settles in memory only: writes nothing.
    virtual Result<ListAnswer> list(const ListQuery& query) = 0;

    // The audit trail as it is stored, oldest first; does not settle, so the newest ends may not be in it yet.
    virtual Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) = 0;

    // Hears, from now on, of changes that concern `owner` on `lock_id`. The engine outlives it.
    virtual std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) = 0;

    [[nodiscard]] virtual EngineDescription describe() const = 0;
};

// For engines: what `witness` (none: nothing) can say, for decide(), about the grant in `state`. Who asks through the
// run that has the grant is alive.
inline Evidence evidence_on(const LockState& state, const Request& request, Witness* witness) {
    if (!witness || !state.hold || !state.hold->binding) return {};
    const bool asks = request.binding && request.binding->run == state.hold->binding->run;
    return !asks && witness->is_gone(*state.hold->binding) ? Evidence{state.hold->epoch} : Evidence{};
}

}  // namespace hagi
