#include "tests/faults/tracer.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

const char* action_of(Fault fault) {
    switch (fault) {
        case Fault::Kill: return "signal=KILL";
        case Fault::InputOutput: return "error=EIO";
        case Fault::NoSpace: return "error=ENOSPC";
        case Fault::Quota: return "error=EDQUOT";
        case Fault::NoMemory: return "error=ENOMEM";
        case Fault::Stop: break;
    }
    return "signal=STOP";
}

Words below(Words tracer, const Words& line) {
    // A variable is set by strace itself: through env(1) its calls would be counted, too.
    std::size_t first = 0;
    if (line.at(0) == "env") {
        tracer.insert(tracer.end(), {"-E", line.at(1)});
        first = 2;
    }
    tracer.insert(tracer.end(), line.begin() + static_cast<std::ptrdiff_t>(first), line.end());
    return tracer;
}

}  // namespace

std::vector<Call> calls_of(const Hagi& hagi, const Words& line) {
    const TemporaryFolder folder;
    const std::string trace = folder.file("trace");
    const Finished finished = hagi.run_other(below({"strace", "-qq", "-o", trace, "-e", "signal=none"}, line));
    INFO(finished.out << finished.err);

    // The first call in main() looks whether the standard streams are open; before it the C library sets itself up.
    std::map<std::string, int> made;
    std::vector<Call> calls;
    bool in_main = false;
    std::istringstream lines(text_of(trace));
    for (std::string text; std::getline(lines, text);) {
        const std::string name = text.substr(0, text.find('('));
        const int nth = ++made[name];
        in_main = in_main || name == "fcntl";
        if (in_main && name != "exit_group" && name != text)
            calls.push_back({name, nth, text.find("F_UNLCK") != std::string::npos});
    }
    REQUIRE(calls.size() > 50);
    return calls;
}

Words disturbed(const Words& line, const Call& call, Fault fault, const std::string& trace) {
    const std::string when = call.name + ":" + action_of(fault) + ":when=" + std::to_string(call.nth);
    return below({"strace", "-qq", "-o", trace, "-e", "trace=" + call.name, "-e", "inject=" + when}, line);
}

bool was_disturbed(const std::string& trace) {
    const std::string text = text_of(trace);
    return text.find("(INJECTED)") != std::string::npos || text.find("killed by SIGKILL") != std::string::npos;
}

bool can_disturb() {
    const Words words = disturbed({"cat", "/dev/null"}, {"openat", 1}, Fault::InputOutput, "/dev/stderr");
    bool can = false;
    try {
        const Finished finished = run_process(words, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
        can = finished.err.find("(INJECTED)") != std::string::npos;
    } catch (const std::runtime_error&) {  // there is no strace
    }
    if (!can) WARN("SKIPPED: this machine does not let strace(1) disturb a program");
    return can;
}

std::string name_of(Fault fault) { return action_of(fault); }

}  // namespace hagi::test
