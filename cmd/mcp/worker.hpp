// What runs beside the loop that reads and writes: calls that wait for a turn, and claims that are kept alive. Each has
// a thread and a store connection of its own, since an engine belongs to one thread.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "cmd/mcp/tool.hpp"
#include "platform/wakeup.hpp"

namespace hagi::mcp {

// What the threads have to say to the loop, in the order in which they said it.
class Mailbox {
public:
    using Letter = std::function<void()>;  // run by the loop

    void post(Letter letter);
    std::deque<Letter> take();

    // Readable when there is something to take.
    [[nodiscard]] int fd() const { return wakeup_.fd(); }

private:
    std::mutex mutex_;
    std::deque<Letter> letters_;
    Wakeup wakeup_;
};

// Asks a thread to end.
class StopRequest final : public StopSource {
public:
    void ask();
    [[nodiscard]] Interrupts interrupts() const override;
    bool requested() override { return asked_; }

private:
    std::atomic<bool> asked_ = false;
    Wakeup wakeup_;
};

// A thread that is asked to end and waited for when it is not wanted any more.
class Worker {
public:
    explicit Worker(std::function<void(StopSource&)> work);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Does not wait.
    void ask_to_end() { stop_.ask(); }

private:
    StopRequest stop_;
    std::thread thread_;
};

// Runs the call of a tool; whatever it throws becomes its failure.
ToolResult run_call(const Tool& tool, Json arguments, Context& context, const EngineTerms& terms, StopSource& stop,
                    const Announce& announce);

// Whom what is said of `claim` is about.
Subject subject_of(const Context& context, const Standing& claim);

// Keeps `claim` alive until it has ended or `stop` asks for the end: a place in the queue is kept heard from until its
// turn has come, a hold is renewed. Gives nothing back: what is not released is left to its lease. `announce` is told
// of everything, the end included, but not of being stopped.
void keep_claim(Context& context, const EngineTerms& terms, const Standing& claim, StopSource& stop,
                const Announce& announce);

}  // namespace hagi::mcp
