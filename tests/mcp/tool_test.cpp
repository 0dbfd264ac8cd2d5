// The tools on a store in memory, with a clock that the test moves.
//
//     t=SECONDS TOOL ARGUMENTS => MEMBERS        succeeds with at least these members
//     t=SECONDS TOOL ARGUMENTS => failed TEXT    fails with a sentence that contains TEXT
#include <algorithm>
#include <sstream>

#include "cmd/mcp/worker.hpp"
#include "tests/cli/world.hpp"
#include "tests/mcp/covers.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using mcp::Json;
using mcp::Tool;
using mcp::ToolResult;

class Never : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return false; }
};

std::vector<const Tool*> all_tools() {
    std::vector<const Tool*> tools;
    for (const auto& some : {mcp::host_tools(), mcp::lock_tools()})
        for (const Tool& tool : some) tools.push_back(&tool);
    return tools;
}

class Desk {
public:
    ToolResult call(const std::string& name, const Json& arguments) {
        const Tool* const tool = mcp::find_tool(name);
        REQUIRE(tool != nullptr);
        ToolResult result;
        world.lend([&](Context& context) {
            Never never;
            result = mcp::run_call(*tool, arguments, context, {}, never,
                                   [&](const WatchEvent& event) { said.push_back(event.message); });
        });
        return result;
    }

    void play(const std::string& script) {
        std::istringstream lines(script);
        for (std::string line; std::getline(lines, line);)
            if (line.find_first_not_of(' ') != std::string::npos) play_line(line.substr(line.find_first_not_of(' ')));
    }

    World world;
    std::vector<std::string> said;

private:
    void play_line(const std::string& line) {
        INFO(line);
        const auto arrow = line.find(" => ");
        REQUIRE(arrow != std::string::npos);
        std::istringstream words(line.substr(0, arrow));
        std::string time;
        std::string tool;
        std::string arguments;
        std::getline(words >> time >> tool >> std::ws, arguments);
        const Duration at = std::chrono::seconds{std::stoi(time.substr(2))};
        world.advance(at - at_);
        at_ = at;

        const ToolResult result = call(tool, Json::parse(arguments));
        INFO("found " << result.document.dump());
        const std::string expected = line.substr(arrow + 4);
        if (expected.rfind("failed ", 0) == 0) {
            CHECK(result.sentence.find(expected.substr(7)) != std::string::npos);
            CHECK(result.document["error"]["message"] == result.sentence);
        } else {
            CHECK(result.sentence.empty());
            CHECK(covers(result.document, Json::parse(expected)));
        }
    }

    Duration at_{};
};

void check_calls(const std::string& script) { Desk().play(script); }

// ---- Hosts ----

TEST_CASE("a host that is claimed is refused to others, saying who has it, at what, how old, and what to do instead") {
    check_calls(R"(
        t=0   claim_host {"host_id":"h","owner":"ws/a","phase":"compile","note":"demo"} => {"host_id":"h","owner":"ws/a","ttl_sec":600,"age_sec":0,"fresh":true,"phase":"compile","phase_age_sec":0,"note":"demo","stuck":false,"stuck_reason":""}
        t=90  claim_host {"host_id":"h","owner":"b"} => failed host h is claimed by ws/a (phase compile for 1 min 30 s, note "demo"), last heard from 1 min 30 s ago, and stays so until 2023-11-14T22:23:20Z unless it is heard from again: use a free host (list_hosts shows them), or try again after that
        t=90  claim_host {"host_id":"other","owner":"b"} => {"host_id":"other","owner":"b","phase":"","phase_since":null,"phase_age_sec":null,"note":""}
        t=91  list_hosts {} => {"hosts":[{"host_id":"h","claimed":true,"owner":"ws/a","acquired_at":"2023-11-14T22:13:20.000Z","heartbeat_at":"2023-11-14T22:13:20.000Z","ttl_sec":600,"age_sec":91,"fresh":true,"phase":"compile","phase_since":"2023-11-14T22:13:20.000Z","phase_age_sec":91,"note":"demo","stuck":false,"stuck_reason":""},{"host_id":"other","claimed":true,"owner":"b","acquired_at":"2023-11-14T22:14:50.000Z","heartbeat_at":"2023-11-14T22:14:50.000Z","ttl_sec":600,"age_sec":1,"fresh":true,"phase":"","phase_since":null,"phase_age_sec":null,"note":"","stuck":false,"stuck_reason":""}]}
    )");
}

