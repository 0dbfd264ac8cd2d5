#include "cmd/last_words.hpp"

#include <unistd.h>

#include <exception>
#include <new>

namespace hagi {
namespace {

constexpr std::string_view kDefect = "hagi: a defect of hagi itself: please report it\n";
constexpr std::string_view kDefectJson =
    "{\"error\":{\"code\":\"UNKNOWN\",\"exitCode\":70,"
    "\"message\":\"a defect of hagi itself: please report it\"}}\n";

Form form_at_the_end = Form::Text;

bool out_of_memory() {
    try {
        if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {  // a defect
    }
    return false;
}

[[noreturn]] void speak() {
    const bool memory = out_of_memory();
    const bool text = form_at_the_end == Form::Text;
    const std::string_view words = memory ? (text ? kOutOfMemory : kOutOfMemoryJson) : (text ? kDefect : kDefectJson);
    const ssize_t written = ::write(text ? STDERR_FILENO : STDOUT_FILENO, words.data(), words.size());
    static_cast<void>(written);
    ::_exit(exit_code(memory ? ErrorCode::Transport : ErrorCode::Unknown));
}

}  // namespace

void prepare_last_words(Form form) {
    form_at_the_end = form;
    std::set_terminate(speak);
}

}  // namespace hagi
