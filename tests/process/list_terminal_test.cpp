// `list --watch` on a real terminal: it shows what happens when it happens, and leaves the terminal as it was.
#include <sys/wait.h>

#include <csignal>

#include "tests/process/terminal.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

constexpr const char* kTakes = "\x1b[?1049h";
constexpr const char* kGivesBack = "\x1b[?7h\x1b[?25h\x1b[?1049l";

Words watch(const Words& more = {}) {
    Words words{"list", "--watch"};
    words.insert(words.end(), more.begin(), more.end());
    return Hagi::line(words);
}

TEST_CASE("the live view shows a change at once, obeys its keys, and gives the terminal back") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice", {"--phase", "compile"}));
    Terminal terminal(hagi, watch());
    terminal.await_text(kTakes);
    terminal.await_text("1 lock, 0 waiting");
    terminal.await_text("alice");
    CHECK(!terminal.is_as_before());

    hagi.done(verb("acquire", "bob"));
    terminal.await_text("1 lock, 1 waiting");
    terminal.type("s");
    terminal.await_text("by holder");
    terminal.type("/zzz");
    terminal.await_text("no lock fits");
    terminal.type("\x1b");
    terminal.await_text("alice");
    terminal.resize(40, 10);
    terminal.await_text("\x1b[2J");
    terminal.await_text("alice");

    terminal.type("q");
    const std::string last = terminal.rest();
    CHECK(last.ends_with(kGivesBack));
    CHECK(terminal.is_as_before());
    CHECK(terminal.wait() == 0);
}

TEST_CASE("a store that comes into being is seen by who looks on") {
    const Hagi hagi;
    Terminal terminal(hagi, watch());
    terminal.await_text("no lock is held");
    hagi.done(verb("acquire", "alice"));
    terminal.await_text("alice");
    terminal.type("q");
    terminal.rest();
    CHECK(terminal.wait() == 0);
}

TEST_CASE("whatever ends the live view, the terminal is as it was") {
    struct End {
        int signal;
        int code;  // as Terminal::wait tells it
    };
    const End end = GENERATE(End{SIGINT, 0}, End{SIGTERM, 0}, End{SIGHUP, 0}, End{SIGQUIT, 1000 + SIGQUIT},
                             End{SIGUSR1, 1000 + SIGUSR1}, End{SIGALRM, 1000 + SIGALRM}, End{SIGSEGV, 1000 + SIGSEGV},
                             End{SIGABRT, 1000 + SIGABRT});
    INFO("signal " << end.signal);
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Terminal terminal(hagi,
                      {"sh", "-c", "ulimit -c 0; exec \"$@\"", "sh", HAGI_BINARY, "agent", "lock", "list", "--watch"});
    terminal.await_text("alice");
    ::kill(terminal.pid(), end.signal);
    CHECK(terminal.rest().ends_with(kGivesBack));
    CHECK(terminal.is_as_before());
    CHECK(terminal.wait() == end.code);
}

TEST_CASE("Ctrl-C ends the live view") {
    const Hagi hagi;
    Terminal terminal(hagi, watch());
    terminal.await_text("no lock is held");
    terminal.type(kCtrlC);
    CHECK(terminal.rest().ends_with(kGivesBack));
    CHECK(terminal.wait() == 0);
}

TEST_CASE("Ctrl-Z gives the terminal back, and fg takes it again") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Terminal terminal(hagi, watch());
    terminal.await_text("alice");
    terminal.type(kCtrlZ);
    terminal.await_text(kGivesBack);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    CHECK(terminal.is_as_before());

    hagi.done(verb("acquire", "bob"));
    ::kill(terminal.pid(), SIGCONT);
    terminal.await_text(kTakes);
    terminal.await_text("1 lock, 1 waiting");
    CHECK(!terminal.is_as_before());
    terminal.type("q");
    CHECK(terminal.rest().ends_with(kGivesBack));
    CHECK(terminal.wait() == 0);
}

TEST_CASE("a stop that nobody hears is made good when it goes on") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice"));
    Terminal terminal(hagi, watch());
    terminal.await_text("alice");
    ::kill(terminal.pid(), SIGSTOP);
    REQUIRE(WIFSTOPPED(terminal.wait_for_change()));
    ::kill(terminal.pid(), SIGCONT);
    terminal.await_text(kTakes);
    terminal.type("q");
    CHECK(terminal.rest().ends_with(kGivesBack));
    CHECK(terminal.is_as_before());
    CHECK(terminal.wait() == 0);
}

TEST_CASE("one table on a terminal fits it and has colours, but not with NO_COLOR") {
    const Hagi hagi;
    hagi.done(verb("acquire", "alice", {"--label", std::string(100, 'x')}));
    Terminal coloured(hagi, Hagi::line({"list"}));
    const std::string table = coloured.rest();
    CHECK(table.find("\x1b[1mLOCK") != std::string::npos);
    CHECK(table.find(std::string(80, 'x')) == std::string::npos);
    CHECK(coloured.wait() == 0);

    Terminal plain(hagi, {"env", "NO_COLOR=1", HAGI_BINARY, "agent", "lock", "list"});
    CHECK(plain.rest().find('\x1b') == std::string::npos);
    CHECK(plain.wait() == 0);

    const Finished piped = hagi.run({"list"});
    CHECK(piped.out.find('\x1b') == std::string::npos);
    CHECK(piped.out.find(std::string(100, 'x')) != std::string::npos);
}

TEST_CASE("who follows a store that is not there yet hears at once when it is") {
    const Hagi hagi;
    Process watcher = hagi.start({"list", "--watch", "--json"});
    watcher.await_line("\"locks\":[]");
    hagi.done(verb("acquire", "alice"));
    watcher.await_line("alice");
    watcher.send(SIGTERM);
    CHECK(watcher.wait() == 0);
}

TEST_CASE("without a terminal a line tells each change, until it is asked to stop") {
    const Hagi hagi;
    Process watcher = hagi.start({"list", "--watch"});
    hagi.done(verb("acquire", "alice"));
    watcher.await_line(" a epoch 1 held by alice");
    hagi.done(verb("acquire", "bob"));
    watcher.await_line("1 waiting: bob");
    hagi.done(verb("release", "alice"));
    watcher.await_line("a epoch 2 handed off to bob");
    watcher.send(SIGTERM);
    CHECK(watcher.wait() == 0);
}

}  // namespace
}  // namespace hagi::test