TEST_CASE("a refusal never shows the way to take a live claim") {
    Desk desk;
    desk.call("claim_host", {{"host_id", "h"}, {"owner", "a"}});
    for (const ToolResult& refused : {desk.call("claim_host", {{"host_id", "h"}, {"owner", "b"}}),
                                      desk.call("heartbeat_host", {{"host_id", "h"}, {"owner", "b"}}),
                                      desk.call("lock_accept", {{"lock_id", "host/h"}, {"owner", "b"}}),
                                      desk.call("lock_renew", {{"lock_id", "host/h"}, {"owner", "b"}})}) {
        INFO(refused.sentence);
        CHECK_FALSE(refused.sentence.empty());
        CHECK(refused.sentence.find("force") == std::string::npos);
        CHECK(refused.sentence.find("requisition") == std::string::npos);
    }
}

TEST_CASE("repeating a claim is safe, reports, and does not renew; a heartbeat renews") {
    check_calls(R"(
        t=0    claim_host {"host_id":"h","owner":"a","ttl_sec":60} => {"ttl_sec":60,"age_sec":0}
        t=50   claim_host {"host_id":"h","owner":"a","ttl_sec":600,"phase":"test"} => {"ttl_sec":60,"age_sec":50,"phase":"test","acquired_at":"2023-11-14T22:13:20.000Z"}
        t=59   heartbeat_host {"host_id":"h","owner":"a","note":"half"} => {"ttl_sec":60,"age_sec":0,"phase":"test","phase_age_sec":9,"note":"half"}
        t=118  heartbeat_host {"host_id":"h","owner":"a"} => {"phase":"test","note":"half"}
        t=178  claim_host {"host_id":"h","owner":"a"} => {"acquired_at":"2023-11-14T22:16:18.000Z","phase":""}
    )");
}

TEST_CASE("a stale claim is taken over by itself, and its owner is told to whom it went") {
    check_calls(R"(
        t=0   claim_host {"host_id":"h","owner":"a","ttl_sec":60} => {"fresh":true}
        t=59  claim_host {"host_id":"h","owner":"b"} => failed claimed by a
        t=60  claim_host {"host_id":"h","owner":"b","phase":"deploy"} => {"owner":"b","age_sec":0}
        t=61  heartbeat_host {"host_id":"h","owner":"a"} => failed host h is not yours any more (lease expired at 2023-11-14T22:14:20Z): stop using it; now it is claimed by b (phase deploy for 1 s), last heard from 1 s ago: claim_host tells
        t=62  release_host {"host_id":"h","owner":"b"} => {"host_id":"h","owner":"b","released":"hold"}
        t=62  release_host {"host_id":"h","owner":"b"} => {"released":"nothing"}
        t=63  heartbeat_host {"host_id":"h","owner":"a"} => failed now it is free
        t=63  heartbeat_host {"host_id":"h","owner":"c"} => failed host h is not yours (not the holder): do not use it
        t=64  list_hosts {} => {"hosts":[{"host_id":"h","claimed":false}]}
    )");
}

