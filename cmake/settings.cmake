# One target for how everything is compiled and linked.
add_library(hagi_settings INTERFACE)
target_compile_features(hagi_settings INTERFACE cxx_std_20)
target_include_directories(hagi_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(hagi_settings INTERFACE _FILE_OFFSET_BITS=64)
target_compile_options(hagi_settings INTERFACE -ffunction-sections -fdata-sections -fstack-protector-strong)
target_link_options(hagi_settings INTERFACE -Wl,--gc-sections)
set(CMAKE_CXX_EXTENSIONS OFF)

# The commands live for a millisecond: what counts is how little there is to load, not how far loops are unrolled.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

if(HAGI_SANITIZE)
  target_compile_options(hagi_settings INTERFACE -fsanitize=${HAGI_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(hagi_settings INTERFACE -fsanitize=${HAGI_SANITIZE})
endif()

# libFuzzer watches which way an input takes through all of this.
if(HAGI_FUZZ)
  target_compile_options(hagi_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(hagi_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# For what runs once a command, or waits for the machine: small beats fast.
add_library(hagi_small INTERFACE)
target_compile_options(hagi_small INTERFACE $<$<CONFIG:Release>:-Os>)
