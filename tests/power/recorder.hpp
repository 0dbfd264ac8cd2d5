// Writes down what the engine does to one folder, in order: SQLite's part through its VFS, the program's own (how a
// store comes into being) through the C library's functions, which the linker wraps for this test program.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/power/disk.hpp"
#include "tests/support/observed_vfs.hpp"

namespace hagi::test {

// One at a time.
class Recorder : private DiskObserver {
public:
    explicit Recorder(std::string folder);
    ~Recorder() override;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void note_answer() { operations_.push_back({}); }
    [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

    // Done once, when the program itself is about to sync the folder: what another process does in that instant.
    void before_folder_sync(std::function<void()> happening) { before_folder_sync_ = std::move(happening); }

    // What is told of elsewhere is left out. For the wrapped functions.
    void record(Operation::Kind kind, const std::string& path, std::int64_t at = 0, std::string_view bytes = {});
    void record_first_sight(const std::string& path);  // before the program itself writes to an empty file
    void record_link(const std::string& from, const std::string& to);
    [[nodiscard]] const std::string& folder() const { return folder_; }
    static Recorder* active();

private:
    int on_write(const std::string& path, std::int64_t at, std::string_view bytes) override;
    int on_truncate(const std::string& path, std::int64_t size) override;
    int on_sync(const std::string& path) override;
    void on_create(const std::string& path) override { record(Operation::Kind::Create, path); }
    void on_delete(const std::string& path) override { record(Operation::Kind::Unlink, path); }
    void on_sync_folder() override { operations_.push_back({Operation::Kind::SyncFolder}); }
    [[nodiscard]] bool is_ours(const std::string& path) const;
    [[nodiscard]] std::string name_of(const std::string& path) const { return path.substr(folder_.size() + 1); }

    std::string folder_;
    std::vector<Operation> operations_;
    std::function<void()> before_folder_sync_;
    std::set<std::string> seen_;
    ObservedVfs vfs_{*this};
};

}  // namespace hagi::test