TEST_CASE("force takes a fresh claim, says who forced it, and is logged") {
    check_calls(R"(
        t=0  claim_host {"host_id":"h","owner":"a","phase":"soak"} => {"owner":"a"}
        t=5  claim_host {"host_id":"h","owner":"b","force":true,"ttl_sec":120,"phase":"fix","note":"Ann: hotfix 12"} => {"owner":"b","ttl_sec":120,"phase":"fix","note":"Ann: hotfix 12"}
        t=6  heartbeat_host {"host_id":"h","owner":"a"} => failed (requisitioned at 2023-11-14T22:13:25Z by b, "forced by b with claim_host: Ann: hotfix 12")
        t=6  lock_log {"lock_id":"host/h","owner":"b","limit":3} => {"events":[{"seq":2,"at":"2023-11-14T22:13:25.000Z","event":"requisitioned","lockId":"host/h","owner":"a","epoch":1,"by":"b","reason":"forced by b with claim_host: Ann: hotfix 12","cause":"requisitioned"},{"seq":3,"at":"2023-11-14T22:13:25.000Z","event":"granted","lockId":"host/h","owner":"b","epoch":2}]}
        t=7  claim_host {"host_id":"h","owner":"b","force":true,"phase":"test"} => {"acquired_at":"2023-11-14T22:13:25.000Z","phase":"test"}
        t=8  claim_host {"host_id":"free","owner":"b","force":true} => {"host_id":"free","owner":"b"}
        t=8  lock_log {"lock_id":"host/free"} => {"events":[{"seq":4,"at":"2023-11-14T22:13:28.000Z","event":"granted","lockId":"host/free","owner":"b","epoch":1}]}
    )");
    const std::string long_note(200, 'n');
    Desk desk;
    desk.call("claim_host", {{"host_id", "h"}, {"owner", "a"}});
    desk.call("claim_host", {{"host_id", "h"}, {"owner", "b"}, {"force", true}, {"note", long_note}});
    const auto lost = desk.call("heartbeat_host", {{"host_id", "h"}, {"owner", "a"}});
    CHECK(lost.sentence.find("\"forced by b with claim_host\"") != std::string::npos);
}

TEST_CASE("a host and its lock are one thing, for the tools and for a shell") {
    Desk desk;
    desk.play(R"(
        t=0  claim_host {"host_id":"h","owner":"a"} => {"owner":"a"}
        t=1  lock_status {"lock_id":"host/h","owner":"a"} => {"status":"Holding","epoch":1}
        t=1  lock_acquire {"lock_id":"host/h","owner":"b"} => {"status":"Queued","position":1}
        t=2  release_host {"host_id":"h","owner":"b"} => {"released":"queue"}
    )");
    CHECK(desk.world.run({"agent", "lock", "release", "--lock-id", "host/h", "--owner", "a"}).exit_code == 0);
    desk.play("t=2 list_hosts {} => {\"hosts\":[{\"host_id\":\"h\",\"claimed\":false}]}");
    desk.world.run({"agent", "lock", "acquire", "--lock-id", "host/h", "--owner", "shell", "--phase", "x"});
    desk.play("t=2 claim_host {\"host_id\":\"h\",\"owner\":\"a\"} => failed claimed by shell (phase x for 0 s)");
}

TEST_CASE("work that makes no progress is shown as stuck") {
    check_calls(R"(
        t=0     claim_host {"host_id":"h","owner":"a","phase":"link"} => {"stuck":false}
        t=599   heartbeat_host {"host_id":"h","owner":"a"} => {"stuck":false}
        t=1198  heartbeat_host {"host_id":"h","owner":"a"} => {"stuck":false}
        t=1797  heartbeat_host {"host_id":"h","owner":"a"} => {"stuck":false}
        t=1801  heartbeat_host {"host_id":"h","owner":"a"} => {"stuck":true,"stuck_reason":"phase link has not changed for 30 min 1 s","fresh":true}
    )");
}

TEST_CASE("what a host tool is given must meet the rules of the texts") {
    check_calls(R"(
        t=0  claim_host {"host_id":"","owner":"a"} => failed the host id: it is empty
        t=0  claim_host {"host_id":"a b","owner":"a"} => failed the lock id
        t=0  claim_host {"host_id":"..","owner":"a"} => failed the lock id
        t=0  claim_host {"host_id":"h","owner":"a b"} => failed the owner
        t=0  claim_host {"host_id":"h"} => failed owner is missing
        t=0  claim_host {"host_id":"h","owner":"a","phase":"two words"} => failed the phase
        t=0  claim_host {"host_id":"h","owner":"a","note":"two\nlines"} => failed the note
        t=0  claim_host {"host_id":"h","owner":"a","ttl_sec":59} => failed ttl_sec is not a whole number from 60 to 600
        t=0  claim_host {"host_id":"h","owner":"a","ttl_sec":601} => failed ttl_sec
        t=0  list_hosts {} => {"hosts":[]}
    )");
}

