// What a test expects of a document, where the rest of it may be as it will.
#pragma once

#include "cmd/mcp/message.hpp"

namespace hagi::test {

// Every member of `expected` is in `actual`, and of that value.
inline bool covers(const mcp::Json& actual, const mcp::Json& expected) {
    if (!expected.is_object()) return actual == expected;
    if (!actual.is_object()) return false;
    for (auto member = expected.begin(); member != expected.end(); ++member) {
        const auto found = actual.find(member.key());
        if (found == actual.end() || !covers(*found, member.value())) return false;
    }
    return true;
}

}  // namespace hagi::test
