# One target for warnings.
add_library(hagi_warnings INTERFACE)
target_compile_options(
  hagi_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            -Wshadow
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Wcast-qual
            -Woverloaded-virtual
            -Wduplicated-cond
            -Wlogical-op
            -Wnull-dereference
            -Wno-missing-field-initializers # aggregates name the fields that matter
            -Wno-restrict # g++ 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651)
)
# Below the address sanitizer g++ 12 finds std::regex uninitialized, which it is not (GCC bug 105562).
if(HAGI_SANITIZE MATCHES "address")
  target_compile_options(hagi_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(HAGI_WERROR)
  target_compile_options(hagi_warnings INTERFACE -Werror)
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(hagi_warnings INTERFACE -Wno-unknown-warning-option)
endif()
