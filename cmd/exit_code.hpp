// Every way in which a command can end. The exit code is what scripts see, the name what JSON says.
#pragma once

#include <string_view>

#include "lockcore/answer.hpp"
#include "lockcore/result.hpp"

namespace hagi {

enum class ErrorCode {
    Usage,             // 2: the words of the call do not fit; the store is not touched
    InvalidArgument,   // 20: a name or a text breaks its rules
    Unauthenticated,   // 21: an engine that asks for credentials refuses them
    PermissionDenied,  // 23: the store may not be read or written, or is in an unsafe place
    NotFound,          // 24: no such lock, or no such folder
    Conflict,          // 29: another owner's live grant is in the way
    OperationFailed,   // 30: interrupted, or a store that cannot be used from here
    WaitTimeout,       // 31: the turn did not come in time
    LockLost,          // 32: the lock is no longer the caller's
    WorkLeaseLost,     // 32: the caller must not start
    BackendRefused,    // 40: an engine's other refusals
    BackendFailed,     // 50: the store is damaged
    Transport,         // 60: the store cannot be reached or written just now
    Unknown,           // 70: a defect
};

inline constexpr int kSuccess = 0;

int exit_code(ErrorCode code);
std::string_view name_of(ErrorCode code);

ErrorCode code_for(ErrorKind kind);
ErrorCode code_for(RefusalCode refusal);

}  // namespace hagi
