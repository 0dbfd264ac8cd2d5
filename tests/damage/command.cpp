#include "tests/damage/command.hpp"

#include <optional>

#include "cmd/cli.hpp"
#include "cmd/open_engine.hpp"
#include "platform/machine_clock.hpp"
#include "platform/process_identity.hpp"

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

}  // namespace

Outcome run_command(const std::string& path, const std::vector<std::string>& words) {
    Paper out;
    Paper err;
    MachineClock clock;
    const auto environment = [&path](std::string_view name) {
        return name == "HAGI_LOCK_STORE" ? std::optional(path) : std::nullopt;
    };
    Context context{out,
                    err,
                    environment,
                    [&](const EngineTerms& terms, StoreUse use) { return open_engine(terms, use, environment); },
                    clock,
                    this_process,
                    [&] { return std::make_unique<StopAtOnce>(words.at(0) == "heartbeat"); }};
    std::vector<std::string> line{"agent", "lock"};
    line.insert(line.end(), words.begin(), words.end());
    const int code = run_cli(context, line);
    return {code, std::move(out.written), std::move(err.written)};
}

}  // namespace hagi::test
