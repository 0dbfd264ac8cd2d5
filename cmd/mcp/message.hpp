// Bytes to messages: the lines of a stream, and what JSON-RPC says of one line. Pure: nothing is read or written here.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hagi::mcp {

using Json = nlohmann::ordered_json;

// A call is a few hundred bytes; what is longer is a mistake. The time to read an object grows with the square of its
// keys, so that a longer line could keep the server from its other callers.
inline constexpr std::size_t kMaxLineBytes = 65'536;

// A message has four levels; what is much deeper only costs memory.
inline constexpr std::size_t kMaxDepth = 64;

struct Line {
    std::string text;       // without its newline
    bool too_long = false;  // its text was thrown away
};

class Lines {
public:
    void feed(std::string_view bytes);

    // The next whole line that is not blank; absent: more bytes are needed.
    std::optional<Line> next();

    // What is left at the end of the stream, where its last line has no newline.
    std::optional<Line> rest();

private:
    std::string unread_;
    std::size_t searched_ = 0;  // so many of them have no newline
    bool skipping_ = false;     // within a line that is too long
};

enum class RpcCode {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    UnsupportedRevision = -32022,  // of the Model Context Protocol
};

struct Request {
    Json id;  // a string or an integer
    std::string method;
    Json params;  // an object
};

// Never answered, not even where it makes no sense.
struct Notification {
    std::string method;
    Json params;
};

// To a request that nobody here made.
struct Reply {};

struct RpcFailure {
    Json id;  // null: not known
    RpcCode code = RpcCode::InvalidRequest;
    std::string message;
    Json data;  // null: none
};

using Message = std::variant<Request, Notification, Reply, RpcFailure>;

Message parse_message(const Line& line);

// A client's own word in quotes, to be told back to it: escaped, and not longer than a name.
std::string in_quotes(std::string_view word);

// One line for the stream, with its newline. ASCII only: no line break, no control character of another caller in it.
std::string to_line(const Json& message);

}  // namespace hagi::mcp
