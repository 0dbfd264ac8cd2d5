#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<std::string> prefix;
    bool all = false;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_string(app, "--prefix", options->prefix, "only locks whose id begins with this");
    add_flag(app, "--all", options->all, "also locks that are idle");
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    return [options](Context& context) {
        return with_session(context, options->common, About::Store, StoreUse::ReadOnly, [&](Session& session) {
            const auto answer = session.engine->list({options->prefix.value_or(""), options->all});
            if (!answer) return session.fail(answer.error());
            return session.report.list(session.subject, *answer);
        });
    };
}

}  // namespace

const Verb kListVerb = {
    "list",
    "who holds what, and who waits; changes nothing, needs no owner",
    "hagi agent lock list --prefix eu-1/",
    prepare,
};

}  // namespace hagi
