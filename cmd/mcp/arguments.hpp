// The arguments of a tool: declared once, shown to clients as a JSON Schema, and checked against the same declaration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cmd/mcp/message.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/result.hpp"
#include "lockcore/types.hpp"

namespace hagi::mcp {

enum class Kind { Text, Integer, Flag };
enum class Need { Optional, Required };

struct Field {
    std::string_view name;
    Kind kind = Kind::Text;
    Need need = Need::Optional;
    std::string_view description;
    std::int64_t least = 0;  // of an integer
    std::int64_t most = 0;
};

Json schema_of(std::span<const Field> fields);

class Arguments {
public:
    // `given` is an object. An argument that is unknown, missing, of another type or out of range is an Error of kind
    // Usage that names it. null counts as absent, since models write it for what they leave out.
    static Result<Arguments> check(std::span<const Field> fields, Json given);

    [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
    [[nodiscard]] bool flag(std::string_view name) const;

private:
    explicit Arguments(Json given) : given_(std::move(given)) {}
    [[nodiscard]] const Json* find(std::string_view name) const;

    Json given_;
};

// Arguments as typed values. The first text that breaks its rules is kept as the error of the whole call.
class Reading {
public:
    explicit Reading(const Arguments& arguments) : arguments_(arguments) {}

    // `parse` is one of names.hpp.
    template <class Value>
    std::optional<Value> text(std::string_view name, Result<Value> (*parse)(std::string_view)) {
        const auto given = arguments_.text(name);
        if (!given) return std::nullopt;
        Result<Value> value = parse(*given);
        if (value) return *std::move(value);
        note(value.error());
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Duration> seconds(std::string_view name) const;
    [[nodiscard]] std::optional<Epoch> epoch() const;
    [[nodiscard]] const Arguments& raw() const { return arguments_; }

    void note(const Error& error) {
        if (!error_) error_ = error;
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    const Arguments& arguments_;
    std::optional<Error> error_;
};

}  // namespace hagi::mcp