// ---- Locks ----

TEST_CASE("the lock tools answer as the command line does") {
    struct Pair {
        std::string tool;
        Json arguments;
        std::vector<std::string> words;
    };
    // Each is asked on a world of its own, after the same history.
    const std::vector<Pair> pairs{
        {"lock_acquire", {{"lock_id", "a"}, {"owner", "x"}}, {"acquire", "--lock-id", "a", "--owner", "x"}},
        {"lock_acquire",
         {{"lock_id", "free"},
          {"owner", "x"},
          {"label", "l"},
          {"phase", "p"},
          {"note", "n"},
          {"lease_sec", 60},
          {"max_hold_sec", 100}},
         {"acquire", "--lock-id", "free", "--owner", "x", "--label", "l", "--phase", "p", "--note", "n",
          "--lease-seconds", "60", "--max-hold", "100"}},
        {"lock_status", {{"lock_id", "a"}, {"owner", "holder"}}, {"status", "--lock-id", "a", "--owner", "holder"}},
        {"lock_status", {{"lock_id", "a"}, {"owner", "waiter"}}, {"status", "--lock-id", "a", "--owner", "waiter"}},
        {"lock_renew",
         {{"lock_id", "a"}, {"owner", "holder"}, {"epoch", 1}, {"lease_sec", 90}, {"phase", "q"}},
         {"renew", "--lock-id", "a", "--owner", "holder", "--epoch", "1", "--lease-seconds", "90", "--phase", "q"}},
        {"lock_accept", {{"lock_id", "a"}, {"owner", "holder"}}, {"accept", "--lock-id", "a", "--owner", "holder"}},
        {"lock_release", {{"lock_id", "a"}, {"owner", "holder"}}, {"release", "--lock-id", "a", "--owner", "holder"}},
        {"lock_release", {{"lock_id", "a"}, {"owner", "x"}}, {"release", "--lock-id", "a", "--owner", "x"}},
        {"lock_requisition",
         {{"lock_id", "a"}, {"owner", "x"}, {"reason", "Ann"}, {"label", "l"}},
         {"requisition", "--lock-id", "a", "--owner", "x", "--reason", "Ann", "--label", "l"}},
        {"lock_list", Json::object(), {"list"}},
        {"lock_list", {{"prefix", "a"}, {"all", true}}, {"list", "--prefix", "a", "--all"}},
        {"lock_log", {{"limit", 2}, {"since", "1h"}}, {"log", "--limit", "2", "--since", "1h"}},
    };
    const auto furnish = [](World& world) {
        world.run({"agent", "lock", "acquire", "--lock-id", "a", "--owner", "holder", "--label", "work"});
        world.run({"agent", "lock", "acquire", "--lock-id", "a", "--owner", "waiter"});
        world.advance(std::chrono::seconds{7});
    };
    for (const Pair& pair : pairs) {
        CAPTURE(pair.tool);
        CAPTURE(pair.arguments.dump());
        Desk desk;
        furnish(desk.world);
        const ToolResult result = desk.call(pair.tool, pair.arguments);
        CHECK(result.sentence.empty());

        World shell;
        furnish(shell);
        std::vector<std::string> words{"agent", "lock"};
        words.insert(words.end(), pair.words.begin(), pair.words.end());
        words.emplace_back("--json");
        const Ran ran = shell.run(words);
        REQUIRE(ran.exit_code == 0);
        CHECK(result.document == Json::parse(ran.out.at(0).text));
    }
}

