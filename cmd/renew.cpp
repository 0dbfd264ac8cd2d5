#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    RenewRequest request;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_epoch(app, options->request.epoch, "only this grant");
    add_seconds(app, "--lease-seconds", options->request.lease, kMinLease, kMaxLease, "change the lease");
    add_checked(app, "--phase", options->common, options->request.progress.phase, parse_phase,
                "what the work is at, e.g. compile");
    add_checked(app, "--note", options->common, options->request.progress.note, parse_note, "a note on progress");
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        return with_session(context, options->common, About::Lock, StoreUse::Change,
                            [&](Session& session) { return session.ask(options->request); });
    };
}

}  // namespace

const Verb kRenewVerb = {
    "renew",
    "one heartbeat: keep the lock for another lease, report progress",
    "hagi agent lock renew --lock-id eu-1/duckov --owner sess-7f2c --epoch 7 --phase upload\n"
    "Exit 32 when the lock is no longer yours: stop using it.",
    prepare,
};

}  // namespace hagi
