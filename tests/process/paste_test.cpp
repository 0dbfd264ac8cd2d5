// A refusal ends in a command: pasted into a shell it must be understood, and it must never teach to take a lock that
// somebody holds.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/process/hagi.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// Words that a shell and an option parser would misread where they are not quoted.
const std::string kLock = "-eu/a:b@c+d";
const std::string kAlice = "-al/ice";
const std::string kBob = "bob@home+1";

// With a store whose name needs quoting, named by an option, or by the environment.
class Desk {
public:
    explicit Desk(bool by_option) : by_option_(by_option) {}

    [[nodiscard]] Words words(const std::string& verb, const std::string& owner, const Words& more = {}) const {
        Words words{verb, "--lock-id=" + kLock, "--owner=" + owner};
        if (by_option_) words.push_back("--store=" + hagi.folder() + "/it's a $store.db");
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    [[nodiscard]] Finished run(const std::string& verb, const std::string& owner, const Words& more = {}) const {
        return hagi.run(words(verb, owner, more));
    }

    void done(const std::string& verb, const std::string& owner, const Words& more = {}) const {
        hagi.done(words(verb, owner, more));
    }

    // What is said must end in a command, which is then run as a reader would.
    void paste(const std::string& said) const {
        CAPTURE(said);
        check_words(said);
        const std::string command = command_in(said);
        CAPTURE(command);
        REQUIRE_FALSE(command.empty());
        const auto slash = std::string(HAGI_BINARY).rfind('/');
        const std::string path = "PATH=" + std::string(HAGI_BINARY).substr(0, slash) + ":$PATH; ";
        const Finished pasted = hagi.run_other({"sh", "-c", path + command});
        INFO(pasted.code << " " << pasted.out << pasted.err);
        for (const int misunderstood : {2, 20, 70, 126, 127}) CHECK(pasted.code != misunderstood);
        check_words(pasted.out + pasted.err);
    }

    Hagi hagi;

private:
    // "requisitioned by" tells the displaced what has happened; the verb itself is nobody's next step.
    static void check_words(std::string said) {
        for (std::size_t at = 0; (at = said.find("requisitioned by ")) != std::string::npos;)
            said.erase(at, std::string("requisitioned by ").size());
        CHECK(said.find("requisition") == std::string::npos);
    }

    static std::string command_in(const std::string& said) {
        const std::string lead = ": hagi agent lock ";
        std::istringstream lines(said);
        std::string command;
        for (std::string line; std::getline(lines, line);)
            if (const auto at = line.rfind(lead); at != std::string::npos) command = line.substr(at + 2);
        if (command.find("acquire") != std::string::npos && command.find("--wait") != std::string::npos)
            command += " --timeout 0";
        return command;
    }

    bool by_option_;
};

void paste_refusal(const Desk& desk, const Finished& refused, int code) {
    INFO(refused.out);
    CHECK(refused.code == code);
    desk.paste(refused.err);
}

TEST_CASE("the command in the refusal of a held lock, and in a Queued answer, can be pasted") {
    const Desk desk(GENERATE(false, true));
    desk.done("acquire", kAlice, {"--label", "it's \"mine\""});
    SECTION("no queue") { paste_refusal(desk, desk.run("acquire", kBob, {"--no-queue"}), 29); }
    SECTION("queued") { desk.paste(desk.run("acquire", kBob).out); }
    SECTION("status of the queued") {
        desk.done("acquire", kBob);
        desk.paste(desk.run("status", kBob).out);
    }
    SECTION("no queue though queued") {
        desk.done("acquire", kBob);
        paste_refusal(desk, desk.run("acquire", kBob, {"--no-queue"}), 29);
    }
    SECTION("timeout") { desk.paste(desk.run("acquire", kBob, {"--wait", "--timeout", "0"}).out); }
    SECTION("timeout with the place kept") {
        desk.paste(desk.run("acquire", kBob, {"--wait", "--timeout", "0", "--keep-place"}).out);
    }
    SECTION("accept by a stranger") { paste_refusal(desk, desk.run("accept", kBob), 29); }
    SECTION("another grant") {
        paste_refusal(desk, desk.run("requisition", kBob, {"--epoch", "9", "--reason", "order"}), 29);
    }
    SECTION("stop of another grant") {
        paste_refusal(desk, desk.run("stop", kBob, {"--epoch", "9", "--reason", "order"}), 29);
    }
    SECTION("too little left") { paste_refusal(desk, desk.run("accept", kAlice, {"--min-left", "601"}), 32); }
    SECTION("run without a queue") { paste_refusal(desk, desk.run("run", kBob, {"--no-queue", "--", "true"}), 29); }
    SECTION("run of the holder") { paste_refusal(desk, desk.run("run", kAlice, {"--", "true"}), 29); }
    SECTION("run of the queued") {
        desk.done("acquire", kBob);
        paste_refusal(desk, desk.run("run", kBob, {"--", "true"}), 29);
    }
    SECTION("run at its timeout") { paste_refusal(desk, desk.run("run", kBob, {"--timeout", "0", "--", "true"}), 31); }
    SECTION("run inside a grant of another") {
        paste_refusal(desk, desk.run("run", kBob, {"--epoch", "1", "--", "true"}), 29);
    }
}

TEST_CASE("the command in the refusal of a lock that nobody holds can be pasted") {
    const Desk desk(GENERATE(false, true));
    SECTION("never seen") {
        const auto [verb, more] = GENERATE(table<std::string, Words>({{"accept", {}}, {"nudge", {"--reason", "now"}}}));
        CAPTURE(verb);
        paste_refusal(desk, desk.run(verb, kBob, more), 24);
    }
    SECTION("free") {
        desk.done("acquire", kAlice);
        desk.done("release", kAlice);
        const auto [verb, more, code] = GENERATE(table<std::string, Words, int>({
            {"requisition", {"--epoch", "9", "--reason", "order"}, 29},
            {"accept", {}, 32},
            {"renew", {}, 32},
            {"run", {"--epoch", "1", "--", "true"}, 32},
        }));
        CAPTURE(verb);
        paste_refusal(desk, desk.run(verb, kBob, more), code);
    }
}

// Whatever asks for a grant that is over is told why and what next.
void paste_loss(const Desk& desk, const std::string& cause) {
    const auto [verb, more] = GENERATE(table<std::string, Words>({
        {"renew", {}},
        {"renew", {"--epoch", "1"}},
        {"accept", {}},
        {"accept", {"--epoch", "1"}},
        {"run", {"--epoch", "1", "--", "true"}},
    }));
    CAPTURE(verb, more);
    const Finished refused = desk.run(verb, kAlice, more);
    CHECK(refused.err.find(cause) != std::string::npos);
    paste_refusal(desk, refused, 32);
}

TEST_CASE("the command in the refusal of a grant that was lost can be pasted") {
    const Desk desk(GENERATE(false, true));
    SECTION("requisitioned") {
        desk.done("acquire", kAlice);
        desk.done("requisition", kBob, {"--reason", "order: hagi agent lock release"});
        paste_loss(desk, "requisitioned by");
    }
    SECTION("stopped") {
        desk.done("acquire", kAlice);
        desk.done("stop", kBob, {"--reason", "order"});
        paste_loss(desk, "stopped by");
    }
    SECTION("process gone") {
        CHECK(desk.run("run", kAlice, {"--", "sh", "-c", "kill -KILL $PPID; exec sleep 300"}).code == 128 + SIGKILL);
        while (desk.run("acquire", kBob, {"--no-queue"}).code == 29) continue;
        paste_loss(desk, "process gone");
    }
    SECTION("status tells") {
        desk.done("acquire", kAlice);
        desk.done("stop", kBob, {"--reason", "order"});
        desk.paste(desk.run("status", kAlice).out);
    }
    SECTION("in the queue again") {
        desk.done("acquire", kAlice);
        desk.done("requisition", kBob, {"--reason", "order"});
        desk.done("acquire", kAlice);
        paste_refusal(desk, desk.run("renew", kAlice, {"--epoch", "1"}), 32);
    }
    SECTION("stale epoch") {
        desk.done("acquire", kAlice);
        desk.done("release", kAlice);
        desk.done("acquire", kAlice);
        paste_refusal(desk, desk.run(GENERATE("renew", "accept"), kAlice, {"--epoch", "1"}), 32);
    }
    SECTION("a heartbeat of nothing") {
        desk.done("acquire", kBob);
        const Finished refused = desk.run("heartbeat", kAlice);
        CHECK(refused.code == 32);
        desk.paste(refused.out + refused.err);
    }
}

TEST_CASE("the command in the refusal of what time has ended can be pasted") {
    if (!can_travel()) return;
    const Desk desk(GENERATE(false, true));
    const auto later = [&](int seconds, const std::string& verb, const std::string& owner, const Words& more = {}) {
        return desk.hagi.run_later(seconds, desk.words(verb, owner, more));
    };
    SECTION("lease expired") {
        desk.done("acquire", kAlice);
        CHECK(later(601, "acquire", kBob).code == 0);
        paste_loss(desk, "lease expired");
    }
    SECTION("maximum hold") {
        desk.done("acquire", kAlice, {"--max-hold", "60"});
        CHECK(later(61, "acquire", kBob).code == 0);
        paste_loss(desk, "maximum hold");
    }
    SECTION("claim missed") {
        desk.done("acquire", kBob);
        desk.done("acquire", kAlice);
        desk.done("release", kBob);
        CHECK(later(31, "acquire", kBob).code == 0);
        const Finished refused = desk.run("renew", kAlice);
        CHECK(refused.err.find("claim missed") != std::string::npos);
        paste_refusal(desk, refused, 32);
    }
    SECTION("not polled") {
        desk.done("acquire", kBob);
        desk.done("acquire", kAlice);
        CHECK(later(61, "renew", kBob).code == 0);
        const Finished refused = desk.run("renew", kAlice);
        CHECK(refused.err.find("not polled") != std::string::npos);
        paste_refusal(desk, refused, 32);
        desk.paste(desk.run("status", kAlice).out);
    }
}

TEST_CASE("the command in a watcher's last line can be pasted") {
    const Desk desk(GENERATE(false, true));
    const auto [verb, reason] = GENERATE(table<std::string, Words>({
        {"requisition", {"--reason", "order"}},
        {"stop", {"--reason", "order"}},
        {"release", {}},
    }));
    CAPTURE(verb);
    const std::string by = verb == "release" ? kAlice : kBob;
    SECTION("heartbeat") {
        desk.done("acquire", kAlice);
        Process watcher = desk.hagi.start(desk.words("heartbeat", kAlice));
        watcher.await_line("Heartbeat of");
        desk.done(verb, by, reason);
        desk.paste(watcher.rest_of_output());
        CHECK(watcher.wait() == 32);
    }
    SECTION("run") {
        Process watcher = desk.hagi.start(desk.words("run", kAlice, {"--", "sh", "-c", "echo ready; exec sleep 300"}));
        watcher.await_line("ready");
        desk.done(verb, by, reason);
        CHECK(watcher.rest_of_output().empty());
        desk.paste(watcher.rest_of_errors());
        CHECK(watcher.wait() == 32);
    }
}

TEST_CASE("the command in the last line of who was dropped from the queue can be pasted") {
    const Desk desk(GENERATE(false, true));
    desk.done("acquire", kAlice);
    Process waiter = desk.hagi.start(desk.words("acquire", kBob, {"--wait"}));
    waiter.await_line("place 1 of 1");
    desk.done("release", kBob);
    desk.paste(waiter.rest_of_output());
    CHECK(waiter.wait() == 32);
}

// What stands between backquotes.
std::vector<std::string> commands_in(const std::string& said) {
    std::vector<std::string> commands;
    for (std::size_t at = 0; (at = said.find("`hagi ", at)) != std::string::npos;) {
        const std::size_t end = said.find('`', at + 1);
        REQUIRE(end != std::string::npos);
        commands.push_back(said.substr(at + 1, end - at - 1));
        at = end;
    }
    return commands;
}

TEST_CASE("the commands that a damaged store's messages name work for the store that was named") {
    const Desk desk(true);
    desk.done("acquire", kAlice);
    const std::string store = desk.hagi.folder() + "/it's a $store.db";
    std::fstream(store, std::ios::in | std::ios::out | std::ios::binary).seekp(4096) << std::string(40960, '\xff');
    std::filesystem::remove(store + "-wal");

    const Finished refused = desk.run("heartbeat", kAlice);
    CHECK(refused.code == 50);
    const auto doctor = commands_in(refused.out + refused.err);
    REQUIRE(doctor.size() == 1);
    const std::string path = "PATH=" + std::filesystem::path(HAGI_BINARY).parent_path().string() + ":$PATH; ";
    const Finished examined = desk.hagi.run_other({"sh", "-c", path + doctor.front()});
    INFO(examined.out << examined.err);
    CHECK(examined.code == 50);
    const auto rebuild = commands_in(examined.out + examined.err);
    REQUIRE_FALSE(rebuild.empty());
    for (const std::string& command : rebuild) {
        const Finished rebuilt = desk.hagi.run_other({"sh", "-c", path + command});
        INFO(command << "\n" << rebuilt.out << rebuilt.err);
        CHECK((rebuilt.code == 0 || rebuilt.code == 50));
        CHECK((rebuilt.out + rebuilt.err).find(store.substr(0, store.find('\''))) != std::string::npos);
        std::filesystem::remove(store + ".rebuilt");
    }
    CHECK_FALSE(std::filesystem::exists(desk.hagi.store()));
}

}  // namespace
}  // namespace hagi::test
