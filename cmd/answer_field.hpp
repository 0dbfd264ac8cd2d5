// The fields of an answer in JSON that --print can name: those that hold one value, inner ones with a dot.
#pragma once

#include <string_view>

namespace hagi {

// Whether `name` is the field of some answer; whether this one has it is seen when it is printed.
bool is_answer_field(std::string_view name);

}  // namespace hagi
