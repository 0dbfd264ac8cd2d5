// Explores every state that the small world of world.hpp can come to, in order of distance, and has each step judged.
// Where a rule is broken, it prints the shortest history that leads there and exits with 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "lockcore/rules.hpp"
#include "tests/simulation/judge.hpp"
#include "tests/simulation/world.hpp"

namespace hagi::test {
namespace {

// The keys seen so far; open addressing, since a million nodes of a std::set would be the whole cost.
class Seen {
public:
    bool insert(Key key) {
        if ((count_ + 1) * 2 > slots_.size()) grow();
        return place(key);
    }

private:
    static constexpr Key kFree = ~Key{0};

    bool place(Key key) {
        std::size_t slot = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15U) & (slots_.size() - 1);
        for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot] == key) return false;
        slots_[slot] = key;
        ++count_;
        return true;
    }

    void grow() {
        std::vector<Key> old(slots_.size() * 2, kFree);
        old.swap(slots_);
        count_ = 0;
        for (const Key key : old)
            if (key != kFree) place(key);
    }

    std::vector<Key> slots_ = std::vector<Key>(1U << 16U, kFree);
    std::size_t count_ = 0;
};

struct Node {
    Key key = kNeverSeen;
    std::uint32_t parent = 0;
    std::int16_t action = -1;
};

struct Violation {
    std::uint32_t node = 0;
    int action = -1;  // -1: of the state itself
    std::string complaint;
};

// What one thread made of its share of a level.
struct Share {
    std::vector<Node> reached;
    std::optional<Violation> violation;
    std::uint64_t named_states = 0;
    std::uint64_t transitions = 0;
};

class Explorer {
public:
    explicit Explorer(const Grid& grid) : grid_(grid) {
        nodes_.push_back({});
        seen_.insert(kNeverSeen);
    }

    // Level by level to the fixed point, or to the first violation.
    std::optional<Violation> explore() {
        for (std::size_t begin = 0, end = 1; begin != end; begin = end, end = nodes_.size(), ++levels_)
            for (Share& share : explored(begin, end)) {
                named_states_ += share.named_states;
                transitions_ += share.transitions;
                if (share.violation) return share.violation;
                for (const Node& node : share.reached)
                    if (seen_.insert(node.key)) nodes_.push_back(node);
            }
        return std::nullopt;
    }

    void print_history(const Violation& violation) const {
        std::vector<int> actions;
        if (violation.action >= 0) actions.push_back(violation.action);
        for (std::uint32_t node = violation.node; node != 0; node = nodes_[node].parent)
            actions.push_back(nodes_[node].action);
        std::reverse(actions.begin(), actions.end());
        Teller teller(grid_);
        for (const int action : actions) teller.tell(action);
        std::printf("violated: %s\n", violation.complaint.c_str());
    }

    [[nodiscard]] std::size_t states() const { return nodes_.size(); }
    [[nodiscard]] std::uint64_t named_states() const { return named_states_; }
    [[nodiscard]] std::uint64_t transitions() const { return transitions_; }
    [[nodiscard]] int levels() const { return levels_; }

private:
    // Tells a path step by step, with the owners' names and the time running on.
    class Teller {
    public:
        explicit Teller(const Grid& grid) : grid_(grid) {}

        void tell(int action) {
            const LockState state = unpacked(key_, grid_);
            if (action < kTicks) {
                time_ += tick_of(action, grid_);
                return move_to(settle(state, kNow + tick_of(action, grid_)).state, kNow + tick_of(action, grid_));
            }
            const Decision decision =
                decide(state, request_of(action, state, grid_), kNow, evidence_of(action, state, grid_));
            std::printf("t=%-6lld %c %s -> %s\n", static_cast<long long>(time_.count() / 1000),
                        name(owner_of(action, grid_)), words_of(action, grid_).c_str(), outcome(decision).c_str());
            move_to(decision.state, kNow);
        }

    private:
        [[nodiscard]] char name(int owner) const {
            return static_cast<char>('a' + names_[static_cast<std::size_t>(owner)]);
        }

        [[nodiscard]] std::string outcome(const Decision& decision) const {
            static const char* const kStatus[] = {"Holding", "Queued", "Expired", "Requisitioned", "None"};
            std::string text = decision.answer.refusal ? "refused, " : "";
            text += kStatus[static_cast<int>(decision.answer.status)];
            if (decision.state.hold)
                text += ", held by " + std::string(1, name(decision.state.hold->owner.str()[0] - 'a'));
            for (const Waiter& waiter : decision.state.queue)
                text += (&waiter == decision.state.queue.data() ? ", queue " : " ") +
                        std::string(1, name(waiter.owner.str()[0] - 'a'));
            return text;
        }

