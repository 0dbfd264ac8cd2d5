# What `cmake --install` puts where. Man pages, completions and skills are whatever is in their folders.
include(GNUInstallDirs)

# zsh looks here in /usr/local everywhere; Debian's packages have a folder of their own (packaging/debian/finish.cmake).
set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

install(TARGETS hagi RUNTIME)
install(FILES schema/hagi-agent-lock.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/hagi)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY tests/cli/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)

file(GLOB manual_pages CONFIGURE_DEPENDS man/*.1)
install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# install_completion(FILE FOLDER NAME): shells find a completion by its name.
function(install_completion file folder name)
  if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${file})
    install(FILES completions/${file} DESTINATION ${folder} RENAME ${name})
  endif()
endfunction()
install_completion(hagi.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions hagi)
install_completion(hagi.zsh ${zsh_folder} _hagi)
install_completion(hagi.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d hagi.fish)

if(EXISTS ${PROJECT_SOURCE_DIR}/skills)
  install(DIRECTORY skills DESTINATION ${CMAKE_INSTALL_DATADIR}/hagi)
endif()
