#include "cmd/mcp/server.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

#include "cmd/json.hpp"
#include "cmd/mcp/conversation.hpp"
#include "cmd/mcp/worker.hpp"
#include "platform/process_identity.hpp"

namespace hagi::mcp {
namespace {

// Threads, each with a connection to the store: as many as a team of agents behind one client may need.
constexpr std::size_t kMaxWaiting = 16;
constexpr std::size_t kMaxKept = 64;

// Clients give up on a call that they do not hear of for a minute.
constexpr Duration kProgressInterval = 10s;

class Silence : public Output {
public:
    bool write(std::string_view) override { return true; }
};

class NeverStops : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return false; }
};

// Who started this server. Its input may stay open in another process when it has died.
class Parent {
public:
    explicit Parent(Keep keep) : watched_(keep == Keep::Claims), pid_(::getppid()) {
        if (watched_) wakes_ = open_process(pid_);
    }

    // Of one that keeps nothing nobody needs to know: who detaches it means it.
    [[nodiscard]] bool gone() const { return watched_ && ::getppid() != pid_; }
    [[nodiscard]] Interrupts with(Interrupts interrupts) const {
        if (wakes_) interrupts.push_back(wakes_.get());
        return interrupts;
    }

private:
    bool watched_;
    pid_t pid_;
    UniqueFd wakes_;
};

class Server {
public:
    Server(Context& context, const ServeTerms& terms)
        : context_(context),
          terms_(terms),
          tools_context_{silence_,      silence_,         context.environment,    context.open_engine,
                         context.clock, context.identify, context.listen_for_stop},
          stop_(context.listen_for_stop()),
          client_(terms.keep) {}

    int run() {
        while (!ended_ && !stop_->requested() && !client_.gone()) {
            sleep();
            for (const Mailbox::Letter& letter : mailbox_.take()) letter();
            tell_overdue_progress();
            if (readable_) read();
        }
        // All at once, then each in turn: none of them waits for another's busy store.
        for (auto& [call, waiting] : waiting_) waiting.worker->ask_to_end();
        for (auto& [claim, kept] : kept_) kept.worker->ask_to_end();
        waiting_.clear();
        kept_.clear();
        return kSuccess;
    }

private:
    struct Waiting {
        Duration began{};
        Duration timeout{};
        Duration told_at{};
        std::string said;
        std::unique_ptr<Worker> worker;
    };
    struct Kept {
        std::int64_t number = 0;     // tells its letters from those of one before it
        std::optional<Epoch> epoch;  // absent: it waits for its turn
        std::unique_ptr<Worker> worker;
    };
    using ClaimKey = std::pair<LockId, Owner>;

    // ---- The stream ----

    void sleep() {
        std::vector<pollfd> fds{{terms_.input, POLLIN, 0}, {mailbox_.fd(), POLLIN, 0}};
        for (const int fd : client_.with(stop_->interrupts())) fds.push_back({fd, POLLIN, 0});
        const int timeout = waiting_.empty() ? -1 : static_cast<int>(Duration{kProgressInterval}.count());
        const int ready = ::poll(fds.data(), fds.size(), timeout);
        readable_ = ready > 0 && fds[0].revents != 0;
    }

