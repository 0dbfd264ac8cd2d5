#include "cmd/mcp/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hagi::mcp {
namespace {

const char* type_of(Kind kind) {
    switch (kind) {
        case Kind::Text: return "string";
        case Kind::Integer: return "integer";
        case Kind::Flag: break;
    }
    return "boolean";
}

Error usage(std::string message) { return {ErrorKind::Usage, std::move(message)}; }

// To JSON Schema 60.0 is an integer, too.
std::optional<std::int64_t> as_integer(const Json& value) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (!value.is_number_float()) return std::nullopt;
    const double number = value.get<double>();
    constexpr double kExact = 9007199254740992;  // 2^53
    if (std::trunc(number) != number || std::fabs(number) > kExact) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

// Brings `value` into the form in which it is read; the error, if it is none of the field's.
std::optional<Error> check_value(const Field& field, Json& value) {
    if (field.kind == Kind::Text && !value.is_string())
        return usage(fmt::format("{} is not a string: give a text", field.name));
    if (field.kind == Kind::Flag && !value.is_boolean())
        return usage(fmt::format("{} is neither true nor false: give one of them", field.name));
    if (field.kind != Kind::Integer) return std::nullopt;
    const auto number = as_integer(value);
    if (!number || *number < field.least || field.most < *number)
        return usage(fmt::format("{} is not a whole number from {} to {}: give such a number", field.name, field.least,
                                 field.most));
    value = *number;
    return std::nullopt;
}

}  // namespace

Json schema_of(std::span<const Field> fields) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Field& field : fields) {
        Json& property = properties[std::string(field.name)];
        property["type"] = type_of(field.kind);
        property["description"] = field.description;
        if (field.kind == Kind::Integer) {
            property["minimum"] = field.least;
            property["maximum"] = field.most;
        }
        if (field.need == Need::Required) required.push_back(field.name);
    }
    Json schema;
    schema["type"] = "object";
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
}

Result<Arguments> Arguments::check(std::span<const Field> fields, Json given) {
    for (auto argument = given.begin(); argument != given.end(); ++argument) {
        const auto field =
            std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.name == argument.key(); });
        if (field == fields.end())
            return usage(
                fmt::format("there is no argument {}: see the tool's input schema", in_quotes(argument.key())));
        if (argument.value().is_null()) continue;
        if (auto wrong = check_value(*field, argument.value())) return *std::move(wrong);
    }
    for (const Field& field : fields) {
        const auto found = given.find(std::string(field.name));
        if (field.need == Need::Required && (found == given.end() || found->is_null()))
            return usage(fmt::format("{} is missing: it is {}", field.name, field.description));
    }
    return Arguments(std::move(given));
}

const Json* Arguments::find(std::string_view name) const {
    const auto found = given_.find(std::string(name));
    return found == given_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Arguments::text(std::string_view name) const {
    const Json* const found = find(name);
    return found ? std::optional(found->get<std::string>()) : std::nullopt;
}

std::optional<std::int64_t> Arguments::number(std::string_view name) const {
    const Json* const found = find(name);
    return found ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

bool Arguments::flag(std::string_view name) const {
    const Json* const found = find(name);
    return found && found->get<bool>();
}

std::optional<Duration> Reading::seconds(std::string_view name) const {
    const auto number = arguments_.number(name);
    return number ? std::optional<Duration>(std::chrono::seconds{*number}) : std::nullopt;
}

std::optional<Epoch> Reading::epoch() const {
    const auto number = arguments_.number("epoch");
    return number ? std::optional(Epoch{*number}) : std::nullopt;
}

}  // namespace hagi::mcp
