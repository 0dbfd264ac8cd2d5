#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cmd/cli.hpp"
#include "cmd/last_words.hpp"
#include "cmd/open_engine.hpp"
#include "cmd/terminal_screen.hpp"
#include "platform/machine_clock.hpp"
#include "platform/process_identity.hpp"
#include "platform/stop_signal.hpp"
#include "platform/terminal.hpp"

namespace hagi {
namespace {

class DescriptorOutput : public Output {
public:
    explicit DescriptorOutput(int fd) : fd_(fd) {}

    bool write(std::string_view text) override {
        while (!text.empty()) {
            const ssize_t written = ::write(fd_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }

private:
    int fd_;
};

class SignalStopSource : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override {
        return signal_.fd() < 0 ? Interrupts{} : Interrupts{signal_.fd()};
    }
    bool requested() override { return signal_.received().has_value(); }

private:
    StopSignal signal_;
};

std::optional<std::string> environment(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

std::optional<std::size_t> columns() {
    if (!is_terminal(STDOUT_FILENO)) return std::nullopt;
    constexpr int kUsual = 80;
    return static_cast<std::size_t>(terminal_width(STDOUT_FILENO).value_or(kUsual));
}

// A terminal that cannot move its cursor gets lines.
std::unique_ptr<Screen> take_screen() {
    const auto kind = environment("TERM");
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO) || !kind || *kind == "dumb") return nullptr;
    return take_terminal(environment("NO_COLOR") ? Colours::None : Colours::Few);
}

// A file that is opened while a standard stream is closed gets its number, and what is printed would be written into
// it: into the store, into its gate. The wrong way round, so that printing still fails and is known to have failed.
void occupy_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int run(const std::vector<std::string>& words) {
    occupy_standard_streams();
    ignore_signals_of_failed_writes();
    DescriptorOutput out(STDOUT_FILENO);
    DescriptorOutput err(STDERR_FILENO);
    MachineClock clock;
    Context context{
        out,
        err,
        environment,
        [](const EngineTerms& terms, StoreUse use) { return open_engine(terms, use, environment); },
        clock,
        [] {
            static const ProcessIdentity self = this_process();
            return self;
        },
        [] { return std::make_unique<SignalStopSource>(); },
        columns,
        take_screen,
    };
    return run_cli(context, words);
}

}  // namespace
}  // namespace hagi

int main(int argc, char* argv[]) {
    hagi::prepare_last_words(hagi::Form::Text);
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    hagi::prepare_last_words(hagi::form_of(words));
    return hagi::run(words);
}