    void read() {
        std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
        const ssize_t count = ::read(terms_.input, bytes.data(), bytes.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (count > 0) lines_.feed({bytes.data(), static_cast<std::size_t>(count)});
        while (const auto line = lines_.next()) take(*line);
        if (count > 0) return;
        if (const auto line = lines_.rest()) take(*line);
        ended_ = true;
    }

    void take(const Line& line) { perform(conversation_.receive(line)); }

    void perform(const Steps& steps) {
        for (const Step& step : steps) std::visit([this](const auto& one) { perform(one); }, step);
    }
    void perform(const Send& send) { write(to_line(send.message)); }
    void perform(const Cancel& cancel) {
        const auto found = waiting_.find(cancel.call);
        if (found != waiting_.end()) found->second.worker->ask_to_end();
    }
    void perform(const Start& start) {
        const auto checked = Arguments::check(start.tool->fields, start.arguments);
        if (checked && start.tool->waits != nullptr && start.tool->waits(*checked))
            return begin_waiting(start, *checked);
        NeverStops never;
        finish(start.call, run_call(*start.tool, start.arguments, tools_context_, terms_.engine, never, {}));
    }

    // In pieces that a stream which is ready for writing takes without waiting: a client that has stopped reading must
    // not keep the server from a signal.
    void write(std::string_view text) {
        constexpr std::size_t kPiece = 4096;  // PIPE_BUF
        while (!text.empty() && !ended_) {
            std::vector<pollfd> fds{{terms_.output, POLLOUT, 0}};
            for (const int fd : client_.with(stop_->interrupts())) fds.push_back({fd, POLLIN, 0});
            if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
            if (fds[0].revents == 0 && (stop_->requested() || client_.gone())) break;
            if (fds[0].revents == 0) continue;
            const ssize_t written = ::write(terms_.output, text.data(), std::min(text.size(), kPiece));
            if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            ended_ = written <= 0;
            if (!ended_) text.remove_prefix(static_cast<std::size_t>(written));
        }
        ended_ = ended_ || !text.empty();  // half a message can be followed by no other
    }

    // ---- Calls ----

    void begin_waiting(const Start& start, const Arguments& checked) {
        if (waiting_.size() >= kMaxWaiting) return refuse_waiting(start);
        Waiting& waiting = waiting_[start.call];
        waiting.began = waiting.told_at = context_.steady_now();
        waiting.timeout = std::chrono::seconds{checked.number("wait_sec").value_or(0)};
        waiting.worker = try_to_start([this, start](StopSource& stop) {
            const Announce announce = [this, call = start.call](const WatchEvent& event) {
                mailbox_.post([this, call, said = event.message] { hear(call, said); });
            };
            auto result = run_call(*start.tool, start.arguments, tools_context_, terms_.engine, stop, announce);
            mailbox_.post([this, call = start.call, result = std::move(result)] { finish(call, result); });
        });
        if (!waiting.worker) refuse_waiting(start);
    }

    void refuse_waiting(const Start& start) {
        finish(start.call, failed({}, {ErrorCode::OperationFailed,
                                       "too many calls wait already: call without wait_sec, and again later",
                                       {}}));
    }

    // None where the machine has no thread left.
    static std::unique_ptr<Worker> try_to_start(std::function<void(StopSource&)> work) {
        try {
            return std::make_unique<Worker>(std::move(work));
        } catch (const std::system_error&) {
            return nullptr;
        }
    }

    void finish(CallId call, const ToolResult& result) {
        waiting_.erase(call);
        const Steps steps = conversation_.finished(call, result);
        if (result.given_back) kept_.erase({result.given_back->lock_id, result.given_back->owner});
        // Of a call that was cancelled too late nobody hears what it gained: that is left to its lease.
        if (result.claimed && !steps.empty()) keep(*result.claimed);
        perform(steps);
    }

    void hear(CallId call, const std::string& said) {
        const auto found = waiting_.find(call);
        if (found == waiting_.end()) return;
        found->second.said = said;
        tell_progress(call, found->second);
    }

    void tell_overdue_progress() {
        for (auto& [call, waiting] : waiting_)
            if (context_.steady_now() - waiting.told_at >= kProgressInterval) tell_progress(call, waiting);
    }
    void tell_progress(CallId call, Waiting& waiting) {
        waiting.told_at = context_.steady_now();
        const auto seconds = [](Duration length) { return static_cast<double>(length.count()) / 1000; };
        if (!waiting.said.empty())
            perform(conversation_.progressed(
                call, {seconds(waiting.told_at - waiting.began), seconds(waiting.timeout), waiting.said}));
    }

    // ---- Claims ----

    void keep(const Standing& claim) {
        if (terms_.keep != Keep::Claims) return;
        const ClaimKey key{claim.lock_id, claim.owner};
        const auto found = kept_.find(key);
        // One that waits finds its turn by itself.
        if (found != kept_.end() && (!found->second.epoch || found->second.epoch == claim.epoch)) return;
        if (found != kept_.end()) kept_.erase(found);
        if (kept_.size() >= kMaxKept) return tell_of_limit(claim);

        const std::int64_t number = ++last_number_;
        Kept& kept = kept_[key];
        kept.number = number;
        kept.epoch = claim.epoch;
        kept.worker = try_to_start([this, claim, key, number](StopSource& stop) {
            const Announce announce = [&](const WatchEvent& event) {
                mailbox_.post([this, key, number, event] { hear(key, number, event); });
            };
            keep_claim(tools_context_, terms_.engine, claim, stop, announce);
            mailbox_.post([this, key, number] { forget(key, number); });
        });
        if (kept.worker) return;
        kept_.erase(key);
        tell_of_limit(claim);
    }

    Kept* find_kept(const ClaimKey& key, std::int64_t number) {
        const auto found = kept_.find(key);
        return found == kept_.end() || found->second.number != number ? nullptr : &found->second;
    }

    void hear(const ClaimKey& key, std::int64_t number, const WatchEvent& event) {
        Kept* const kept = find_kept(key, number);
        if (kept == nullptr) return;  // its client gave it back: that is no news
        if (event.kind == WatchEventKind::Holding) kept->epoch = event.answer->hold->epoch;
        const auto level = level_of(event.kind);
        if (!level) return;
        const Standing claim{key.first, key.second, kept->epoch};
        tell(*level, Json::parse(json::event(subject_of(tools_context_, claim), event)));
    }

    void forget(const ClaimKey& key, std::int64_t number) {
        if (find_kept(key, number) != nullptr) kept_.erase(key);
    }

    // Absent: no news.
    static std::optional<Level> level_of(WatchEventKind kind) {
        switch (kind) {
            case WatchEventKind::Started:
            case WatchEventKind::Beat:
            case WatchEventKind::Queued: return std::nullopt;
            case WatchEventKind::Holding:
            case WatchEventKind::Recovered:
            case WatchEventKind::Nudged: return Level::Notice;
            case WatchEventKind::Unreachable:
            case WatchEventKind::CapWarning:
            case WatchEventKind::Warning:
            case WatchEventKind::Stuck: return Level::Warning;
            case WatchEventKind::MayBeLost:
            case WatchEventKind::Lost:
            case WatchEventKind::Dropped:
            case WatchEventKind::Timeout:
            case WatchEventKind::Stopped: break;
        }
        return Level::Error;
    }

    void tell_of_limit(const Standing& claim) {
        Json data;
        data["event"] = "warning";
        data["lockId"] = claim.lock_id.str();
        data["owner"] = claim.owner.str();
        data["message"] =
            "This server keeps as many claims alive as it can: renew " + claim.lock_id.str() + " yourself";
        tell(Level::Warning, data);
    }

    // The current revision has no message for what nobody asked for: there, and for whoever reads the client's log, it
    // is a line on stderr.
    void tell(Level level, const Json& data) {
        context_.err.write("hagi: " + data.value("message", "") + "\n");
        perform(conversation_.tell(level, data));
    }

    Context& context_;
    const ServeTerms& terms_;
    Silence silence_;
    Context tools_context_;             // nothing but messages may reach the stream
    std::unique_ptr<StopSource> stop_;  // before any thread, so that each of them leaves the signals alone
    Parent client_;
    Lines lines_;
    Conversation conversation_;
    bool readable_ = false;
    bool ended_ = false;
    std::int64_t last_number_ = 0;
    Mailbox mailbox_;  // outlives who posts
    std::map<CallId, Waiting> waiting_;
    std::map<ClaimKey, Kept> kept_;
};

}  // namespace

int serve(Context& context, const ServeTerms& terms) { return Server(context, terms).run(); }

}  // namespace hagi::mcp
