// An engine that forgets everything when it ends. For tests and simulation, and the answer for a store that does
// not exist yet: nothing is known there, nothing is held, nobody waits.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lockcore/clock.hpp"
#include "lockcore/engine.hpp"
#include "lockcore/event.hpp"
#include "lockcore/witness.hpp"

namespace hagi {

class MemoryEngine : public Engine {
public:
    // What happens while a listener sleeps (at most so long): a test lets other owners act or its clock advance.
    using WhileAsleep = std::function<void(Duration)>;

    // `clock` outlives the engine. The store's time begins at zero with the first reading that succeeds.
    // Without a witness no bound process is ever gone.
    explicit MemoryEngine(Clock& clock, std::string name = "memory", Witness* witness = nullptr);

    Result<Answer> submit(const LockId& lock_id, const Request& request) override;
    Result<ListAnswer> list(const ListQuery& query) override;
    Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) override;
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override;
    [[nodiscard]] EngineDescription describe() const override;

    // Of every listener, those that exist already too. Without it a sleep returns at once.
    void on_sleep(WhileAsleep while_asleep);

    // Everything that happened, oldest first.
    [[nodiscard]] const std::vector<LoggedEvent>& events() const { return events_; }

private:
    struct Now {
        ClockReading reading;
        Instant at;
    };
    Result<Now> now();

    Clock& clock_;
    std::string name_;
    Witness* witness_;
    std::optional<ClockAnchor> anchor_;  // absent until the clock was first read
    std::map<LockId, LockState> locks_;
    std::vector<LoggedEvent> events_;
    std::shared_ptr<WhileAsleep> while_asleep_;
};

}  // namespace hagi
