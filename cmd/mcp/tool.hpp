// A tool of `hagi mcp`: what a model is told of it, and what it does.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cmd/await_grant.hpp"
#include "cmd/mcp/arguments.hpp"
#include "cmd/session.hpp"

namespace hagi::mcp {

// What one call may touch.
struct Job {
    Context& context;
    const EngineTerms& terms;
    const Arguments& arguments;
    StopSource& stop;          // of a call that waits
    const Announce& announce;  // told while it waits
};

// Where an owner stands with a lock after a call.
struct Standing {
    LockId lock_id;
    Owner owner;
    std::optional<Epoch> epoch;  // absent: a place in the queue
};

struct ToolResult {        // NOLINT(bugprone-exception-escape): the library's move says that it throws nothing
    Json document;         // as the tool's output schema says
    std::string sentence;  // why it failed; empty: it did not

    // For who keeps claims alive: what this call gained or confirmed, or gave back.
    std::optional<Standing> claimed;
    std::optional<Standing> given_back;
};

struct Hints {
    bool read_only = false;
    bool destructive = false;  // may take something from somebody
    bool idempotent = false;
};

// What a success looks like, as texts of JSON; a failure has "error" instead.
struct OutputSchema {
    std::string_view properties;  // of its object
    std::string_view required;    // those that are always there
};

struct Tool {
    std::string_view name;
    std::string_view title;
    std::string_view description;
    std::span<const Field> fields;
    OutputSchema output;
    Hints hints;
    ToolResult (*call)(Job& job);
    bool (*waits)(const Arguments& arguments) = nullptr;  // whether such a call may take long; absent: never
};

// The tools in the order in which they are listed.
std::span<const Tool> lock_tools();
std::span<const Tool> host_tools();

const Tool* find_tool(std::string_view name);

// The whole list as clients see it.
Json list_of_tools();

// The protocol in a few sentences, for a model that has not read the tools yet.
std::string_view instructions();

// ---- For the tools ----

ToolResult failed(const Subject& subject, const Failure& failure);
ToolResult failed(const Subject& subject, const Error& error);

// `line` is one document of cmd/json.hpp.
ToolResult succeeded(const std::string& line);

// Whom a call of a lock is about: `lock_id`, and `owner`, else that of the environment.
Result<Subject> lock_subject(const Context& context, Reading& reading);

// What an answer means for who keeps claims alive.
void note_standing(ToolResult& result, const Subject& subject, const Answer& answer);

}  // namespace hagi::mcp