TEST_CASE("a refusal of a lock names the next call") {
    check_calls(R"(
        t=0  lock_acquire {"lock_id":"a","owner":"x","label":"work"} => {"status":"Holding","epoch":1}
        t=1  lock_acquire {"lock_id":"a","owner":"y","no_queue":true} => failed a is held by x for "work", since 2023-11-14T22:13:20Z, valid until 2023-11-14T22:23:20Z; you are not in its queue: to wait for your turn, run: lock_acquire {"lock_id":"a","owner":"y","wait_sec":50}
        t=1  lock_renew {"lock_id":"a","owner":"y"} => failed run: lock_acquire {"lock_id":"a","owner":"y","wait_sec":50}
        t=1  lock_renew {"lock_id":"a","owner":"x","epoch":7} => failed run: lock_status {"lock_id":"a","owner":"x"}
        t=1  lock_accept {"lock_id":"a","owner":"x","min_left_sec":600} => failed run: lock_renew {"lock_id":"a","owner":"x","epoch":1}
        t=1  lock_accept {"lock_id":"b","owner":"x"} => failed run: lock_acquire {"lock_id":"b","owner":"x"}
        t=1  lock_requisition {"lock_id":"a","owner":"y","reason":"Ann","epoch":2} => failed to wait for your turn
    )");
}

TEST_CASE("who the caller is comes from its arguments, else from the server's environment, and is never invented") {
    Desk desk;
    desk.play(R"(t=0 lock_acquire {"lock_id":"a"} => failed owner is missing: give your own session id)");
    desk.world.environment()["HAGI_SESSION_ID"] = "session";
    desk.play(R"(t=0 lock_acquire {"lock_id":"a"} => {"owner":"session"})");
    desk.world.environment()["HAGI_LOCK_OWNER"] = "owner";
    desk.play(R"(t=0 lock_acquire {"lock_id":"b"} => {"owner":"owner"})");
    desk.play(R"(t=0 lock_acquire {"lock_id":"c","owner":"me"} => {"owner":"me"})");
    desk.play(R"(t=0 lock_acquire {"lock_id":"c","owner":"not me"} => failed the owner)");
    desk.world.environment()["HAGI_LOCK_OWNER"] = "two words";
    desk.play(R"(t=0 lock_acquire {"lock_id":"c"} => failed the owner)");
    desk.world.environment()["HAGI_LOCK_STUCK_AFTER"] = "never";
    desk.play(R"(t=0 lock_list {} => failed HAGI_LOCK_STUCK_AFTER)");
    desk.play(R"(t=0 list_hosts {} => failed HAGI_LOCK_STUCK_AFTER)");
}

TEST_CASE("acquire waits for its turn, and keeps its place when the time is up") {
    Desk desk;
    desk.play(R"(
        t=0  lock_acquire {"lock_id":"a","owner":"x"} => {"status":"Holding"}
        t=0  lock_acquire {"lock_id":"a","owner":"y","wait_sec":50} => {"status":"Queued","position":1}
    )");
    CHECK(desk.said.size() == 1);
    CHECK(desk.said.at(0).find("to see where you stand: lock_status {\"lock_id\":\"a\",\"owner\":\"y\"}") !=
          std::string::npos);
    CHECK(desk.call("lock_status", {{"lock_id", "a"}, {"owner", "y"}}).document["status"] == "Queued");

    desk.world.plan(std::chrono::seconds{20}, World::Sleeper::Wakes, [&] {
        desk.world.run_beside({"agent", "lock", "release", "--lock-id", "a", "--owner", "x"});
    });
    const ToolResult granted = desk.call("lock_acquire", {{"lock_id", "a"}, {"owner", "y"}, {"wait_sec", 50}});
    CHECK(granted.document["status"] == "Holding");
    REQUIRE(granted.claimed);
    CHECK(granted.claimed->epoch == Epoch{2});
    CHECK_FALSE(desk.call("lock_acquire", {{"lock_id", "a"}, {"owner", "z"}, {"wait_sec", 5}, {"no_queue", true}})
                    .sentence.empty());
}

