#include "cmd/guide_text.hpp"
#include "cmd/options.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;  // the store's are taken as every verb takes them, and no store is touched
    bool skill = false;
};

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_flag(app, "--skill", options->skill, "the skill file that leads to the guide, with its front matter");
    add_store_options(app, options->common);
    return [options](Context& context) {
        return Report(context, options->common.form()).guide(options->skill ? kSkillText : kGuideText);
    };
}

}  // namespace

const Verb kGuideVerb = {
    "guide",
    "the guide for agents: the rules of taking turns, and recipes",
    "hagi agent lock guide\n"
    "Printed from this program, so it is of the same version. To teach an agent that reads skill files:\n"
    "mkdir -p skills/hagi/references\n"
    "hagi agent lock guide --skill >skills/hagi/SKILL.md\n"
    "hagi agent lock guide >skills/hagi/references/resource-lock.md",
    prepare,
};

}  // namespace hagi
