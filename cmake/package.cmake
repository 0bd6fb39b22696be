# The Debian package: scripts/package, or `cpack -G DEB` in a build folder that has tidemark and tidetool. Debian's own rules are
# those of its policy manual; what dependencies there are dpkg-shlibdeps finds out of the programs.
set(TIDEMARK_PACKAGE_CONTACT "Tidemark maintainers <maintainers@tidemark.invalid>" CACHE STRING "Maintainer of the package")

install(TARGETS tidemark tidetool RUNTIME DESTINATION bin)

# What belongs to the system: only in the package, never by `cmake --install`.
set(debian ${PROJECT_SOURCE_DIR}/deploy/debian)
# deb-systemd-helper of Debian 12 looks for units in /lib.
install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/tidemark.service DESTINATION /lib/systemd/system COMPONENT debian
        EXCLUDE_FROM_ALL)
install(FILES ${debian}/tidemark.yaml DESTINATION /etc/tidemark COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${debian}/copyright DESTINATION /usr/share/doc/tidemark COMPONENT debian EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION /usr/share/doc/tidemark/docs COMPONENT debian EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.md")
foreach(log "${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog" "${debian}/changelog changelog.Debian")
  separate_arguments(log)
  list(GET log 0 from)
  list(GET log 1 name)
  # Without the time, so that the same sources give the same package.
  install(
    CODE "set(to \"\$ENV{DESTDIR}/usr/share/doc/tidemark/${name}.gz\")
          execute_process(COMMAND gzip -9n INPUT_FILE \"${from}\" OUTPUT_FILE \"\${to}\" COMMAND_ERROR_IS_FATAL ANY)
          file(CHMOD \"\${to}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)"
    COMPONENT debian EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidemark)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${TIDEMARK_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VENDOR Tidemark)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "resource requests and replicas out of what Prometheus sends")
set(CPACK_PACKAGE_DESCRIPTION
    "Tidemark takes in usage by Prometheus' remote write, forecasts it, and says what\n\
Kubernetes workloads should request and how many replicas they should have:\n\
as metrics, over HTTP, to HorizontalPodAutoscalers and as an admission webhook.\n\
The daemon is tidemark; tidetool checks configurations and installations, and\n\
reports from a Prometheus' history without a daemon.")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tidemark;ALL;/;${PROJECT_BINARY_DIR};tidemark;debian;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Of those that libopenblas0 leaves a choice of: the daemon has threads of its own.
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-serial)
# For backfill and others over HTTPS.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "prometheus, kubernetes-client")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${debian}/conffiles;${debian}/postinst;${debian}/prerm;${debian}/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
