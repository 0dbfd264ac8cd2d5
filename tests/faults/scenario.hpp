// One command on a store of which all is known: what was there before, and what an undisturbed run makes of it. So what
// a disturbed one leaves behind can be judged, as often as wanted, on the same store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/faults/story.hpp"
#include "tests/platform/temporary_folder.hpp"
#include "tests/process/hagi.hpp"

namespace hagi::test {

struct Scenario {
    enum class Log { Short, AboutToBeEmptied };
    enum class Again {
        SameEnd,   // repeated after any fault, the command leads to where an undisturbed one does
        AnyEnd,    // it must only work
        NotAsked,  // it need not: another command takes its place
    };

    std::string name;
    std::vector<Words> before;  // each must succeed; none: there is no store
    Words command;
    int code = 0;  // of an undisturbed run
    Again again = Again::SameEnd;
    int steps = 1;  // transactions: the history may end between them
    Log log = Log::Short;
    std::string filesystem;  // HAGI_LOCK_FILESYSTEM
};

// Every verb, in every way that it writes.
std::vector<Scenario> scenarios();

class Stage {
public:
    // `runner` runs a command on the store of a stage; absent: the real program does.
    using Runner = std::function<Finished(const Stage& stage, const Words& command)>;
    explicit Stage(Scenario scenario, Runner runner = {});

    [[nodiscard]] const Scenario& scenario() const { return scenario_; }
    [[nodiscard]] const Hagi& hagi() const { return hagi_; }
    [[nodiscard]] const Story& before() const { return before_; }
    [[nodiscard]] const Story& after() const { return after_; }

    // Makes the store what it was before the command.
    void reset();

    // The places and claims of the store live for seconds: whoever is slower than that has judged nothing.
    [[nodiscard]] bool too_old() const;

    // The words of a process that runs this command.
    [[nodiscard]] Words line(const Words& command) const;
    [[nodiscard]] Finished run(const Words& command) const {
        return runner_ ? runner_(*this, command) : hagi_.run_other(line(command));
    }
    [[nodiscard]] Story story() const;

    // What SQLite says of a copy of the store, so that what the next command finds is untouched; "ok" where there is
    // none.
    [[nodiscard]] std::string integrity_of_copy() const;

private:
    void build();
    void fill_log() const;

    Scenario scenario_;
    Runner runner_;
    Hagi hagi_;
    TemporaryFolder saved_;
    std::chrono::steady_clock::time_point built_at_;
    Story before_;
    Story after_;
};

}  // namespace hagi::test
