#include "lockcore/names.hpp"

#include <string>

#include "lockcore/limits.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
}

bool is_name(const std::string& text) {
    const bool as_owner = parse_owner(text).ok();
    CHECK(parse_lock_id(text).ok() == as_owner);
    return as_owner;
}

bool is_text(const std::string& text) {
    const bool as_label = parse_label(text).ok();
    CHECK(parse_note(text).ok() == as_label);
    return as_label;
}

TEST_CASE("a name is segments of its alphabet joined by slashes") {
    for (const char* good : {"a", "eu-1/duckov", "ws/occluder-wire", "p-1a2b3c4d", "A.B_C:D@E+F-9", "...", ".a",
                             "a/b/c", "-", "+", "..a", "a.."})
        CHECK(is_name(good));
    for (const char* bad :
         {"",    "/",    "a/",    "/a",       "a//b", ".",  "..",  "a/.", "../a", "a/../b", "a b", "a\\b", "a*b",
          "a%b", "a\nb", "a\x7f", "\xc3\xa9", "a\t",  "a~", "a,b", "a=b", "a#b",  "a?b",    "a'b", "a\"b"})
        CHECK_FALSE(is_name(bad));
    CHECK_FALSE(is_name(std::string("a\0b", 3)));
}

TEST_CASE("every byte is in the alphabet of names or not, as the protocol lists them") {
    const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@+-";
    for (int byte = 0; byte < 256; ++byte) {
        if (byte == '/') continue;
        const char c = static_cast<char>(byte);
        const bool allowed = alphabet.find(c) != std::string::npos;
        CHECK(is_name(std::string("x") + c) == allowed);
        CHECK(parse_phase(std::string("x") + c).ok() == allowed);
    }
}

TEST_CASE("names at, below and above their limits") {
    const std::string segment(100, 's');
    CHECK(is_name(segment));
    CHECK_FALSE(is_name(segment + "s"));
    CHECK(parse_owner(segment + "/" + std::string(26, 'o')).ok());
    CHECK(parse_owner(segment + "/" + std::string(27, 'o')).ok());
    CHECK_FALSE(parse_owner(segment + "/" + std::string(28, 'o')).ok());
    CHECK(parse_lock_id(segment + "/" + std::string(98, 'l')).ok());
    CHECK(parse_lock_id(segment + "/" + std::string(99, 'l')).ok());
    CHECK_FALSE(parse_lock_id(segment + "/" + std::string(100, 'l')).ok());
    CHECK(parse_lock_id(repeated("a/", 99) + "aa").ok());
    CHECK_FALSE(parse_lock_id(repeated("a/", 100) + "a").ok());
}

TEST_CASE("a name is kept as it was given") {
    CHECK(parse_lock_id("Eu/x").value().str() == "Eu/x");
    CHECK(parse_owner("Eu/x").value().str() == "Eu/x");
}

TEST_CASE("server and game are one segment each and mean the lock id of both") {
    CHECK(parse_address("eu-1", "duckov").value().str() == "eu-1/duckov");
    for (const char* bad : {"", "a/b", ".", "..", "a b"}) {
        CHECK_FALSE(parse_address(bad, "g").ok());
        CHECK_FALSE(parse_address("s", bad).ok());
    }
    const std::string segment(100, 's');
    CHECK(parse_address(segment, std::string(99, 'g')).ok());
    CHECK_FALSE(parse_address(segment, segment).ok());
}

TEST_CASE("a phase is up to 64 bytes of the owner's alphabet without the slash") {
    CHECK(parse_phase("").ok());
    CHECK(parse_phase("compile").value().str() == "compile");
    CHECK(parse_phase(std::string(63, 'p')).ok());
    CHECK(parse_phase(std::string(64, 'p')).ok());
    CHECK_FALSE(parse_phase(std::string(65, 'p')).ok());
    CHECK_FALSE(parse_phase("a/b").ok());
    CHECK_FALSE(parse_phase("a b").ok());
}

