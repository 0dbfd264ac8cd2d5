#include "cmd/help.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>

namespace hagi {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kOptionColumns = 28;

// Broken between words, so that no line has more than `columns`; further lines are indented by `indent`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
    std::string lines;
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const bool breaks = used > 0 && used + 1 + (end - at) > columns;
        if (breaks) lines += "\n" + std::string(indent, ' ');
        if (used > 0 && !breaks) lines += ' ';
        lines.append(text, at, end - at);
        used = (breaks || used == 0 ? 0 : used + 1) + (end - at);
        at = end + 1;
    }
    return lines;
}

class Formatter : public CLI::Formatter {
public:
    Formatter() { column_width(kOptionColumns); }

    // What contradicts what is said by the error that it leads to, and would fill the column of names.
    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string value = option->get_type_name();
        if (value.empty()) return "";
        if (option->get_expected_min() == 0) return " [" + value + "]";
        return " " + value + (option->get_expected_max() == CLI::detail::expected_max_vector_size ? " ..." : "");
    }

    std::string make_option(const CLI::Option* option, bool is_positional) const override {
        const std::string name = "  " + make_option_name(option, is_positional) + make_option_opts(option);
        const std::string gap = name.size() < kOptionColumns ? std::string(kOptionColumns - name.size(), ' ')
                                                             : "\n" + std::string(kOptionColumns, ' ');
        return name + gap + wrapped(make_option_desc(option), kColumns - kOptionColumns, kOptionColumns) + "\n";
    }
};

}  // namespace

std::string overview(const std::vector<const Verb*>& verbs) {
    std::string text =
        "Turns on a shared resource, for agents.\n\n"
        "Usage: hagi agent lock VERB [OPTIONS]\n\n";
    constexpr std::size_t kVerbColumns = 15;
    for (const Verb* verb : verbs)
        text += fmt::format("  {:<12} {}\n", verb->name,
                            wrapped(std::string(verb->summary), kColumns - kVerbColumns, kVerbColumns));
    return text +
           "\nExample, one turn on eu-1/duckov:\n"
           "  hagi agent lock acquire --wait --lock-id eu-1/duckov --owner sess-7f2c\n"
           "  hagi agent lock heartbeat --lock-id eu-1/duckov --owner sess-7f2c &\n"
           "  ./deploy\n"
           "  hagi agent lock release --lock-id eu-1/duckov --owner sess-7f2c\n\n"
           "`hagi agent lock VERB --help` names a verb's options, `hagi agent lock guide`\n"
           "is the guide for agents, `hagi --version` prints the version. `hagi mcp` is the\n"
           "same for the clients of the Model Context Protocol.\n";
}

std::string short_usage(const Verb& verb) {
    return fmt::format("\n{}: {}\n\nExample:\n{}\n\n`hagi agent lock {} --help` names its options.\n", verb.name,
                       verb.summary, verb.example, verb.name);
}

void shape_help(CLI::App& app, const Verb& verb) {
    app.formatter(std::make_shared<Formatter>());
    app.set_help_flag("-h,--help", "print this and exit");
    app.footer(fmt::format("Example:\n{}", verb.example));
}

}  // namespace hagi
