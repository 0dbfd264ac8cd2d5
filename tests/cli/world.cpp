#include "tests/cli/world.hpp"

#include <stdexcept>
#include <utility>

#include "cmd/cli.hpp"
#include "cmd/terminal_screen.hpp"

namespace hagi::test {
namespace {

constexpr const char* kStore = "/home/ann/.local/state/hagi/locks.db";

// A day of beats are 720.
constexpr int kMostSleeps = 5000;

}  // namespace

// One command's way to the engine that all of them share.
class World::Door : public Engine {
public:
    Door(World& world, bool planned) : world_(world), planned_(planned) {}

    Result<Answer> submit(const LockId& lock_id, const Request& request) override {
        const PlannedFailure* failure = planned_ ? world_.failure_now() : nullptr;
        if (!failure) return world_.engine_.submit(lock_id, request);
        if (failure->landed == Landed::Unseen)
            if (const auto unseen = world_.engine_.submit(lock_id, request); !unseen) return unseen.error();
        return failure->error;
    }
    Result<ListAnswer> list(const ListQuery& query) override {
        const PlannedFailure* failure = world_.failure_now();
        if (failure) return failure->error;
        return world_.engine_.list(query);
    }
    Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) override {
        const PlannedFailure* failure = world_.failure_now();
        if (failure) return failure->error;
        return world_.engine_.read_log(query);
    }
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override {
        return world_.engine_.listen(lock_id, owner);
    }
    [[nodiscard]] EngineDescription describe() const override { return world_.store_; }

private:
    World& world_;
    bool planned_;
};

class World::Paper : public Output {
public:
    Paper(World& world, bool open) : world_(world), open_(open) {}

    bool write(std::string_view text) override {
        if (open_) written.push_back({world_.since_start(), std::string(text)});
        return open_;
    }

    std::vector<Written> written;

private:
    World& world_;
    bool open_;
};

class World::Stop : public StopSource {
public:
    explicit Stop(World& world) : world_(world) {}

    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return world_.stop_requested_; }

private:
    World& world_;
};

// A whole terminal: a frame is written as one text.
class World::Picture : public Screen {
public:
    Picture(World& world, Output& out) : world_(world), out_(out) {}

    [[nodiscard]] ScreenSize size() const override { return *world_.screen_; }
    void show(const std::vector<Line>& lines) override {
        std::string frame;
        for (const Line& line : lines) frame += "|" + mark(line.emphasis) + line.text + "\n";
        out_.write(frame);
    }
    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    std::optional<std::vector<Key>> take_keys() override {
        if (world_.hung_up_) return std::nullopt;
        return keys_from(std::exchange(world_.typed_, {}));
    }

private:
    static std::string mark(Emphasis emphasis) {
        switch (emphasis) {
            case Emphasis::Plain: break;
            case Emphasis::Heading: return "=";
            case Emphasis::Alert: return "!";
            case Emphasis::Faint: return "~";
        }
        return " ";
    }

    World& world_;
    Output& out_;
};

World::World() : engine_(clock_, kStore) {
    store_.store = kStore;
    engine_.on_sleep([this](Duration at_most) { sleep(at_most); });
}

Ran World::run(const std::vector<std::string>& words) {
    started_ = clock_.reading.steady;
    Paper out(*this, output_open_);
    Paper err(*this, true);
    Ran ran;
    ran.exit_code = run_with([&](Context& context) { return run_cli(context, words); }, out, err, true);
    if (!happenings_.empty()) throw std::runtime_error("the command ended before all that was planned had happened");
    forget_plans();
    ran.out = std::move(out.written);
    ran.err = std::move(err.written);
    return ran;
}

void World::run_beside(const std::vector<std::string>& words) {
    Paper out(*this, true);
    Paper err(*this, true);
    const auto command = [&](Context& context) { return run_cli(context, words); };
    if (const int code = run_with(command, out, err, false); code != 0)
        throw std::runtime_error("a command beside ended with exit " + std::to_string(code));
}

void World::lend(const std::function<void(Context&)>& use) {
    started_ = clock_.reading.steady;
    Paper out(*this, output_open_);
    Paper err(*this, true);
    const auto command = [&](Context& context) {
        use(context);
        return 0;
    };
    run_with(command, out, err, true);
    forget_plans();
}

int World::run_with(const std::function<int(Context&)>& command, Output& out, Output& err, bool planned) {
    const auto environment = [this](std::string_view name) -> std::optional<std::string> {
        const auto found = environment_.find(std::string(name));
        return found == environment_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto open = [this, planned](const EngineTerms&, StoreUse) -> Result<std::unique_ptr<Engine>> {
        if (planned && failed_opening_) return *failed_opening_;
        return std::unique_ptr<Engine>(std::make_unique<Door>(*this, planned));
    };
    const auto listen = [this] { return std::make_unique<Stop>(*this); };
    const auto identify = [] { return ProcessIdentity{4242, 100, "another boot", 1, "host-a"}; };
    const auto take_screen = [this, &out]() -> std::unique_ptr<Screen> {
        return screen_ ? std::make_unique<Picture>(*this, out) : nullptr;
    };
    const auto columns = [this] { return columns_; };
    Context context{out, err, environment, open, clock_, identify, listen, columns, take_screen};
    return command(context);
}

void World::forget_plans() {
    sleeps_ = 0;
    stop_requested_ = false;
    stop_when_it_sleeps_ = false;
    output_open_ = true;
    screen_.reset();
    typed_.clear();
    hung_up_ = false;
    failures_.clear();
    failed_opening_.reset();
    store_.created = false;
    store_.replaced = false;
}

void World::plan(Duration after, Sleeper sleeper, std::function<void()> happening) {
    happenings_.push_back({after, sleeper, std::move(happening)});
}

void World::plan_stop(Duration after) {
    if (after == Duration::zero()) {
        stop_requested_ = true;
        return;
    }
    plan(after, Sleeper::Wakes, [this] { stop_requested_ = true; });
}

void World::plan_resize(Duration after, ScreenSize size) {
    plan(after, Sleeper::Wakes, [this, size] { screen_ = size; });
}

void World::plan_keys(Duration after, const std::string& bytes) {
    plan(after, Sleeper::Wakes, [this, bytes] { typed_ += bytes; });
}

void World::plan_hang_up(Duration after) {
    plan(after, Sleeper::Wakes, [this] { hung_up_ = true; });
}

void World::plan_failure(Duration from, Duration until, Error error, Landed landed) {
    failures_.push_back({from, until, std::move(error), landed});
}

const World::PlannedFailure* World::failure_now() const {
    for (const PlannedFailure& failure : failures_)
        if (failure.from <= since_start() && since_start() < failure.until) return &failure;
    return nullptr;
}

void World::sleep(Duration at_most) {
    if (++sleeps_ > kMostSleeps) throw std::runtime_error("the command sleeps for ever");
    if (stop_when_it_sleeps_) stop_requested_ = true;
    const Duration until = since_start() + at_most;
    while (!happenings_.empty() && happenings_.front().after <= until) {
        const Happening next = std::move(happenings_.front());
        happenings_.pop_front();
        if (next.after > since_start()) clock_.advance(next.after - since_start());
        next.happen();
        if (next.sleeper == Sleeper::Wakes) return;
    }
    clock_.advance(until - since_start());
}

void World::plant(const LockId& lock_id, const Request& request) {
    if (const auto answer = engine_.submit(lock_id, request); !answer || answer->refusal)
        throw std::runtime_error("what was to be planted was refused");
}

}  // namespace hagi::test
