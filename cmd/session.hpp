// One command's hold on a store: whom it is about, the open engine, and how it reports.
#pragma once

#include <functional>
#include <memory>

#include "cmd/options.hpp"
#include "cmd/report.hpp"

namespace hagi {

struct Session {
    Context& context;
    Subject subject;
    std::unique_ptr<Engine> engine;
    Report report;
    std::optional<Binding> binding;  // of `run`: goes with every request

    Result<Answer> submit(decltype(Request::action) action, std::optional<Watcher> watcher = std::nullopt);

    // Submits and reports what comes back; the exit code.
    int ask(decltype(Request::action) action);

    // The same, where only some standings count as success: 32 after a loss, otherwise 29.
    int ask_for(decltype(Request::action) action, const std::optional<Requirement>& requirement);
    int tell(const Answer& answer, const std::optional<Requirement>& requirement = std::nullopt);

    // Reports an error of the store; the exit code.
    int fail(const Error& error);
};

// Opens the store for `subject`; what is to be said goes to `report`. The error is for the caller to report.
Result<Session> open_session(Context& context, Subject subject, const EngineTerms& terms, StoreUse use, Report report);

enum class About { Lock, Store };

// Understands the options, opens the store and runs `verb` with it. What goes wrong before is reported; the exit code.
int with_session(Context& context, const CommonOptions& common, About about, StoreUse use,
                 const std::function<int(Session&)>& verb);

}  // namespace hagi
