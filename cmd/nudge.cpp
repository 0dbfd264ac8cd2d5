#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Reason> reason;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_reason(app, options->common, options->reason);
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        if (const auto missing = missing_reason("nudge", options->common, options->reason))
            return Report(context, options->common.form()).failure({}, failure_for(*missing));
        return with_session(context, options->common, About::Lock, StoreUse::Change,
                            [&](Session& session) { return session.ask(NudgeRequest{*options->reason}); });
    };
}

}  // namespace

const Verb kNudgeVerb = {
    "nudge",
    "ask the holder politely; changes nothing else",
    "hagi agent lock nudge --lock-id eu-1/duckov --owner sess-9 --reason \"a release waits for this, how long "
    "still?\"\n"
    "Shown by the holder's watcher, in its next answer and in list; gone with the grant.",
    prepare,
};

}  // namespace hagi
