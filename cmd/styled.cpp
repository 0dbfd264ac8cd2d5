#include "cmd/styled.hpp"

namespace hagi {
namespace {

const char* start_of(Emphasis emphasis) {
    switch (emphasis) {
        case Emphasis::Heading: return "\x1b[1m";
        case Emphasis::Alert: return "\x1b[33m";
        case Emphasis::Faint: return "\x1b[2m";
        case Emphasis::Plain: break;
    }
    return nullptr;
}

}  // namespace

Colours colours_for(const Context& context) {
    const auto terminal = context.environment("TERM");
    const bool wanted = context.columns() && terminal && *terminal != "dumb" && !context.environment("NO_COLOR");
    return wanted ? Colours::Few : Colours::None;
}

std::string styled(const Line& line, Colours colours) {
    const char* start = colours == Colours::None || line.text.empty() ? nullptr : start_of(line.emphasis);
    return start ? start + line.text + "\x1b[0m" : line.text;
}

}  // namespace hagi