TEST_CASE("a text is counted in characters, not bytes") {
    for (const char* character : {"x", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\x9f\x90\x89"}) {
        CHECK(is_text(repeated(character, 199)));
        CHECK(is_text(repeated(character, 200)));
        CHECK_FALSE(is_text(repeated(character, 201)));
        CHECK(parse_reason(repeated(character, 200)).ok());
        CHECK_FALSE(parse_reason(repeated(character, 201)).ok());
    }
    CHECK(is_text(""));
    CHECK(parse_label(" two words ").value().str() == " two words ");
}

TEST_CASE("a reason is not blank") {
    CHECK(parse_reason("x").ok());
    CHECK(parse_reason(" x ").value().str() == " x ");
    CHECK_FALSE(parse_reason("").ok());
    CHECK_FALSE(parse_reason(" ").ok());
    CHECK_FALSE(parse_reason("    ").ok());
    // No-break, ideographic and narrow spaces look as blank.
    CHECK_FALSE(parse_reason("\xc2\xa0").ok());
    CHECK_FALSE(parse_reason(" \xe3\x80\x80 \xe2\x80\xaf\xe2\x80\x83").ok());
    CHECK(parse_reason("\xe3\x80\x80x").ok());
    CHECK_FALSE(parse_reason("a\tb").ok());
    CHECK_FALSE(parse_reason("\xff").ok());
}

TEST_CASE("a text is valid UTF-8 in its shortest form, without surrogates, up to U+10FFFF") {
    for (const char* good : {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        CHECK(is_text(good));
    for (const char* bad : {
             "\x80",
             "\xbf",
             "\xc0\x80",
             "\xc1\xbf",
             "\xe0\x80\x80",
             "\xe0\x9f\xbf",
             "\xf0\x80\x80\x80",
             "\xf0\x8f\xbf\xbf",  // longer than need be
             "\xed\xa0\x80",
             "\xed\xbf\xbf",  // surrogates
             "\xf4\x90\x80\x80",
             "\xf5\x80\x80\x80",
             "\xf8\x88\x80\x80\x80",
             "\xfe",
             "\xff",  // beyond Unicode
             "\xc3",
             "\xe6\x97",
             "\xf0\x9f\x90",
             "\xc3x",
             "\xe6\x97x",
             "\xf0\x9f\x90x",  // cut short
             "x\xc3",
             "\xc3\xa9\x80",
             "\xe6x\x97\xa5",
             "\xc3\xc3\xa9",
         })
        CHECK_FALSE(is_text(bad));
}

std::string utf8(unsigned code_point) {
    const auto byte = [](unsigned value) { return static_cast<char>(static_cast<unsigned char>(value)); };
    if (code_point < 0x80) return {byte(code_point)};
    if (code_point < 0x800) return {byte(0xc0 | (code_point >> 6U)), byte(0x80 | (code_point & 0x3fU))};
    return {byte(0xe0 | (code_point >> 12U)), byte(0x80 | ((code_point >> 6U) & 0x3fU)),
            byte(0x80 | (code_point & 0x3fU))};
}

bool is_control(unsigned code_point) {
    return code_point <= 0x1f || (0x7f <= code_point && code_point <= 0x9f) ||
           (0x202a <= code_point && code_point <= 0x202e) || (0x2066 <= code_point && code_point <= 0x2069);
}

TEST_CASE("no control characters, the bidirectional ones included, and nothing but those is refused") {
    for (unsigned code_point = 0; code_point < 0x3000; ++code_point) {
        const std::string character = utf8(code_point);
        if (parse_label("a" + character + "b").ok() == is_control(code_point)) FAIL("U+" << std::hex << code_point);
        if (parse_reason("a" + character + "b").ok() == is_control(code_point)) FAIL("U+" << std::hex << code_point);
    }
}

TEST_CASE("a text that is refused says which rule it broke, in one line that cannot itself be obeyed") {
    for (const auto& error : {parse_label("a\x1b[31m\n").error(), parse_label("\xff\n").error(),
                              parse_label(std::string(201, 'x')).error()}) {
        CHECK(error.kind == ErrorKind::InvalidArgument);
        CHECK(error.message.find("the label: ") == 0);
        CHECK(error.message.find_first_of("\n\x1b\xff") == std::string::npos);
    }
    CHECK(parse_owner("a b").error().message.find("the owner: ") == 0);
    CHECK(parse_lock_id("").error().message.find("the lock id: ") == 0);
    CHECK(parse_address("a/b", "c").error().message.find("--server: ") == 0);
    CHECK(parse_address("a", "").error().message.find("--game: ") == 0);
    CHECK(parse_phase("a/b").error().message.find("the phase: ") == 0);
    CHECK(parse_reason("").error().message.find("the reason: ") == 0);
}

TEST_CASE("what a terminal could obey is shown, not obeyed") {
    CHECK(escaped("") == "");
    CHECK(escaped("plain text / \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x89") ==
          "plain text / \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x89");
    CHECK(escaped("\x1b[2J\x1b]0;owned\x07") == "\\x1b[2J\\x1b]0;owned\\x07");
    CHECK(escaped("a\nb\r\tc") == "a\\nb\\r\\tc");
    CHECK(escaped(std::string("a\0b", 3)) == "a\\x00b");
    CHECK(escaped("\x7f") == "\\x7f");
    CHECK(escaped("\xc2\x9b"
                  "31m") == "\\x9b31m");
    CHECK(escaped("\xe2\x80\xae"
                  "evil") == "\\u202eevil");
    CHECK(escaped("\xe2\x81\xa6x\xe2\x81\xa9") == "\\u2066x\\u2069");
    CHECK(escaped("back\\slash \\n") == "back\\\\slash \\\\n");
}

TEST_CASE("bytes that are no UTF-8 are shown one by one") {
    CHECK(escaped("a\xff\xfe") == "a\\xff\\xfe");
    CHECK(escaped("\xc3") == "\\xc3");
    CHECK(escaped("\xe6\x97") == "\\xe6\\x97");
    CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(escaped("\xf0\x9f\x90x") == "\\xf0\\x9f\\x90x");
    CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");
}

TEST_CASE("whatever the text, what is shown of it is a text that the rules would take") {
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second) {
            const std::string hostile = {static_cast<char>(first), static_cast<char>(second)};
            if (!parse_label(escaped(hostile)).ok()) FAIL("bytes " << first << " " << second);
        }
    for (unsigned code_point = 0x80; code_point < 0x3000; ++code_point)
        if (!parse_label(escaped(utf8(code_point))).ok()) FAIL("U+" << std::hex << code_point);
}

}  // namespace
}  // namespace hagi::test