        void move_to(const LockState& state, Instant now) {
            Names renamed{};
            const auto key = packed(state, now, grid_, renamed);
            if (!key) return;
            Names names{};
            for (std::size_t i = 0; i < names.size(); ++i) names[i] = names_[static_cast<std::size_t>(renamed[i])];
            names_ = names;
            key_ = *key;
        }

        Grid grid_;
        Key key_ = kNeverSeen;
        Names names_{0, 1, 2};
        Duration time_{};
    };

    std::vector<Share> explored(std::size_t begin, std::size_t end) const {
        const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
        const std::size_t each = (end - begin + threads - 1) / threads;
        std::vector<std::future<Share>> running;
        for (std::size_t from = begin; from < end; from += each)
            running.push_back(
                std::async(std::launch::async, [=, this] { return share(from, std::min(from + each, end)); }));
        std::vector<Share> shares;
        for (auto& future : running) shares.push_back(future.get());
        return shares;
    }

    Share share(std::size_t begin, std::size_t end) const {
        Share share;
        for (std::size_t node = begin; node < end && !share.violation; ++node) {
            const LockState state = unpacked(nodes_[node].key, grid_);
            const auto index = static_cast<std::uint32_t>(node);
            share.named_states += static_cast<std::uint64_t>(namings_of(state));
            if (auto complaint = judge_settling(state, grid_)) share.violation = Violation{index, -1, *complaint};
            for (int action = 0; action < actions_in(grid_) && !share.violation; ++action) {
                if (action >= kTicks && is_double(state, owner_of(action, grid_))) continue;
                if (auto complaint = take(share, index, state, action))
                    share.violation = Violation{index, action, *complaint};
            }
        }
        return share;
    }

    // Takes one step from `state`, and says what is wrong with it.
    Complaint take(Share& share, std::uint32_t node, const LockState& state, int action) const {
        ++share.transitions;
        if (action < kTicks) {
            const Instant now = kNow + tick_of(action, grid_);
            const Settled settled = settle(state, now);
            if (auto complaint = judge_passing(state, settled, now)) return complaint;
            return reach(share, {0, node, static_cast<std::int16_t>(action)}, settled.state, now);
        }
        const Request request = request_of(action, state, grid_);
        const Evidence evidence = evidence_of(action, state, grid_);
        const Decision decision = decide(state, request, kNow, evidence);
        if (auto complaint = judge_request(state, request, evidence, decision)) return complaint;
        // One request in eight, each in its turn: this law hardly depends on what is asked.
        if ((node + static_cast<std::uint32_t>(action)) % 8 == 0)
            if (auto complaint = judge_late_request(state, request)) return complaint;
        return reach(share, {0, node, static_cast<std::int16_t>(action)}, decision.state, kNow);
    }

    Complaint reach(Share& share, Node node, const LockState& state, Instant now) const {
        Names names{};
        const auto key = packed(state, now, grid_, names);
        if (!key) return "a state that is none of this world's";
        node.key = *key;
        if (node.key != nodes_[node.parent].key) share.reached.push_back(node);
        return std::nullopt;
    }

    Grid grid_;
    std::vector<Node> nodes_;
    Seen seen_;
    std::uint64_t named_states_ = 0;
    std::uint64_t transitions_ = 0;
    int levels_ = 0;
};

int run(const Grid& grid) {
    const auto start = std::chrono::steady_clock::now();
    Explorer explorer(grid);
    const auto violation = explorer.explore();
    if (violation) explorer.print_history(*violation);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::printf("%llu states, %zu but for their owners' names, %llu transitions, %d levels, %.1f s: %s\n",
                static_cast<unsigned long long>(explorer.named_states()), explorer.states(),
                static_cast<unsigned long long>(explorer.transitions()), explorer.levels(), taken.count(),
                violation ? "a rule is broken" : "every rule holds");
    return violation ? 1 : 0;
}

}  // namespace
}  // namespace hagi::test

// Arguments: tick, lease and maximum hold in seconds; "bound" where grants may be bound to processes.
int main(int argc, char* argv[]) {
    if (argc != 4 && !(argc == 5 && std::string(argv[4]) == "bound")) {
        std::fprintf(stderr, "usage: %s TICK LEASE MAXIMUM-HOLD [bound] (whole seconds)\n", argv[0]);
        return 2;
    }
    const auto seconds = [&](int i) { return hagi::Duration{1000LL * std::atoll(argv[i])}; };
    return hagi::test::run(
        {seconds(1), seconds(2), seconds(3), argc == 5 ? hagi::test::Grants::Bound : hagi::test::Grants::Free});
}
