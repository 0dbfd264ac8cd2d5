#include "tests/power/disk.hpp"

#include <algorithm>

namespace hagi::test {
namespace {

constexpr std::size_t kSector = 512;

void put(std::string& file, std::int64_t at, std::string_view bytes) {
    const auto from = static_cast<std::size_t>(at);
    if (file.size() < from + bytes.size()) file.resize(from + bytes.size());
    std::copy(bytes.begin(), bytes.end(), file.begin() + at);
}

// A disk writes sectors; what of a sector is not written anew stays as it was, even where the sector is spoilt.
void put_torn(std::string& file, std::int64_t at, std::string_view bytes, Dice& dice) {
    while (!bytes.empty()) {
        const std::size_t count = std::min(bytes.size(), kSector - static_cast<std::size_t>(at) % kSector);
        const std::int64_t fate = dice.roll(8);
        if (fate == 0) put(file, at, dice.bytes(count));
        if (fate > 3) put(file, at, bytes.substr(0, count));
        at += static_cast<std::int64_t>(count);
        bytes.remove_prefix(count);
    }
}

bool keeps_writes(Cut cut, Dice& dice) {
    switch (cut) {
        case Cut::Nothing:
        case Cut::Names: return false;
        case Cut::All:
        case Cut::Bytes: return true;
        case Cut::Some:
        case Cut::Sectors: break;
    }
    return dice.one_in(2);
}

bool keeps_names(Cut cut, Dice& dice) {
    switch (cut) {
        case Cut::Nothing:
        case Cut::Bytes: return false;
        case Cut::All:
        case Cut::Names: return true;
        case Cut::Some:
        case Cut::Sectors: break;
    }
    return dice.one_in(2);
}

}  // namespace

const char* name_of(Cut cut) {
    switch (cut) {
        case Cut::Nothing: return "nothing";
        case Cut::All: return "all";
        case Cut::Names: return "names only";
        case Cut::Bytes: return "bytes only";
        case Cut::Some: return "some writes";
        case Cut::Sectors: return "some sectors";
    }
    return "?";
}

Disk::Disk(const Image& synced) {
    for (const auto& [name, bytes] : synced) {
        names_[name] = synced_names_[name] = files_.size();
        files_.push_back({bytes, {}});
    }
}

void Disk::rename(NameChange change) {
    if (change.file)
        names_[change.name] = *change.file;
    else
        names_.erase(change.name);
    names_since_.push_back(std::move(change));
}

void Disk::apply(const Operation& operation) {
    using Kind = Operation::Kind;
    const auto named = names_.find(operation.kind == Kind::Link ? operation.target : operation.name);
    File* const file = named == names_.end() ? nullptr : &files_[named->second];
    switch (operation.kind) {
        case Kind::Create:
            rename({operation.name, files_.size()});
            files_.emplace_back();
            break;
        case Kind::Link:
            if (file) rename({operation.name, named->second});
            break;
        case Kind::Unlink: rename({operation.name, std::nullopt}); break;
        case Kind::SyncFolder:
            synced_names_ = names_;
            names_since_.clear();
            break;
        case Kind::Write:
            if (file) file->since.push_back({operation.at, operation.bytes});
            break;
        case Kind::Truncate:
            if (file) file->since.push_back({operation.at, std::nullopt});
            break;
        case Kind::Sync:
            if (!file) break;
            for (const Write& write : file->since)
                if (write.bytes)
                    put(file->synced, write.at, *write.bytes);
                else
                    file->synced.resize(static_cast<std::size_t>(write.at));
            file->since.clear();
            break;
        case Kind::Answer: break;
    }
}

Image Disk::after(Cut cut, Dice& dice) const {
    auto names = synced_names_;
    for (const NameChange& change : names_since_) {
        if (!keeps_names(cut, dice)) continue;
        if (change.file)
            names[change.name] = *change.file;
        else
            names.erase(change.name);
    }
    Image image;
    for (const auto& [name, file] : names) {
        std::string& bytes = image[name] = files_[file].synced;
        for (const Write& write : files_[file].since) {
            if (cut == Cut::Sectors && write.bytes)
                put_torn(bytes, write.at, *write.bytes, dice);
            else if (!keeps_writes(cut, dice))
                continue;
            else if (write.bytes)
                put(bytes, write.at, *write.bytes);
            else
                bytes.resize(static_cast<std::size_t>(write.at));
        }
    }
    return image;
}

}  // namespace hagi::test
