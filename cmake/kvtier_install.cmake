# cmake --install build [--prefix /usr]: programs, the client library and what finds it, units, the annotated settings
# and the examples; libkvclient/python installs its package. All but the unit stays right when the prefix is moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
foreach(program kvtierd kvtier-keeper kvctl)
  if(TARGET ${program})  # KVTIER_SKIP leaves folders out
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

set_target_properties(kvclient_shared PROPERTIES EXPORT_NAME kvclient)
install(TARGETS kvclient_shared EXPORT kvclientTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
target_compile_features(kvclient_shared INTERFACE cxx_std_20)  # of its C++ headers; C programs do not see it
target_include_directories(kvclient_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/libkvclient/include>)
add_library(kvclient::kvclient ALIAS kvclient_shared)  # in a tree that holds this one
install(DIRECTORY libkvclient/include/kvclient DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# find_package(kvclient), target kvclient::kvclient. Before 1.0 a minor version may change the interface.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kvclient)
set(package_config ${CMAKE_BINARY_DIR}/installed/kvclientConfig)
file(WRITE ${package_config}.cmake "include(\"\${CMAKE_CURRENT_LIST_DIR}/kvclientTargets.cmake\")\n")
write_basic_package_version_file(${package_config}Version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_config}.cmake ${package_config}Version.cmake DESTINATION ${package_dir})
install(EXPORT kvclientTargets NAMESPACE kvclient:: DESTINATION ${package_dir})

# pkg-config kvclient: the prefix is found from where the .pc file lies.
file(RELATIVE_PATH KVTIER_PC_TO_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
string(REGEX REPLACE "/$" "" KVTIER_PC_TO_PREFIX "${KVTIER_PC_TO_PREFIX}")
configure_file(cmake/kvclient.pc.in ${CMAKE_BINARY_DIR}/installed/kvclient.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/kvclient.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES config/kvtierd.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/kvtier)
install(DIRECTORY libkvclient/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/kvtier
        FILES_MATCHING PATTERN "share.*" PATTERN "sequence.cc")

# The unit names the program where it was installed.
install(CODE "
  file(READ \"${CMAKE_SOURCE_DIR}/systemd/kvtierd.service\" unit)
  string(REPLACE \"/usr/bin/kvtierd\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/kvtierd\" unit \"\${unit}\")
  file(WRITE \"${CMAKE_BINARY_DIR}/installed/kvtierd.service\" \"\${unit}\")")
install(FILES ${CMAKE_BINARY_DIR}/installed/kvtierd.service DESTINATION lib/systemd/system)
install(FILES systemd/kvtier.sysusers.conf DESTINATION lib/sysusers.d RENAME kvtier.conf)
install(FILES systemd/kvtier.tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME kvtier.conf)
