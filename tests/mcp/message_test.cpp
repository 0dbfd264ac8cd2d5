// Bytes to messages: lines, limits, and what is wrong with a message.
#include <cstdlib>
#include <random>

#include "cmd/mcp/conversation.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using namespace mcp;

std::vector<std::string> lines_of(const std::vector<std::string>& pieces) {
    Lines lines;
    std::vector<std::string> found;
    for (const std::string& piece : pieces) {
        lines.feed(piece);
        while (const auto line = lines.next()) found.push_back(line->too_long ? "(too long)" : line->text);
    }
    if (const auto line = lines.rest()) found.push_back(line->too_long ? "(too long)" : line->text);
    return found;
}

// The failure that the line is answered with, as `CODE ID MESSAGE`; else its kind and method.
std::string read(const std::string& text) {
    const Message message = parse_message({text, false});
    if (const auto* const failure = std::get_if<RpcFailure>(&message))
        return std::to_string(static_cast<int>(failure->code)) + " " + failure->id.dump() + " " + failure->message;
    if (const auto* const request = std::get_if<mcp::Request>(&message))
        return "request " + request->id.dump() + " " + request->method + " " + request->params.dump();
    if (const auto* const notification = std::get_if<Notification>(&message))
        return "notification " + notification->method + " " + notification->params.dump();
    return "reply";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("a stream is split into its lines, however its bytes arrive") {
    using Found = std::vector<std::string>;
    CHECK(lines_of({"a\nb\n"}) == Found{"a", "b"});
    CHECK(lines_of({"a", "b", "\nc", "\n"}) == Found{"ab", "c"});
    CHECK(lines_of({"a\n\n \t\r\nb\r\n"}) == Found{"a", "b\r"});
    CHECK(lines_of({"a\nthe last has no newline"}) == Found{"a", "the last has no newline"});
    CHECK(lines_of({""}).empty());
    CHECK(lines_of({"\n \n"}).empty());
}

TEST_CASE("a line that is too long is thrown away, and the next one is read") {
    using Found = std::vector<std::string>;
    const std::string longest(kMaxLineBytes, 'x');
    CHECK(lines_of({longest + "\nb\n"}) == Found{longest, "b"});
    CHECK(lines_of({longest + "x\nb\n"}) == Found{"(too long)", "b"});
    CHECK(lines_of({longest, longest, longest, "\n", "b\n"}) == Found{"(too long)", "b"});
    CHECK(lines_of({longest, "x"}) == Found{"(too long)"});
}

TEST_CASE("requests, notifications and replies are told apart") {
    CHECK(read(R"({"jsonrpc":"2.0","id":1,"method":"ping"})") == "request 1 ping {}");
    CHECK(read(R"({"jsonrpc":"2.0","id":"a","method":"x","params":{"b":2}})") == R"(request "a" x {"b":2})");
    CHECK(read(R"({"jsonrpc":"2.0","method":"notifications/initialized"})") ==
          "notification notifications/initialized {}");
    CHECK(read(R"({"jsonrpc":"2.0","method":"x","params":[1]})") == "notification x {}");
    CHECK(read(R"({"jsonrpc":"2.0","id":1,"result":{}})") == "reply");
    CHECK(read(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}})") == "reply");
}

