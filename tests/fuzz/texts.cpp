// Texts that another program wrote into the store: whatever they are, no verb shows them so that they are obeyed, and
// JSON stays JSON. The first byte says how the input is cut into owner, label, phase, note and reason.
#include <sstream>
#include <vector>

#include "tests/cli/world.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/terminal_text.hpp"

namespace hagi::test {
namespace {

using Words = std::vector<std::string>;

void check(World& world, const Words& verb) {
    Words words{"agent", "lock"};
    words.insert(words.end(), verb.begin(), verb.end());
    for (const bool json : {false, true}) {
        if (json) words.emplace_back("--json");
        world.stop_when_it_sleeps();
        const Ran ran = world.run(words);
        require(ran.exit_code < 50, "exit code " + std::to_string(ran.exit_code));
        for (const auto* const written : {&ran.out, &ran.err}) {
            for (const Written& piece : *written) {
                std::istringstream lines(piece.text);
                for (std::string line; std::getline(lines, line);) {
                    require(!is_obeyed(line), "a line is obeyed: " + line);
                    require(!line.starts_with("INJECTED"), "a text has begun a line of its own");
                    if (json) require(is_json(line), "a line is no JSON: " + line);
                }
            }
        }
    }
}

}  // namespace
}  // namespace hagi::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hagi;
    using namespace hagi::test;
    if (size < 2) return 0;
    const std::size_t piece = std::max<std::size_t>(1, data[0] % 64U);
    const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
    const auto part = [&](std::size_t nth) {
        return nth * piece < text.size() ? text.substr(nth * piece, piece) : text;
    };
    const LockId lock("a");
    const Owner stranger(part(0) == "me" ? "you" : part(0));
    AcquireRequest request;
    request.label = Label(part(1));
    request.progress = {Phase(part(2)), Note(part(3))};

    World world;
    world.plant(lock, {stranger, request});
    world.plant(lock, {Owner(part(4) + "'s friend"), request});
    world.plant(lock, {Owner("nudger " + part(4)), NudgeRequest{Reason(part(4))}});
    world.plant(LockId(text), {stranger, request});
    const Words me{"--lock-id", "a", "--owner", "me"};
    const auto with_me = [&](Words words, const Words& more = {}) {
        words.insert(words.end(), me.begin(), me.end());
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    for (const Words& words : {Words{"list", "--stuck-after", "1"}, Words{"log"}, with_me({"status"}),
                               with_me({"acquire", "--no-queue"}), with_me({"acquire"}), with_me({"acquire", "--wait"}),
                               with_me({"accept"}), with_me({"renew"}), with_me({"requisition"}, {"--reason", "r"})})
        check(world, words);
    world.plant(lock, {stranger, RequisitionRequest{Reason(part(4)), Label(part(1)), {}}});
    for (const Words& words : {with_me({"status"}), with_me({"renew"}), with_me({"heartbeat"}), with_me({"acquire"}),
                               Words{"list", "--all"}, Words{"log"}})
        check(world, words);
    return 0;
}
