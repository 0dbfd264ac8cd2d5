#include "cmd/session.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Reason> reason;
    std::optional<Label> label;
    std::optional<Epoch> epoch;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_reason(app, options->common, options->reason);
    add_checked(app, "--label", options->common, options->label, parse_label, "what the lock is wanted for");
    add_epoch(app, options->epoch, "displace only this grant, else change nothing and exit 29");
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        if (const auto missing = missing_reason("requisition", options->common, options->reason))
            return Report(context, options->common.form()).failure({}, failure_for(*missing));
        return with_session(context, options->common, About::Lock, StoreUse::Create, [&](Session& session) {
            return session.ask(RequisitionRequest{*options->reason, options->label.value_or(Label{}), options->epoch});
        });
    };
}

}  // namespace

const Verb kRequisitionVerb = {
    "requisition",
    "take the lock at once: only on an explicit order of the user",
    "hagi agent lock requisition --lock-id eu-1/duckov --owner sess-9 --reason \"Ann: hotfix 12 goes first\"\n"
    "The holder loses the lock in the middle of its work and is told who took it and why.",
    prepare,
};

}  // namespace hagi
