#include "platform/stop_signal.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace hagi {

namespace {

bool ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignal::StopSignal(std::initializer_list<int> signals) {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int signal : signals)
        if (!ignored(signal)) ::sigaddset(&wanted, signal);
    ::pthread_sigmask(SIG_BLOCK, &wanted, &mask_before_);
    descriptor_.reset(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!descriptor_) ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

StopSignal::~StopSignal() {
    // A second Ctrl-C must not kill the command in its last words.
    while (take()) {
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<int> StopSignal::take() {
    signalfd_siginfo info{};
    if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    const int signal = static_cast<int>(info.ssi_signo);
    if (!first_) first_ = signal;
    return signal;
}

std::optional<int> StopSignal::received() {
    if (!first_) take();
    return first_;
}

void ignore_signals_of_failed_writes() {
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
}

}  // namespace hagi
