// What the documents for scripts have in common. For json*.cpp only: the library's header is a large one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cmd/report.hpp"

namespace hagi::json {

// Every document starts as an object: one that is to become an object by its first key is destroyed as half of one
// where memory is short just then.
using Json = nlohmann::ordered_json;

// One document on one line, with its newline. ASCII only, so that no control or bidirectional character of another
// caller reaches a terminal raw; bytes that are no UTF-8 (a stranger may have written the store) are replaced, since a
// reader must be able to parse every line.
std::string line(const Json& json);

// Every answer says of which store it speaks.
void put_store(Json& json, const Subject& subject);

}  // namespace hagi::json
