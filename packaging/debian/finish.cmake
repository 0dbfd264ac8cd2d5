# Run by CPack over what is to be packed, before the Debian package is made of it: what Debian's policy wants on top of
# an installation.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(documents ${root}/doc/hagi)

# compress(FILE): the same bytes each time.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE ${documents}/LICENSE)
file(COPY_FILE ${CPACK_HAGI_DEBIAN_FOLDER}/copyright ${documents}/copyright)
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
compress(${documents}/changelog)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH where it is set
file(
  WRITE ${documents}/changelog.Debian
  "hagi (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
  "  * What changed is in changelog.gz.\n\n" " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
compress(${documents}/changelog.Debian)

file(GLOB manual_pages ${root}/man/man1/*.1)
foreach(page ${manual_pages})
  compress(${page})
endforeach()

if(EXISTS ${root}/zsh/site-functions)
  file(RENAME ${root}/zsh/site-functions ${root}/zsh/vendor-completions)
endif()

file(MAKE_DIRECTORY ${root}/lintian/overrides)
file(COPY_FILE ${CPACK_HAGI_DEBIAN_FOLDER}/lintian-overrides ${root}/lintian/overrides/hagi)

file(GLOB_RECURSE everything LIST_DIRECTORIES ON ${root}/*)
foreach(each ${everything})
  if(IS_DIRECTORY ${each})
    file(CHMOD ${each} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
foreach(each ${documents}/copyright ${documents}/changelog.gz ${documents}/changelog.Debian.gz
             ${root}/lintian/overrides/hagi)
  file(CHMOD ${each} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
