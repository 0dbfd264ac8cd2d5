#include "tests/damage/command.hpp"

#include <optional>

#include "cmd/cli.hpp"
#include "platform/process_identity.hpp"
#include "tests/engine/engine_fixture.hpp"

namespace hagi::test {
namespace {

class Paper : public Output {
public:
    bool write(std::string_view text) override {
        written += text;
        return true;
    }

    std::string written;
};

class StopAtOnce : public StopSource {
public:
    explicit StopAtOnce(bool stop) : stop_(stop) {}

    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return stop_; }

private:
    bool stop_;
};

SqliteOptions options_for(const std::string& path, StoreUse use) {
    SqliteOptions options;
    options.path = path;
    options.access = use == StoreUse::ReadOnly ? SqliteOptions::Access::ReadOnly
                     : use == StoreUse::Create ? SqliteOptions::Access::Create
                                               : SqliteOptions::Access::Existing;
    options.busy_timeout = Duration::zero();
    return options;
}

}  // namespace

Outcome run_command(const std::string& path, const std::vector<std::string>& words) {
    Paper out;
    Paper err;
    FakeClock clock;  // however long a test takes, no lease ends in it
    RecordingSignal signal;
    FakeWitness witness;
    const auto environment = [&path](std::string_view name) {
        return name == "HAGI_LOCK_STORE" ? std::optional(path) : std::nullopt;
    };
    Context context{out,
                    err,
                    environment,
                    [&](const EngineTerms&, StoreUse use) {
                        return open_sqlite_engine(options_for(path, use), clock, signal, witness);
                    },
                    clock,
                    this_process,
                    [&] { return std::make_unique<StopAtOnce>(words.at(0) == "heartbeat"); }};
    std::vector<std::string> line{"agent", "lock"};
    line.insert(line.end(), words.begin(), words.end());
    const int code = run_cli(context, line);
    return {code, std::move(out.written), std::move(err.written)};
}

}  // namespace hagi::test
