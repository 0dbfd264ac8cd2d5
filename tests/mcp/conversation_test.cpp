// The protocol as dialogues: what the client writes, what the tools do, what the client reads.
//
//     -> MESSAGE                    a line from the client
//     finish CALL DOCUMENT          the call has ended well        fail CALL SENTENCE     or not
//     progress CALL SECONDS OF SAID                                tell LEVEL DATA        news that nobody asked for
//     <- MESSAGE                    exactly this is sent           <~ MESSAGE             at least these members
//     start CALL TOOL ARGUMENTS     a call is begun                cancel CALL            its work is to end
//     -                             nothing
//
// The last three kinds of line are what is expected of the line before them.
#include <sstream>

#include "cmd/mcp/conversation.hpp"
#include "tests/mcp/covers.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using namespace mcp;

std::string rendered(const Step& step) {
    if (const auto* const sent = std::get_if<Send>(&step)) return "<- " + sent->message.dump();
    if (const auto* const started = std::get_if<Start>(&step))
        return "start " + std::to_string(started->call) + " " + std::string(started->tool->name) + " " +
               started->arguments.dump();
    return "cancel " + std::to_string(std::get<Cancel>(step).call);
}

bool fits(const std::string& actual, const std::string& expected) {
    if (expected.rfind("<- ", 0) == 0 && actual.rfind("<- ", 0) == 0)
        return Json::parse(actual.substr(3)) == Json::parse(expected.substr(3));
    if (expected.rfind("<~ ", 0) == 0 && actual.rfind("<- ", 0) == 0)
        return covers(Json::parse(actual.substr(3)), Json::parse(expected.substr(3)));
    return actual == expected;
}

class Dialogue {
public:
    void play(const std::string& script) {
        std::istringstream lines(script);
        for (std::string line; std::getline(lines, line);) {
            const auto begin = line.find_first_not_of(' ');
            if (begin == std::string::npos) continue;
            play_line(line.substr(begin));
        }
        expect_nothing();
    }

private:
    void play_line(const std::string& line) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "-") return;
        if (verb == "<-" || verb == "<~" || verb == "start" || verb == "cancel") return expect(line);
        expect_nothing();
        INFO(line);
        std::string rest;
        CallId call = 0;
        double seconds = 0;
        double of = 0;
        Steps steps;
        if (verb == "->") {
            std::getline(words >> std::ws, rest);
            steps = conversation_.receive({rest, false});
        } else if (verb == "finish") {
            std::getline(words >> call >> std::ws, rest);
            ToolResult result;
            result.document = Json::parse(rest);
            steps = conversation_.finished(call, result);
        } else if (verb == "fail") {
            std::getline(words >> call >> std::ws, rest);
            ToolResult result;
            result.document["error"]["message"] = rest;
            result.sentence = rest;
            steps = conversation_.finished(call, result);
        } else if (verb == "progress") {
            std::getline(words >> call >> seconds >> of >> std::ws, rest);
            steps = conversation_.progressed(call, {seconds, of, rest});
        } else if (verb == "tell") {
            int level = 0;
            std::getline(words >> level >> std::ws, rest);
            steps = conversation_.tell(static_cast<Level>(level), Json::parse(rest));
        } else {
            FAIL("no such line: " << line);
        }
        for (const Step& step : steps) due_.push_back(rendered(step));
    }

    void expect(const std::string& expected) {
        INFO("expected " << expected);
        REQUIRE(!due_.empty());
        INFO("found    " << due_.front());
        CHECK(fits(due_.front(), expected));
        due_.erase(due_.begin());
    }

    void expect_nothing() {
        for (const std::string& step : due_) FAIL_CHECK("not expected: " << step);
        due_.clear();
    }

    Conversation conversation_;
    std::vector<std::string> due_;
};

void check_dialogue(const std::string& script) { Dialogue().play(script); }

TEST_CASE("the handshake names the revision that both know, else the newest that has one") {
    check_dialogue(R"(
        -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        <~ {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"hagi"}}}
        -> {"jsonrpc":"2.0","method":"notifications/initialized"}
        -
        -> {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
        <~ {"id":2,"result":{"protocolVersion":"2025-11-25"}}
        -> {"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}
        <~ {"id":3,"result":{"protocolVersion":"2025-11-25"}}
        -> {"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}
        <~ {"id":4,"result":{"protocolVersion":"2025-11-25"}}
        -> {"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}
        <~ {"id":5,"error":{"code":-32602}}
    )");
}

TEST_CASE("before a handshake only ping is answered, and requests that name their revision") {
    check_dialogue(R"(
        -> {"jsonrpc":"2.0","id":1,"method":"ping"}
        <- {"jsonrpc":"2.0","id":1,"result":{}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        <~ {"id":2,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lock_list"}}
        <~ {"id":3,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"lock_list","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        start 1 lock_list {}
    )");
}

TEST_CASE("the current revision has no handshake: every request says what it follows, every result who answers") {
    check_dialogue(R"(
        -> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"cacheScope":"public"}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":2,"result":{"resultType":"complete","ttlMs":3600000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"hagi"}}}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":3,"error":{"code":-32022,"data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}
        -> {"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
        <~ {"id":4,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":5,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":6,"error":{"code":-32601}}
        -> {"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":{}}}
        -> {"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":7,"error":{"code":-32600}}
        -> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}
        cancel 1
        -> {"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <~ {"id":7,"result":{"resultType":"complete"}}
        tell 4 {"event":"lost"}
        -
    )");
}

constexpr const char* kHello = R"(
        -> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
        <~ {"id":0,"result":{}}
)";

TEST_CASE("a call is answered with its text and its document, a failure with one sentence") {
    check_dialogue(std::string(kHello) + R"(
        -> {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"lock_status","arguments":{"lock_id":"x"}}}
        start 1 lock_status {"lock_id":"x"}
        finish 1 {"status":"None"}
        <- {"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{\"status\":\"None\"}"}],"structuredContent":{"status":"None"},"isError":false}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"release_host","arguments":null}}
        start 2 release_host {}
        fail 2 host_id is missing
        <- {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"host_id is missing"}],"structuredContent":{"error":{"message":"host_id is missing"}},"isError":true}}
        finish 2 {}
        -
    )");
}

