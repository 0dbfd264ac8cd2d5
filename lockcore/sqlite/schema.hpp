// The tables of a store, how an older store gets them, and how a new store comes into being.
// README.md describes them under "The stored format".
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lockcore/clock.hpp"
#include "lockcore/result.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "platform/side_file.hpp"

namespace hagi::sqlite {

// "hagi" in ASCII: by this number in the file's header a store is known from any other database.
inline constexpr std::uint32_t kApplicationId = 0x68616769;

// A write-ahead log needs memory that all users share: one machine. Chosen when a store is made, never changed after.
enum class Journal { Wal, Rollback };

// What turns version n into version n + 1 is step n; version 0 is an empty database. A step is never changed once
// released: a new one is added behind it.
std::span<const char* const> schema_steps();

// The version this program reads and writes.
std::int64_t schema_version();

Result<std::int64_t> stored_version(Connection& connection);

// Brings the database to the version after the last of `steps`, inside the caller's write transaction.
Outcome migrate(Connection& connection, std::span<const char* const> steps);

// Whether somebody else's store was there first.
enum class Creation { Created, AlreadyThere };

// Makes the whole store under a name of its own and links it into place: at `path` there is nothing or a whole,
// durable store, whoever is killed when. `path` is never overwritten. NotFound: its folder does not exist. Damaged: the
// journal or log of a store that was at `path` is still there, and would be taken for the new one's.
// `furnish` adds to the new store before anybody can see it.
using Furnish = std::function<Outcome(Connection& store)>;
Result<Creation> create_store(const std::string& path, Journal journal, const SideFileMode& mode, Clock& clock,
                              const Furnish& furnish = {});

}  // namespace hagi::sqlite
