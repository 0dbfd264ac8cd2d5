// Names and texts: what their rules let through obeys them, and what is escaped obeys nothing.
#include "lockcore/names.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/terminal_text.hpp"

namespace hagi::test {
namespace {

// What `escaped` was given.
std::string unescaped(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            bytes += text[i];
            continue;
        }
        const char kind = text.at(++i);
        const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
        if (digits == 0) {
            bytes += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
            continue;
        }
        const auto value =
            static_cast<unsigned>(std::stoul(text.substr(i + 1, static_cast<std::size_t>(digits)), nullptr, 16));
        i += static_cast<std::size_t>(digits);
        if (kind == 'x') {
            bytes += static_cast<char>(value);
        } else {
            bytes += static_cast<char>(0xe0U | (value >> 12U));
            bytes += static_cast<char>(0x80U | ((value >> 6U) & 0x3fU));
            bytes += static_cast<char>(0x80U | (value & 0x3fU));
        }
    }
    return bytes;
}

void check_escaped(const std::string& text) {
    const std::string shown = escaped(text);
    require(!is_obeyed(shown), "an escaped text is obeyed");
    // A control of eight bits is shown as \x9b whether it came bare or as UTF-8.
    if (shown.find("\\x") == std::string::npos) require(unescaped(shown) == text, "an escaped text is another");
}

template <class Parse>
bool check_name(const Parse& parse, const std::string& text, std::size_t most) {
    const auto name = parse(text);
    if (!name) {
        require(!is_obeyed(name.error().message), "a refusal is obeyed");
        return false;
    }
    require(name->str() == text && text.size() <= most, "a name is another than was given, or too long");
    const bool plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@+-/") ==
        std::string::npos;
    require(plain, "a name has other bytes than it may");
    return true;
}

template <class Parse>
void check_path(const Parse& parse, const std::string& text, std::size_t most) {
    if (!check_name(parse, text, most)) return;
    for (const char* const part : {"//", "/../", "/./"})
        require(("/" + text + "/").find(part) == std::string::npos || text.empty(), "a name has no such segment");
}

template <class Parse>
void check_text(const Parse& parse, const std::string& text) {
    const auto parsed = parse(text);
    if (!parsed) return;
    require(parsed->str() == text, "a text is another than was given");
    require(!is_obeyed(text), "a text that is obeyed was accepted");
}

}  // namespace
}  // namespace hagi::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hagi;
    using namespace hagi::test;
    const std::string text(reinterpret_cast<const char*>(data), size);
    check_escaped(text);
    check_path(parse_lock_id, text, 200);
    check_path(parse_owner, text, 128);
    check_name(parse_phase, text, 64);
    check_text(parse_label, text);
    check_text(parse_note, text);
    check_text(parse_reason, text);
    const auto middle = text.size() / 2;
    if (const auto id = parse_address(text.substr(0, middle), text.substr(middle)); id)
        require(parse_lock_id(id->str()).ok(), "an address makes a lock id that is none");
    return 0;
}
