// What the tests of the engines share: a folder that goes away, a signal that remembers, a store to open, a look at
// it from outside, and requests as words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockcore/memory_engine.hpp"
#include "lockcore/sqlite/engine.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_witness.hpp"

namespace hagi::test {

// In memory where the machine has such a place: these tests open thousands of stores.
class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::string> files() const;  // names, sorted

private:
    std::string path_;
};

class RecordingSignal : public ChangeSignal {
public:
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override;
    void ring(const LockId&, const Owner& owner) noexcept override {
        if (!owner.empty()) rung += owner.str() + " ";
    }

    std::string rung;  // "b c ": in that order
};

// A folder, a clock and a signal, and any number of engines on the store in it.
class StoreFixture {
public:
    TempFolder folder;
    FakeClock clock;
    RecordingSignal signal;
    FakeWitness witness;
    SqliteOptions options{folder.path() + "/locks.db", SqliteOptions::Journal::Wal, SqliteOptions::Access::Create,
                          kBusyTimeout, SideFileMode{}};

    Result<std::unique_ptr<Engine>> try_open() { return open_sqlite_engine(options, clock, signal, witness); }
    std::unique_ptr<Engine> open();  // fails the test
    std::unique_ptr<Engine> open(SqliteOptions::Access access);
};

// The rows of `sql`, as a shell shows them: "a|b\nc|d".
std::string query(const std::string& path, const std::string& sql);

// "a acquire", "b renew epoch=3", "c requisition", "a release", "a status", "a accept", "a no-queue", "a give-up",
// "a stop", "a nudge" on the lock "x": "Holding #1", "Queued 1/2", "Expired lease expired", "refused Conflict", "error
// Gone", "None", ...
std::string ask(Engine& engine, std::string_view request);
Result<Answer> submit(Engine& engine, std::string_view request, std::string_view lock_id = "x");
Request request_from(std::string_view text);
std::string in_words(const Result<Answer>& answer);

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);

// Runs `body` in a child process and gives its exit code: what it returns, or 255 where it was killed.
int in_child(const std::function<int()>& body);

}  // namespace hagi::test
