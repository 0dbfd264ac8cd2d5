# What `cmake --install` puts where.
include(GNUInstallDirs)

# zsh looks here in /usr/local everywhere; Debian's packages have a folder of their own (packaging/debian/finish.cmake).
set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

install(TARGETS hagi RUNTIME)
install(FILES schema/hagi-agent-lock.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/hagi)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY tests/cli/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)

file(GLOB manual_pages CONFIGURE_DEPENDS man/*.1)
install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Shells find a completion by its name.
install(FILES completions/hagi.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hagi)
install(FILES completions/hagi.zsh DESTINATION ${zsh_folder} RENAME _hagi)
install(FILES completions/hagi.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY skills DESTINATION ${CMAKE_INSTALL_DATADIR}/hagi)
