// The programs that people use instead, where they are installed: etcdctl lock, redis-cli SET NX and DEL, an advisory
// lock of PostgreSQL, GNU sem. Their servers listen on the loopback only and are stopped with the last candidate.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/candidates.hpp"

namespace hagi::test {

namespace peer_names {
inline constexpr const char* kEtcd = "etcdctl lock NAME true";
inline constexpr const char* kRedis = "redis-cli SET NX, DEL";
inline constexpr const char* kPostgres = "psql pg_advisory_lock, unlock";
inline constexpr const char* kSem = "sem --fg true";
}  // namespace peer_names

// Says which are left out because they are not installed.
std::vector<Candidate> make_peers(const Programs& programs, const std::string& folder);

}  // namespace hagi::test
