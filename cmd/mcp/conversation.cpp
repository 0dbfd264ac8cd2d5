#include "cmd/mcp/conversation.hpp"

#include <algorithm>
#include <array>

#include "cmd/version.hpp"

namespace hagi::mcp {
namespace {

constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr const char* kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

// The list of tools is part of this program: it changes with it only.
constexpr std::int64_t kListKeptMs = 3'600'000;

constexpr std::array kLevels = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

Json envelope(const Json& id) {
    Json message;
    message["jsonrpc"] = "2.0";
    message["id"] = id;
    return message;
}

Json response(const Json& id, Json result) {
    Json message = envelope(id);
    message["result"] = std::move(result);
    return message;
}

Json response(const RpcFailure& failure) {
    Json message = envelope(failure.id);
    Json& error = message["error"];
    error["code"] = static_cast<int>(failure.code);
    error["message"] = failure.message;
    if (!failure.data.is_null()) error["data"] = failure.data;
    return message;
}

Json notification(const char* method, Json params) {
    Json message;
    message["jsonrpc"] = "2.0";
    message["method"] = method;
    message["params"] = std::move(params);
    return message;
}

Steps send(Json message) { return {Send{std::move(message)}}; }

RpcFailure refuse(const Request& request, RpcCode code, std::string message, Json data = nullptr) {
    return {request.id, code, std::move(message), std::move(data)};
}

// Null where there is none.
Json member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? Json(nullptr) : *found;
}

Json meta_of(const Request& request) {
    Json meta = member(request.params, "_meta");
    return meta.is_object() ? meta : Json::object();
}

Json server_info() {
    Json info;
    info["name"] = "hagi";
    info["title"] = "hagi: turns on a shared resource";
    info["version"] = kVersion;
    return info;
}

// What the current revision wants in every result.
Json as_current(Json result) {
    result["resultType"] = "complete";
    result["_meta"][kServerKey] = server_info();
    return result;
}

Json cacheable(Json result) {
    result["ttlMs"] = kListKeptMs;
    result["cacheScope"] = "public";
    return result;
}

Json discovered() {
    Json result;
    result["supportedVersions"][0] = kCurrentRevision;
    result["capabilities"]["tools"] = Json::object();
    result["instructions"] = instructions();
    return cacheable(std::move(result));
}

Json tools() {
    Json result;
    result["tools"] = list_of_tools();
    return result;
}

Json result_of_call(const ToolResult& result) {
    const bool failed = !result.sentence.empty();
    Json content;
    content["type"] = "text";
    content["text"] = failed ? result.sentence : result.document.dump(-1, ' ', true, Json::error_handler_t::replace);
    Json json;
    json["content"][0] = std::move(content);
    json["structuredContent"] = result.document;
    json["isError"] = failed;
    return json;
}

}  // namespace

Steps Conversation::receive(const Line& line) {
    return std::visit([this](const auto& message) { return this->handle(message); }, parse_message(line));
}

Steps Conversation::handle(const RpcFailure& failure) { return send(response(failure)); }

Steps Conversation::handle(const Notification& notification) {
    if (notification.method != "notifications/cancelled") return {};
    const Json id = member(notification.params, "requestId");
    const auto found =
        std::find_if(ongoing_.begin(), ongoing_.end(), [&](const auto& call) { return call.second.id == id; });
    if (found == ongoing_.end()) return {};
    const CallId call = found->first;
    ongoing_.erase(found);
    return {Cancel{call}};
}

Steps Conversation::handle(const Request& request) {
    if (is_ongoing(request.id))
        return handle(refuse(request, RpcCode::InvalidRequest,
                             "the id is that of a request that is still being worked "
                             "on: give each request an id of its own"));
    if (ongoing_.size() >= kMaxOngoing)
        return handle(refuse(request, RpcCode::InvalidRequest, "too many requests are being worked on: wait for one"));
    const auto era = era_of(request);
    if (const auto* const failure = std::get_if<RpcFailure>(&era)) return handle(*failure);
    if (request.method == "tools/call") return call_tool(request, std::get<Era>(era));
    if (request.method == "subscriptions/listen" && std::get<Era>(era) == Era::Current) return listen(request);

    Outcome outcome = answer(request, std::get<Era>(era));
    if (const auto* const failure = std::get_if<RpcFailure>(&outcome)) return handle(*failure);
    Json result = std::get<Json>(std::move(outcome));
    if (std::get<Era>(era) == Era::Current) result = as_current(std::move(result));
    return send(response(request.id, std::move(result)));
}

bool Conversation::is_ongoing(const Json& id) const {
    return std::any_of(ongoing_.begin(), ongoing_.end(), [&](const auto& call) { return call.second.id == id; });
}

