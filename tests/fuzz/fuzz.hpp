// What the fuzz targets share. A target is one LLVMFuzzerTestOneInput: clang's libFuzzer invents inputs for it (`./dev
// soak`), replay.cpp shows it those of the corpus (every build).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hagi::test {

// Ends the process with a word, so that the input is kept.
inline void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what.c_str());
    std::abort();
}

}  // namespace hagi::test