TEST_CASE("what is no call of a tool is a failure of the protocol") {
    check_dialogue(std::string(kHello) + R"(
        -> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}
        <- {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool: \"no_such_tool\""}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}
        <~ {"id":2,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}
        <~ {"id":3,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"lock_list","arguments":[1]}}
        <~ {"id":4,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":5,"method":"resources/list"}
        <~ {"id":5,"error":{"code":-32601}}
        -> {"jsonrpc":"2.0","id":6,"method":"prompts/list"}
        <~ {"id":6,"error":{"code":-32601}}
        -> {"jsonrpc":"2.0","id":7,"method":"server/discover"}
        <~ {"id":7,"error":{"code":-32601}}
        -> {"jsonrpc":"2.0","method":"notifications/no_such"}
        -
        -> {"jsonrpc":"2.0","method":"tools/call","params":{"name":"lock_list"}}
        -
        -> {"jsonrpc":"2.0","id":8,"result":{}}
        -
        -> {"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"any"}}
        <~ {"id":9,"result":{}}
    )");
}

TEST_CASE("a call that was cancelled is not answered, and its id is free again") {
    check_dialogue(std::string(kHello) + R"(
        -> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lock_acquire","arguments":{"wait_sec":9}}}
        start 1 lock_acquire {"wait_sec":9}
        -> {"jsonrpc":"2.0","id":1,"method":"ping"}
        <~ {"id":1,"error":{"code":-32600}}
        -> {"jsonrpc":"2.0","id":2,"method":"ping"}
        <- {"jsonrpc":"2.0","id":2,"result":{}}
        -> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}
        -
        -> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}
        cancel 1
        -> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        -
        -> {"jsonrpc":"2.0","method":"notifications/cancelled"}
        -
        finish 1 {}
        -
        -> {"jsonrpc":"2.0","id":1,"method":"ping"}
        <- {"jsonrpc":"2.0","id":1,"result":{}}
    )");
}

TEST_CASE("progress is told to who asked for it, as long as the call lasts, and only onwards") {
    check_dialogue(std::string(kHello) + R"(
        -> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lock_acquire","_meta":{"progressToken":"t"}}}
        start 1 lock_acquire {}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lock_acquire"}}
        start 2 lock_acquire {}
        progress 1 0.5 50 place 2 of 2
        <- {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":50.0,"message":"place 2 of 2"}}
        progress 1 0.5 50 place 1 of 1
        -
        progress 2 1 50 place 1 of 1
        -
        progress 1 1 50 place 1 of 1
        <~ {"params":{"progress":1.0}}
        finish 1 {}
        <~ {"id":1}
        progress 1 2 50 place 1 of 1
        -
    )");
}

TEST_CASE("news are told from the wanted level on") {
    check_dialogue(R"(
        tell 4 {"event":"lost"}
        -
        -> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
        <~ {"id":0,"result":{}}
        tell 2 {"event":"holding"}
        <- {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"notice","logger":"hagi","data":{"event":"holding"}}}
        tell 0 {"event":"beat"}
        -
        -> {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}
        <- {"jsonrpc":"2.0","id":1,"result":{}}
        tell 3 {"event":"stuck"}
        -
        tell 4 {"event":"lost"}
        <~ {"params":{"level":"error"}}
        -> {"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"loud"}}
        <~ {"id":2,"error":{"code":-32602}}
        -> {"jsonrpc":"2.0","id":3,"method":"logging/setLevel"}
        <~ {"id":3,"error":{"code":-32602}}
    )");
}

TEST_CASE("only so many requests are worked on at once") {
    Conversation conversation;
    conversation.receive(
        {R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25"}})"});
    const auto call = [&](std::size_t id) {
        return conversation.receive({R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                                     R"(,"method":"tools/call","params":{"name":"lock_list"}})"});
    };
    for (std::size_t id = 0; id < kMaxOngoing; ++id) REQUIRE(std::holds_alternative<Start>(call(id).at(0)));
    CHECK(std::get<Send>(call(kMaxOngoing).at(0)).message["error"]["code"] == -32600);
    CHECK(conversation.finished(1, {}).size() == 1);
    CHECK(std::holds_alternative<Start>(call(kMaxOngoing).at(0)));
}

}  // namespace
}  // namespace hagi::test
