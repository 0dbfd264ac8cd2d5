// A machine for one test: an engine that every command shares, a clock that only sleeping moves, an environment, and
// what happens to a command while it runs. So every byte that a command prints, and when, is known beforehand.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cmd/context.hpp"
#include "cmd/screen.hpp"
#include "lockcore/memory_engine.hpp"
#include "tests/support/fake_clock.hpp"

namespace hagi::test {

// What a command wrote with one call, and how long after its start.
struct Written {
    Duration after{};
    std::string text;
};

struct Ran {
    int exit_code = 0;
    std::vector<Written> out;
    std::vector<Written> err;
};

class World {
public:
    World();

    // Runs `hagi WORDS...`. What was planned for it (below) is used up.
    Ran run(const std::vector<std::string>& words);

    // Of what happens during the next command, at a time after its start; in order of time.
    enum class Sleeper { Wakes, SleepsOn };
    void plan(Duration after, Sleeper sleeper, std::function<void()> happening);
    void plan_stop(Duration after);
    void stop_when_it_sleeps() { stop_when_it_sleeps_ = true; }  // if it ever does
    // The store answers with `error` from one time until before another. Seen: nothing was done; Unseen: it was done.
    enum class Landed { No, Unseen };
    void plan_failure(Duration from, Duration until, Error error, Landed landed = Landed::No);
    void plan_failed_opening(Error error) { failed_opening_ = std::move(error); }
    void plan_created_store() { store_.created = true; }
    void plan_replaced_store() { store_.replaced = true; }
    void plan_closed_output() { output_open_ = false; }

    // How wide the terminal is on which stdout is shown, from now on; absent: it is none.
    void set_columns(std::optional<std::size_t> columns) { columns_ = columns; }

    // The next command has a whole terminal to draw on, of another size or gone later; what it draws is in `out`, each
    // line behind a mark of how it stands out.
    void plan_screen(ScreenSize size) { screen_ = size; }
    void plan_resize(Duration after, ScreenSize size);
    void plan_keys(Duration after, const std::string& bytes);
    void plan_hang_up(Duration after);

    // The same for what is no command line: `use` may do whatever a command may.
    void lend(const std::function<void(Context&)>& use);

    // Another owner's command while the planned one runs; it must succeed.
    void run_beside(const std::vector<std::string>& words);

    void advance(Duration by) { clock_.advance(by); }
    void step_wall(Duration by) { clock_.reading.wall += by; }
    std::map<std::string, std::string>& environment() { return environment_; }

    // Behind the command line's back: texts that it would refuse.
    void plant(const LockId& lock_id, const Request& request);

private:
    struct Happening {
        Duration after{};
        Sleeper sleeper = Sleeper::Wakes;
        std::function<void()> happen;
    };
    struct PlannedFailure {
        Duration from{};
        Duration until{};
        Error error;
        Landed landed = Landed::No;
    };
    class Door;
    class Paper;
    class Stop;
    class Picture;

    int run_with(const std::function<int(Context&)>& command, Output& out, Output& err, bool planned);
    void forget_plans();
    void sleep(Duration at_most);
    [[nodiscard]] Duration since_start() const { return clock_.reading.steady - started_; }
    [[nodiscard]] const PlannedFailure* failure_now() const;

    FakeClock clock_;
    MemoryEngine engine_;
    std::map<std::string, std::string> environment_;
    Duration started_{};
    int sleeps_ = 0;
    bool stop_requested_ = false;
    bool stop_when_it_sleeps_ = false;
    bool output_open_ = true;
    std::optional<std::size_t> columns_;
    std::optional<ScreenSize> screen_;  // of the next command
    std::string typed_;                 // and not taken yet
    bool hung_up_ = false;
    std::deque<Happening> happenings_;
    std::vector<PlannedFailure> failures_;
    std::optional<Error> failed_opening_;
    EngineDescription store_;
};

}  // namespace hagi::test
