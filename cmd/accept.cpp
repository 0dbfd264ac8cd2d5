#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Epoch> epoch;
    std::optional<Duration> minimum_left;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_epoch(app, options->epoch, "only this grant");
    add_seconds(app, "--min-left", options->minimum_left, 0s, kMaximumHold,
                "refuse when less than this is left of the lease");
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        return with_session(context, options->common, About::Lock, StoreUse::Change, [&](Session& session) {
            return session.ask(AcceptRequest{options->epoch, options->minimum_left.value_or(0s)});
        });
    };
}

}  // namespace

const Verb kAcceptVerb = {
    "accept",
    "guard the start of work: only exit 0 authorizes it",
    "hagi agent lock accept --lock-id eu-1/duckov --owner sess-7f2c --epoch 7 --min-left 120 && ./deploy\n"
    "Between getting a lock and starting work a process can be paused past its lease; this looks once more. It is no\n"
    "heartbeat, and repeating it answers the first time again.",
    prepare,
};

}  // namespace hagi