TEST_CASE("what is kept alive for a client is what it claims, not what it looks at") {
    Desk desk;
    const auto call = [&](const std::string& tool, const Json& arguments) { return desk.call(tool, arguments); };
    CHECK(call("claim_host", {{"host_id", "h"}, {"owner", "a"}}).claimed->epoch == Epoch{1});
    CHECK(call("heartbeat_host", {{"host_id", "h"}, {"owner", "a"}}).claimed);
    CHECK_FALSE(call("claim_host", {{"host_id", "h"}, {"owner", "b"}}).claimed);
    CHECK_FALSE(call("lock_status", {{"lock_id", "host/h"}, {"owner", "a"}}).claimed);
    const ToolResult queued = call("lock_acquire", {{"lock_id", "host/h"}, {"owner", "b"}});
    REQUIRE(queued.claimed);
    CHECK_FALSE(queued.claimed->epoch);
    CHECK_FALSE(call("lock_release", {{"lock_id", "host/h"}, {"owner", "a"}, {"epoch", 9}}).given_back);
    CHECK(call("release_host", {{"host_id", "h"}, {"owner", "a"}}).given_back);
    CHECK(call("lock_release", {{"lock_id", "host/h"}, {"owner", "b"}}).given_back);
}

// ---- Kept alive ----

class Until : public StopSource {
public:
    Until(Context& context, Duration length) : context_(context), at_(context.steady_now() + length) {}
    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return context_.steady_now() >= at_; }

private:
    Context& context_;
    Duration at_;
};

// What is said while `claim` is kept for so long.
std::vector<std::string> keep(Desk& desk, const mcp::Standing& claim, Duration length) {
    std::vector<std::string> said;
    desk.world.lend([&](Context& context) {
        Until until(context, length);
        mcp::keep_claim(context, {}, claim, until, [&](const WatchEvent& event) { said.push_back(event.message); });
    });
    return said;
}

