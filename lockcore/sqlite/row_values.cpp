#include "lockcore/sqlite/row_values.hpp"

namespace hagi::sqlite {

ProcessIdentity take_process(Query& row) {
    ProcessIdentity process;
    process.pid = static_cast<std::int32_t>(row.take_integer());
    process.start_ticks = static_cast<std::uint64_t>(row.take_integer());
    process.boot_id = row.take_text();
    process.pid_namespace = static_cast<std::uint64_t>(row.take_integer());
    process.host = row.take_text();
    return process;
}

ProcessColumns columns_of(const ProcessIdentity* process) {
    if (process == nullptr) return {};
    return {process->pid, static_cast<std::int64_t>(process->start_ticks), process->boot_id,
            static_cast<std::int64_t>(process->pid_namespace), process->host};
}

Error damaged_lock(const Connection& connection, const std::string& lock_id, const std::string& what) {
    return connection.damaged("lock " + lock_id + ": " + what);
}

}  // namespace hagi::sqlite