std::variant<Conversation::Era, RpcFailure> Conversation::era_of(const Request& request) const {
    const Json meta = meta_of(request);
    const Json revision = member(meta, kRevisionKey);
    if (revision.is_null()) {
        if (introduced_ || request.method == "initialize" || request.method == "ping") return Era::Handshake;
        return refuse(request, RpcCode::InvalidParams,
                      std::string("the request does not say which revision of the protocol it follows: name it in "
                                  "_meta under ") +
                          kRevisionKey + ", or send initialize first");
    }
    if (!revision.is_string())
        return refuse(request, RpcCode::InvalidParams, std::string(kRevisionKey) + " is not a string: name a revision");
    if (revision != kCurrentRevision) {
        Json data;
        data["supported"][0] = kCurrentRevision;
        data["requested"] = revision;
        return refuse(request, RpcCode::UnsupportedRevision, "unsupported protocol version", std::move(data));
    }
    if (!member(meta, kCapabilitiesKey).is_object())
        return refuse(request, RpcCode::InvalidParams,
                      std::string("_meta has no object ") + kCapabilitiesKey + ": say what the client can do");
    return Era::Current;
}

Conversation::Outcome Conversation::answer(const Request& request, Era era) {
    const std::string& method = request.method;
    if (method == "tools/list") return era == Era::Current ? cacheable(tools()) : tools();
    if (era == Era::Current && method == "server/discover") return discovered();
    if (era == Era::Handshake && method == "initialize") return initialize(request);
    if (era == Era::Handshake && method == "ping") return Json::object();
    if (era == Era::Handshake && method == "logging/setLevel") return set_level(request);
    return refuse(request, RpcCode::MethodNotFound,
                  "there is no method " + in_quotes(method) + " here: list the tools");
}

Conversation::Outcome Conversation::initialize(const Request& request) {
    const Json wanted = member(request.params, "protocolVersion");
    if (!wanted.is_string())
        return refuse(request, RpcCode::InvalidParams,
                      "protocolVersion is not a string: name the newest that you know");
    introduced_ = true;
    Json result;
    result["protocolVersion"] = kHandshakeRevisions[0];
    for (const char* const revision : kHandshakeRevisions)
        if (wanted == revision) result["protocolVersion"] = revision;
    result["capabilities"]["tools"] = Json::object();
    result["capabilities"]["logging"] = Json::object();
    result["serverInfo"] = server_info();
    result["instructions"] = instructions();
    return result;
}

Conversation::Outcome Conversation::set_level(const Request& request) {
    const Json level = member(request.params, "level");
    const auto found = std::find_if(kLevels.begin(), kLevels.end(), [&](const char* name) { return level == name; });
    if (found == kLevels.end())
        return refuse(request, RpcCode::InvalidParams,
                      "level is none of debug, info, notice, warning, error, critical, "
                      "alert, emergency: give one of them");
    least_ = static_cast<Level>(found - kLevels.begin());
    return Json::object();
}

Steps Conversation::call_tool(const Request& request, Era era) {
    const Json name = member(request.params, "name");
    Json arguments = member(request.params, "arguments");
    if (!name.is_string())
        return handle(refuse(request, RpcCode::InvalidParams, "the call has no name: name the tool, as a string"));
    if (arguments.is_null()) arguments = Json::object();
    if (!arguments.is_object())
        return handle(refuse(request, RpcCode::InvalidParams, "arguments is not an object: name the arguments"));
    const Tool* const tool = find_tool(name.get<std::string>());
    if (tool == nullptr)
        return handle(refuse(request, RpcCode::InvalidParams, "unknown tool: " + in_quotes(name.get<std::string>())));

    const Json token = member(meta_of(request), "progressToken");
    const bool wanted = token.is_string() || token.is_number_integer();
    const CallId call = begin({request.id, era, wanted ? token : Json(nullptr), -1});
    return {Start{call, tool, std::move(arguments)}};
}

CallId Conversation::begin(Ongoing call) {
    ongoing_[++last_call_] = std::move(call);
    return last_call_;
}

// Nothing that one can subscribe to ever changes here. The stream stays open until it is cancelled.
Steps Conversation::listen(const Request& request) {
    begin({request.id, Era::Current, nullptr, -1});
    Json params;
    params["_meta"][kSubscriptionKey] = request.id;
    params["notifications"] = Json::object();
    return send(notification("notifications/subscriptions/acknowledged", std::move(params)));
}

Steps Conversation::finished(CallId call, const ToolResult& result) {
    const auto found = ongoing_.find(call);
    if (found == ongoing_.end()) return {};
    const Ongoing ended = std::move(found->second);
    ongoing_.erase(found);
    Json json = result_of_call(result);
    if (ended.era == Era::Current) json = as_current(std::move(json));
    return send(response(ended.id, std::move(json)));
}

Steps Conversation::progressed(CallId call, const Progress& progress) {
    const auto found = ongoing_.find(call);
    if (found == ongoing_.end() || found->second.progress_token.is_null()) return {};
    if (progress.seconds <= found->second.told) return {};
    found->second.told = progress.seconds;
    Json params;
    params["progressToken"] = found->second.progress_token;
    params["progress"] = progress.seconds;
    params["total"] = progress.of;
    params["message"] = progress.message;
    return send(notification("notifications/progress", std::move(params)));
}

Steps Conversation::tell(Level level, const Json& data) const {
    if (!introduced_ || level < least_) return {};
    Json params;
    params["level"] = kLevels.at(static_cast<std::size_t>(level));
    params["logger"] = "hagi";
    params["data"] = data;
    return send(notification("notifications/message", std::move(params)));
}

}  // namespace hagi::mcp
