# The Debian package, made by `cpack -G DEB`, and what the other packages (packaging/make.sh) need to know.
set(HAGI_PACKAGE_CONTACT "The hagi authors <hagi@hagi.invalid>" CACHE STRING "Who answers for the packages: NAME <MAIL>")

set(CPACK_PACKAGE_NAME hagi)
set(CPACK_PACKAGE_CONTACT "${HAGI_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fair queue and lease for a shared resource, without a server")
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "With hagi, language-model agents, CI jobs and scripts take turns on\n\
something that only one of them may use at a time: a game server to deploy\n\
to, a test environment, a build host. A lock is a fair queue and a lease\n\
with a fencing token, kept in one SQLite file; no server is needed.")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_HAGI_DEBIAN_FOLDER ${PROJECT_SOURCE_DIR}/packaging/debian)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(HAGI_NPM_CPU arm64)
else()
  set(HAGI_NPM_CPU x64)
endif()
# npm links the pages that are named one by one.
list(TRANSFORM manual_pages REPLACE "^.*/" "man/" OUTPUT_VARIABLE HAGI_NPM_MAN)
list(JOIN HAGI_NPM_MAN "\", \"" HAGI_NPM_MAN)
configure_file(packaging/npm/package.json.in ${PROJECT_BINARY_DIR}/packaging/package.json @ONLY)

include(CPack)
