// The real program on a store of the test's own.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/platform/temporary_folder.hpp"
#include "tests/support/process.hpp"

namespace hagi::test {

using Words = std::vector<std::string>;

// What SQLite says of a store's file: "ok".
std::string integrity_of(const std::string& path);

class Hagi {
public:
    Hagi();

    // `hagi agent lock WORDS...`, where the store is not named by them.
    Process start(const Words& words) const { return Process(line(words), environment_); }
    Finished run(const Words& words) const { return run_process(line(words), environment_); }

    // The same below a shell that does `first` and becomes it, e.g. "umask 077".
    Process start_after(const std::string& first, const Words& words) const;
    Finished run_after(const std::string& first, const Words& words) const;

    // The same on a machine that has been up for so much longer; see can_travel().
    Finished run_later(int seconds, const Words& words) const;

    // Any other program, with the same environment.
    Finished run_other(const Words& words) const { return run_process(words, environment_); }
    [[nodiscard]] std::unique_ptr<Process> start_other(const Words& words,
                                                       Process::Input input = Process::Input::None) const {
        return std::make_unique<Process>(words, environment_, input);
    }

    // As a user who may read the store's folder and write nothing in it. Needs root.
    Finished run_as_reader(const Words& words) const;

    // `hagi mcp OPTIONS...`, to be spoken to.
    [[nodiscard]] std::unique_ptr<Process> start_mcp(const Words& options = {}) const;

    // Must succeed.
    void done(const Words& words) const;
    [[nodiscard]] nlohmann::json json(const Words& words) const;

    [[nodiscard]] const std::string& folder() const { return folder_.path(); }
    [[nodiscard]] std::string store() const { return folder_.file("locks.db"); }
    void delete_store() const;

    [[nodiscard]] std::string integrity() const { return integrity_of(store()); }

    // What somebody else's tool does to it; must succeed.
    void change(const std::string& sql) const;

    // The command line's words, program first.
    static Words line(const Words& words);

private:
    TemporaryFolder folder_;
    Words environment_;
};

// Whether this machine lets time pass for single processes; says loudly that a test is skipped where it does not.
bool can_travel();

// Whether this program may mount filesystems, seen by itself and what it starts only; says so where it may not.
bool can_mount();

// The words of one verb for one owner of the lock "a".
Words verb(const std::string& name, const std::string& owner, const Words& more = {});

}  // namespace hagi::test
