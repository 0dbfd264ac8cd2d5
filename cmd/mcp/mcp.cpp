#include "cmd/mcp/server.hpp"
#include "cmd/options.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    std::optional<std::string> store;
    std::optional<Duration> busy_timeout;
    bool heartbeat = false;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_flag(app, "--heartbeat", options->heartbeat,
             "keep what the client claimed alive for as long as the client lives, and tell it of every loss");
    add_string(app, "--store", options->store,
               "the store's file; else HAGI_LOCK_STORE, else $XDG_STATE_HOME/hagi/locks.db");
    add_seconds(app, "--busy-timeout", options->busy_timeout, 0s, kMaxBusyTimeout,
                "how long to wait for a busy store (default 5)");
    return [options](Context& context) {
        mcp::ServeTerms terms;
        terms.engine = {options->store, options->busy_timeout.value_or(kBusyTimeout)};
        terms.keep = options->heartbeat ? mcp::Keep::Claims : mcp::Keep::Nothing;
        return mcp::serve(context, terms);
    };
}

}  // namespace

const Verb kMcpCommand = {
    "mcp",
    "the locks as tools of the Model Context Protocol, on stdin and stdout",
    "hagi mcp --heartbeat\n"
    "It is started by a client (Claude Code, an IDE), one message a line, until the end of its input.",
    prepare,
};

}  // namespace hagi
