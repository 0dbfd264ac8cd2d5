// A verb of `hagi agent lock`: one file each, in one order: help with a worked example, options, run.
#pragma once

#include <functional>
#include <string_view>

#include "cmd/context.hpp"

namespace CLI {
class App;
}

namespace hagi {

// What is left to do once the command line is parsed; returns the exit code.
using Run = std::function<int(Context&)>;

struct Verb {
    std::string_view name;
    std::string_view summary;       // one line
    std::string_view example;       // commands that work when pasted, and what to know about them
    Run (*prepare)(CLI::App& app);  // adds the verb's options
};

extern const Verb kAcceptVerb;
extern const Verb kAcquireVerb;
extern const Verb kDoctorVerb;
extern const Verb kGuideVerb;
extern const Verb kHeartbeatVerb;
extern const Verb kListVerb;
extern const Verb kLogVerb;
extern const Verb kNudgeVerb;
extern const Verb kReleaseVerb;
extern const Verb kRenewVerb;
extern const Verb kRequisitionVerb;
extern const Verb kRunVerb;
extern const Verb kStatusVerb;
extern const Verb kStopVerb;

// `hagi mcp`, which is no verb of the lock but has the same form.
extern const Verb kMcpCommand;

}  // namespace hagi
