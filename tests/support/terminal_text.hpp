// What may reach a terminal, and what a reader of JSON may be given.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hagi::test {

// Whether a line has what a terminal would obey, what would reorder it, or bytes that are no UTF-8 at all.
inline bool is_obeyed(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto byte = [&](std::size_t j) {
            return i + j < line.size() ? static_cast<unsigned char>(line[i + j]) : 0;
        };
        if (byte(0) < 0x20 || byte(0) == 0x7f) return true;
        if (byte(0) == 0xc2 && 0x80 <= byte(1) && byte(1) <= 0x9f) return true;
        if (byte(0) == 0xe2 && byte(1) == 0x80 && 0xaa <= byte(2) && byte(2) <= 0xae) return true;
        if (byte(0) == 0xe2 && byte(1) == 0x81 && 0xa6 <= byte(2) && byte(2) <= 0xa9) return true;
    }
    const nlohmann::json whole = std::string(line);
    return whole.dump(-1, ' ', true, nlohmann::json::error_handler_t::ignore) !=
           whole.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// One document, all of it printable ASCII.
inline bool is_json(const std::string& line) {
    for (const char c : line)
        if (c < 0x20 || c > 0x7e) return false;
    return nlohmann::json::accept(line);
}

}  // namespace hagi::test
