// The Model Context Protocol as a state machine: lines in, and what is to be done about them out. It reads and writes
// nothing and starts nothing by itself.
//
// It speaks the current revision, in which every request says which one it follows, and the two before it, which begin
// with a handshake. A client may mix them; each request is answered as its own revision wants.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cmd/mcp/tool.hpp"

namespace hagi::mcp {

inline constexpr const char* kCurrentRevision = "2026-07-28";
inline constexpr const char* kHandshakeRevisions[] = {"2025-11-25", "2025-06-18"};  // newest first

// More at once are a client that has lost count.
inline constexpr std::size_t kMaxOngoing = 256;

// A call of a tool that was begun, by a number of its own: the client's ids come back when a call has ended.
using CallId = std::int64_t;

struct Send {
    Json message;
};
struct Start {
    CallId call = 0;
    const Tool* tool = nullptr;
    Json arguments;  // an object, not checked yet
};
struct Cancel {
    CallId call = 0;
};
using Step = std::variant<Send, Start, Cancel>;
using Steps = std::vector<Step>;  // to be done in their order

// Of what is told without being asked, from harmless to grave.
enum class Level { Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency };

class Conversation {
public:
    Steps receive(const Line& line);

    // A call that was begun has ended. Nothing to do for one that was cancelled.
    Steps finished(CallId call, const ToolResult& result);

    // How far a call that waits has come. Nothing to do unless its client asked for it.
    struct Progress {
        double seconds = 0;  // greater than the last time, or it is not told
        double of = 0;
        std::string message;
    };
    Steps progressed(CallId call, const Progress& progress);

    // What the client did not ask for. Only revisions with a handshake have messages for that.
    [[nodiscard]] Steps tell(Level level, const Json& data) const;

private:
    enum class Era { Handshake, Current };
    struct Ongoing {  // NOLINT(bugprone-exception-escape): as that of Json
        Json id;
        Era era = Era::Current;
        Json progress_token;  // null: not wanted
        double told = -1;
    };
    using Outcome = std::variant<Json, RpcFailure>;  // a result, or why there is none

    Steps handle(const Request& request);
    Steps handle(const Notification& notification);
    static Steps handle(const Reply&) { return {}; }
    static Steps handle(const RpcFailure& failure);

    [[nodiscard]] std::variant<Era, RpcFailure> era_of(const Request& request) const;
    Outcome answer(const Request& request, Era era);
    Outcome initialize(const Request& request);
    Outcome set_level(const Request& request);
    Steps call_tool(const Request& request, Era era);
    Steps listen(const Request& request);
    CallId begin(Ongoing call);
    [[nodiscard]] bool is_ongoing(const Json& id) const;

    bool introduced_ = false;  // by a handshake
    Level least_ = Level::Info;
    CallId last_call_ = 0;
    std::map<CallId, Ongoing> ongoing_;
};

}  // namespace hagi::mcp
