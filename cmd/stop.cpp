#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Reason> reason;
    std::optional<Epoch> epoch;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_reason(app, options->common, options->reason);
    add_epoch(app, options->epoch, "stop only this grant, else change nothing and exit 29");
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        if (const auto missing = missing_reason("stop", options->common, options->reason))
            return Report(context, options->common.form()).failure({}, failure_for(*missing));
        return with_session(context, options->common, About::Lock, StoreUse::Change, [&](Session& session) {
            return session.ask(StopRequest{*options->reason, options->epoch});
        });
    };
}

}  // namespace

const Verb kStopVerb = {
    "stop",
    "end somebody's hold: only on an explicit order of the user",
    "hagi agent lock stop --lock-id eu-1/duckov --owner ops --reason \"Ann: build 42 is broken\"\n"
    "The holder is told who stopped it and why, and the first in the queue gets its turn. Not held: exit 0, no change.",
    prepare,
};

}  // namespace hagi