TEST_CASE("what is wrong with a message is said, with its id where it has one") {
    const auto starts = [](const std::string& text, const std::string& expected) {
        INFO(text << " -> " << read(text));
        CHECK(read(text).rfind(expected, 0) == 0);
    };
    starts("{\"jsonrpc\":", "-32700 null");
    starts("garbage", "-32700 null");
    starts("{\"a\":\"\xff\"}", "-32700 null");
    starts("[]", "-32600 null a batch");
    starts(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "-32600 null a batch");
    starts("1", "-32600 null the message is not an object");
    starts("{}", "-32600 null not a JSON-RPC 2.0 message");
    starts(R"({"jsonrpc":"1.0","id":7,"method":"ping"})", "-32600 7 not a JSON-RPC 2.0 message");
    starts(R"({"jsonrpc":2.0,"id":7,"method":"ping"})", "-32600 7 not a JSON-RPC 2.0 message");
    starts(R"({"jsonrpc":"2.0","id":7})", "-32600 7 the message has no method");
    starts(R"({"jsonrpc":"2.0","id":7,"method":8})", "-32600 7 the message has no method");
    starts(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", "-32600 null the id is neither");
    starts(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", "-32600 null the id is neither");
    starts(R"({"jsonrpc":"2.0","id":{},"method":"ping"})", "-32600 null the id is neither");
    starts(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[1]})", "-32602 7 params is not an object");
    starts(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":"x"})", "-32602 7 params is not an object");
}

TEST_CASE("a message may be nested so deep and no deeper") {
    const auto with = [](const std::string& inner) {
        return R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" + inner + "}}";
    };
    CHECK(read(with(nested(kMaxDepth - 2))).rfind("request 1 x", 0) == 0);
    CHECK(read(with(nested(kMaxDepth - 1))).rfind("-32600 null the message is nested", 0) == 0);
    CHECK(read(with(nested(20000))).rfind("-32600 null the message is nested", 0) == 0);
    CHECK(read(with('"' + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + '"')).rfind("request", 0) == 0);
}

TEST_CASE("a message is one line of ASCII, whatever is in it") {
    Json message;
    message["a"] = "line\nbreak \x1b[31m \u202e \xff";
    const std::string line = to_line(message);
    CHECK(line.find('\n') == line.size() - 1);
    for (const char c : line) CHECK((c == '\n' || (0x20 <= c && c < 0x7f)));
}

// ---- Whatever comes ----

std::string mutated(std::string text, std::mt19937& dice) {
    const std::vector<std::string> words{"\"", "{", "}", "[", "]", "null", "1e999", "\\u0000", ":", ",", "\xff", "-1"};
    const auto up_to = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(dice); };
    for (std::size_t changes = up_to(4); changes > 0 && !text.empty(); --changes) {
        const std::size_t at = up_to(text.size() - 1);
        switch (up_to(3)) {
            case 0: text.erase(at, up_to(8)); break;
            case 1: text.insert(at, words[up_to(words.size() - 1)]); break;
            case 2: text[at] = static_cast<char>(up_to(255)); break;
            default: text.insert(at, text.substr(at, up_to(16))); break;
        }
    }
    return text;
}

TEST_CASE("whatever comes, every message is answered at most once, and the conversation goes on") {
    const std::vector<std::string> seeds{
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})",
        R"({"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"cursor":"c"}})",
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lock_acquire","arguments":{"lock_id":"a","wait_sec":5},"_meta":{"progressToken":3}}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})",
        R"({"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
    };
    const char* const given = std::getenv("HAGI_TEST_SEED");
    const auto seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20261130U;
    CAPTURE(seed);
    std::mt19937 dice(seed);
    const int rounds = std::getenv("HAGI_TEST_LONG") != nullptr ? 1'000'000 : 20'000;
    Conversation conversation;
    for (int round = 0; round < rounds; ++round) {
        const std::string text = mutated(seeds[dice() % seeds.size()], dice);
        if (text.find('\n') != std::string::npos) continue;
        const Steps steps = conversation.receive({text, false});
        REQUIRE(steps.size() <= 1);
        if (steps.empty()) continue;
        if (const auto* const sent = std::get_if<Send>(&steps[0]))
            REQUIRE(Json::parse(to_line(sent->message)).is_object());
        if (const auto* const started = std::get_if<Start>(&steps[0])) {
            REQUIRE(started->arguments.is_object());
            REQUIRE(conversation.finished(started->call, {}).size() == 1);
        }
    }
}

}  // namespace
}  // namespace hagi::test
