// The clock of a store on a shared filesystem: the file server's, so that the hosts' own clocks need not agree.
#pragma once

#include <string>

#include "lockcore/clock.hpp"
#include "platform/unique_fd.hpp"

namespace hagi {

// Touches a file of its own and reads back the time that the server gave it. timeline: "file server"; steady and wall
// are the same and may step with the server's clock, so the store keeps a high-water mark.
class FileServerClock : public Clock {
public:
    // The file is called `prefix` and 16 random hex digits, e.g. prefix "/mnt/team/locks.db-clock-"; mode 0600. It is
    // made by the first read and removed on destruction. Of a killed process an empty file stays behind.
    explicit FileServerClock(std::string prefix);
    ~FileServerClock() override;
    FileServerClock(const FileServerClock&) = delete;
    FileServerClock& operator=(const FileServerClock&) = delete;

    // Unreachable where the server does not answer or its disk is full; PermissionDenied where the folder may not be
    // written. The next call tries anew.
    Result<ClockReading> read() override;

private:
    Outcome open_file();

    std::string prefix_;
    std::string path_;  // of the open file
    UniqueFd file_;
};

}  // namespace hagi
