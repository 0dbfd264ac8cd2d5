#include "cmd/exit_code.hpp"

namespace hagi {
namespace {

struct Row {
    int exit_code;
    std::string_view name;
};

Row row_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::Usage: return {2, "USAGE"};
        case ErrorCode::InvalidArgument: return {20, "INVALID_ARGUMENT"};
        case ErrorCode::Unauthenticated: return {21, "UNAUTHENTICATED"};
        case ErrorCode::PermissionDenied: return {23, "PERMISSION_DENIED"};
        case ErrorCode::NotFound: return {24, "NOT_FOUND"};
        case ErrorCode::Conflict: return {29, "CONFLICT"};
        case ErrorCode::OperationFailed: return {30, "OPERATION_FAILED"};
        case ErrorCode::WaitTimeout: return {31, "WAIT_TIMEOUT"};
        case ErrorCode::LockLost: return {32, "LOCK_LOST"};
        case ErrorCode::WorkLeaseLost: return {32, "WORK_LEASE_LOST"};
        case ErrorCode::BackendRefused: return {40, "BACKEND_REFUSED"};
        case ErrorCode::BackendFailed: return {50, "BACKEND_FAILED"};
        case ErrorCode::Transport: return {60, "TRANSPORT"};
        case ErrorCode::Unknown: break;
    }
    return {70, "UNKNOWN"};
}

}  // namespace

int exit_code(ErrorCode code) { return row_of(code).exit_code; }

std::string_view name_of(ErrorCode code) { return row_of(code).name; }

ErrorCode code_for(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Usage: return ErrorCode::Usage;
        case ErrorKind::InvalidArgument: return ErrorCode::InvalidArgument;
        case ErrorKind::PermissionDenied: return ErrorCode::PermissionDenied;
        case ErrorKind::NotFound: return ErrorCode::NotFound;
        case ErrorKind::Unusable: return ErrorCode::OperationFailed;
        case ErrorKind::Damaged: return ErrorCode::BackendFailed;
        case ErrorKind::Unreachable:
        case ErrorKind::Gone: return ErrorCode::Transport;
        case ErrorKind::Defect: break;
    }
    return ErrorCode::Unknown;
}

ErrorCode code_for(RefusalCode refusal) {
    switch (refusal) {
        case RefusalCode::Conflict: return ErrorCode::Conflict;
        case RefusalCode::LockLost: return ErrorCode::LockLost;
        case RefusalCode::WorkLeaseLost: return ErrorCode::WorkLeaseLost;
        case RefusalCode::NotFound: break;
    }
    return ErrorCode::NotFound;
}

}  // namespace hagi