std::ptrdiff_t count(const std::vector<std::string>& said, const std::string& words) {
    return std::count_if(said.begin(), said.end(),
                         [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

TEST_CASE("a claim that is kept outlives its ttl many times, is shown as stuck, and lapses when it is not kept") {
    Desk desk;
    const ToolResult claimed =
        desk.call("claim_host", {{"host_id", "h"}, {"owner", "a"}, {"ttl_sec", 60}, {"phase", "link"}});
    const auto said = keep(desk, *claimed.claimed, std::chrono::seconds{3600});
    CHECK(count(said, "Stuck: phase link") == 1);
    CHECK(count(said, "Lost") == 0);
    const Json kept = desk.call("list_hosts", Json::object()).document["hosts"][0];
    CHECK(kept["acquired_at"] == claimed.document["acquired_at"]);
    CHECK(kept["fresh"] == true);
    CHECK(kept["stuck"] == true);
    desk.world.advance(std::chrono::seconds{61});
    CHECK(desk.call("list_hosts", Json::object()).document["hosts"][0]["claimed"] == false);
}

TEST_CASE("a place that is kept is heard from until its turn, which is claimed and kept") {
    Desk desk;
    desk.call("lock_acquire", {{"lock_id", "a"}, {"owner", "x"}});
    const ToolResult queued = desk.call("lock_acquire", {{"lock_id", "a"}, {"owner", "y"}});
    desk.world.plan(std::chrono::seconds{300}, World::Sleeper::Wakes, [&] {
        desk.world.run_beside({"agent", "lock", "release", "--lock-id", "a", "--owner", "x"});
    });
    const auto said = keep(desk, *queued.claimed, std::chrono::seconds{3600});
    CHECK(count(said, "Holding a epoch 2 owner y") == 1);
    CHECK(desk.call("lock_status", {{"lock_id", "a"}, {"owner", "y"}}).document["epoch"] == 2);
}

TEST_CASE("keeping ends with the loss, and makes no place of its own") {
    Desk desk;
    const ToolResult claimed = desk.call("claim_host", {{"host_id", "h"}, {"owner", "a"}});
    desk.world.plan(std::chrono::seconds{30}, World::Sleeper::Wakes, [&] {
        desk.world.run_beside(
            {"agent", "lock", "requisition", "--lock-id", "host/h", "--owner", "ann", "--reason", "hotfix"});
    });
    CHECK(count(keep(desk, *claimed.claimed, std::chrono::seconds{3600}), "Lost host/h epoch 1 owner a") == 1);

    const mcp::Standing no_place{LockId("host/h"), Owner("b"), std::nullopt};
    CHECK(count(keep(desk, no_place, std::chrono::seconds{3600}), "Dropped from the queue") == 1);
    CHECK(desk.call("lock_status", {{"lock_id", "host/h"}, {"owner", "b"}}).document["status"] == "None");
}

// ---- Failures ----

TEST_CASE("a store that cannot be used is a failure in one sentence, of every tool") {
    for (const Tool* tool : all_tools()) {
        CAPTURE(tool->name);
        Json arguments = Json::object();
        for (const mcp::Field& field : tool->fields)
            if (field.need == mcp::Need::Required || field.name == "owner") arguments[std::string(field.name)] = "a";
        Desk desk;
        desk.world.plan_failed_opening({ErrorKind::Damaged, "the store is damaged: run doctor"});
        const ToolResult unopened = desk.call(std::string(tool->name), arguments);
        CHECK(unopened.sentence == "the store is damaged: run doctor");
        CHECK(unopened.document["error"]["code"] == "BACKEND_FAILED");
        desk.world.plan_failure(Duration{0}, std::chrono::seconds{9}, {ErrorKind::Unreachable, "busy: try again"});
        CHECK(desk.call(std::string(tool->name), arguments).sentence == "busy: try again");
    }
}

// ---- The declarations ----

Json of_another_type(const mcp::Field& field) { return field.kind == mcp::Kind::Text ? Json(7) : Json("seven"); }

TEST_CASE("every argument is declared, described and checked") {
    for (const Tool* tool : all_tools()) {
        CAPTURE(tool->name);
        const Json schema = mcp::schema_of(tool->fields);
        CHECK(schema["additionalProperties"] == false);
        for (const mcp::Field& field : tool->fields) {
            CAPTURE(field.name);
            CHECK_FALSE(field.description.empty());
            CHECK(schema["properties"].contains(std::string(field.name)));
            Desk desk;
            Json arguments;
            arguments[std::string(field.name)] = of_another_type(field);
            CHECK(desk.call(std::string(tool->name), arguments).sentence.rfind(std::string(field.name) + " is ", 0) ==
                  0);
            if (field.kind != mcp::Kind::Integer) continue;
            for (const Json& wrong :
                 {Json(field.least - 1), Json(1.5), Json(true), Json(18446744073709551615ULL), Json(1e300)}) {
                arguments[std::string(field.name)] = wrong;
                CHECK(desk.call(std::string(tool->name), arguments)
                          .sentence.rfind(std::string(field.name) + " is not a whole number", 0) == 0);
            }
        }
        Desk desk;
        CHECK(desk.call(std::string(tool->name), {{"no_such", 1}})
                  .sentence.rfind("there is no argument \"no_such\"", 0) == 0);
    }
    check_calls(R"(
        t=0 claim_host {"host_id":"h","owner":"a","ttl_sec":60.0,"note":null,"phase":null} => {"ttl_sec":60,"note":""}
        t=0 claim_host {"host_id":null,"owner":"a"} => failed host_id is missing
    )");
}

TEST_CASE("the tools are listed in one order, each with its schemas and hints") {
    const Json list = mcp::list_of_tools();
    std::vector<std::string> names;
    for (const Json& tool : list) {
        names.push_back(tool["name"]);
        CHECK(tool["inputSchema"]["type"] == "object");
        CHECK(tool["outputSchema"]["type"] == "object");
        CHECK(tool["description"].get<std::string>().size() > 20);
    }
    CHECK(names == std::vector<std::string>{"list_hosts", "claim_host", "heartbeat_host", "release_host",
                                            "lock_acquire", "lock_status", "lock_renew", "lock_accept", "lock_release",
                                            "lock_requisition", "lock_list", "lock_log"});
    std::vector<std::string> looking;
    for (const Json& tool : list)
        if (tool["annotations"]["readOnlyHint"] == true) looking.push_back(tool["name"]);
    CHECK(looking == std::vector<std::string>{"list_hosts", "lock_list", "lock_log"});
}

}  // namespace
}  // namespace hagi::test
