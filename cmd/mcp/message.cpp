#include "cmd/mcp/message.hpp"

#include <algorithm>
#include <utility>

#include "lockcore/names.hpp"

namespace hagi::mcp {
namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// How deep arrays and objects lie in each other. Of a text that is no JSON: some number.
std::size_t depth_of(std::string_view text) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string && c == '\\')
            ++i;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{'))
            deepest = std::max(deepest, ++depth);
        else if (!in_string && (c == ']' || c == '}') && depth > 0)
            --depth;
    }
    return deepest;
}

RpcFailure invalid(std::string message, Json id = nullptr) {
    return {std::move(id), RpcCode::InvalidRequest, std::move(message), nullptr};
}

bool is_id(const Json& json) { return json.is_string() || json.is_number_integer(); }

Message parse_object(Json object) {
    const auto id = object.find("id");
    const bool has_id = id != object.end();
    const Json known_id = has_id && is_id(*id) ? *id : Json(nullptr);

    const auto version = object.find("jsonrpc");
    if (version == object.end() || *version != "2.0")
        return invalid("not a JSON-RPC 2.0 message: send \"jsonrpc\": \"2.0\"", known_id);
    const auto method = object.find("method");
    if (method == object.end() && (object.contains("result") || object.contains("error"))) return Reply{};
    if (method == object.end() || !method->is_string())
        return invalid("the message has no method: name one, as a string", known_id);
    if (has_id && known_id.is_null()) return invalid("the id is neither a string nor an integer: send one of them");

    const auto params = object.find("params");
    if (params != object.end() && !params->is_object()) {
        if (!has_id) return Notification{method->get<std::string>(), Json::object()};
        return RpcFailure{known_id, RpcCode::InvalidParams, "params is not an object: name the parameters", nullptr};
    }
    Json given = params == object.end() ? Json::object() : std::move(*params);
    if (!has_id) return Notification{method->get<std::string>(), std::move(given)};
    return Request{known_id, method->get<std::string>(), std::move(given)};
}

}  // namespace

void Lines::feed(std::string_view bytes) { unread_ += bytes; }

std::optional<Line> Lines::next() {
    for (;;) {
        const std::size_t end = unread_.find('\n', searched_);
        if (end == std::string::npos) {
            skipping_ = skipping_ || unread_.size() > kMaxLineBytes;
            if (skipping_) unread_.clear();
            searched_ = unread_.size();
            return std::nullopt;
        }
        const bool too_long = std::exchange(skipping_, false) || end > kMaxLineBytes;
        Line line{too_long ? std::string() : unread_.substr(0, end), too_long};
        unread_.erase(0, end + 1);
        searched_ = 0;
        if (too_long || !is_blank(line.text)) return line;
    }
}

std::optional<Line> Lines::rest() {
    if (unread_.empty() && !skipping_) return std::nullopt;
    feed("\n");
    return next();
}

Message parse_message(const Line& line) {
    if (line.too_long)
        return invalid("the message has more than " + std::to_string(kMaxLineBytes) + " bytes: send a smaller one");
    if (depth_of(line.text) > kMaxDepth)
        return invalid("the message is nested deeper than " + std::to_string(kMaxDepth) + " levels: send a flat one");
    Json json = Json::parse(line.text, nullptr, false);
    if (json.is_discarded())
        return RpcFailure{nullptr, RpcCode::ParseError, "the line is no JSON: send one message a line, in UTF-8",
                          nullptr};
    if (json.is_array()) return invalid("a batch: send each message on a line of its own");
    if (!json.is_object()) return invalid("the message is not an object: send a JSON-RPC 2.0 message");
    return parse_object(std::move(json));
}

std::string in_quotes(std::string_view word) {
    constexpr std::size_t kMost = 60;
    return '"' + escaped(word.substr(0, kMost)) + (word.size() > kMost ? "...\"" : "\"");
}

std::string to_line(const Json& message) { return message.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n"; }

}  // namespace hagi::mcp
