#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Epoch> epoch;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_epoch(app, options->epoch, "give back only this grant, never a place in the queue");
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        return with_session(context, options->common, About::Lock, StoreUse::Change,
                            [&](Session& session) { return session.ask(ReleaseRequest{options->epoch}); });
    };
}

}  // namespace

const Verb kReleaseVerb = {
    "release",
    "give the lock back, or leave its queue",
    "hagi agent lock release --lock-id eu-1/duckov --owner sess-7f2c --epoch 7\n"
    "Exit 0 whether or not anything was held; the answer says what was given back. The next in the\n"
    "queue gets it at once.",
    prepare,
};

}  // namespace hagi
