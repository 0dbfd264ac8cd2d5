#include "cmd/mcp/tool.hpp"

#include <algorithm>

#include "cmd/json.hpp"

namespace hagi::mcp {
namespace {

Json schema_of(const OutputSchema& output) {
    Json schema;
    schema["type"] = "object";
    schema["properties"] = Json::parse(output.properties);
    schema["properties"]["error"] = Json::parse(R"json({
"type":"object",
"properties":{"code":{"type":"string"},"message":{"type":"string"},"cause":{"type":"string"}},
"required":["code","message"]})json");
    Json& either = schema["anyOf"];
    either[0]["required"] = Json::parse(output.required);
    either[1]["required"][0] = "error";
    return schema;
}

Json listed(const Tool& tool) {
    Json annotations;
    annotations["title"] = tool.title;
    annotations["readOnlyHint"] = tool.hints.read_only;
    annotations["destructiveHint"] = tool.hints.destructive;
    annotations["idempotentHint"] = tool.hints.idempotent;
    annotations["openWorldHint"] = false;
    Json json;
    json["name"] = tool.name;
    json["title"] = tool.title;
    json["description"] = tool.description;
    json["inputSchema"] = schema_of(tool.fields);
    json["outputSchema"] = schema_of(tool.output);
    json["annotations"] = std::move(annotations);
    return json;
}

}  // namespace

const Tool* find_tool(std::string_view name) {
    for (const std::span<const Tool> tools : {host_tools(), lock_tools()}) {
        const auto found =
            std::find_if(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == name; });
        if (found != tools.end()) return &*found;
    }
    return nullptr;
}

Json list_of_tools() {
    Json list = Json::array();
    for (const std::span<const Tool> tools : {host_tools(), lock_tools()})
        for (const Tool& tool : tools) list.push_back(listed(tool));
    return list;
}

std::string_view instructions() {
    return "Turns on shared resources. Before you use a shared host, claim it (claim_host) under your own session id "
           "as "
           "owner, and work on it only while the claim is yours. While you work: report what you are at (phase), move "
           "the phase on, and call heartbeat_host at least every two minutes; a claim that is not heard from within "
           "its "
           "ttl_sec is taken over by the next. When a call says that a host is no longer yours, stop using it at once. "
           "At the end, release_host. For any other resource the lock_ tools do the same with a fair queue: "
           "lock_acquire, again and again until status is Holding; lock_accept right before the work starts; "
           "lock_renew "
           "while it runs; lock_release at the end.";
}

ToolResult failed(const Subject& subject, const Failure& failure) {
    ToolResult result = succeeded(json::failure(subject, failure));
    result.sentence = failure.message;
    return result;
}

ToolResult failed(const Subject& subject, const Error& error) { return failed(subject, failure_for(error)); }

ToolResult succeeded(const std::string& line) {
    ToolResult result;
    result.document = Json::parse(line);
    return result;
}

Result<Subject> lock_subject(const Context& context, Reading& reading) {
    auto subject = resolve_store(context, {});
    if (!subject) return subject;
    subject->reader = Reader::Tools;
    if (auto lock_id = reading.text("lock_id", parse_lock_id)) subject->lock_id = *std::move(lock_id);
    if (auto owner = reading.text("owner", parse_owner)) {
        subject->owner = *std::move(owner);
    } else if (const auto inherited = owner_of_environment(context)) {
        if (*inherited)
            subject->owner = **inherited;
        else
            reading.note(inherited->error());
    } else {
        reading.note({ErrorKind::Usage, "owner is missing: give your own session id"});
    }
    if (reading.error()) return *reading.error();
    return subject;
}

void note_standing(ToolResult& result, const Subject& subject, const Answer& answer) {
    if (answer.refusal) return;
    const Standing standing{subject.lock_id, subject.owner, std::nullopt};
    if (answer.released && *answer.released != Released::Nothing) result.given_back = standing;
    if (answer.status == Status::Queued && !answer.released) result.claimed = standing;
    if (answer.status == Status::Holding) result.claimed = Standing{subject.lock_id, subject.owner, answer.hold->epoch};
}

}  // namespace hagi::mcp
