# cmake --install build [--prefix /usr]: programs, the client library, units and the annotated settings.
include(GNUInstallDirs)
foreach(program kvtierd kvtier-keeper kvctl)
  if(TARGET ${program})  # KVTIER_SKIP leaves folders out
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(TARGETS kvclient_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY libkvclient/include/kvclient DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES config/kvtierd.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/kvtier)

# The unit names the program where it was installed.
install(CODE "
  file(READ \"${CMAKE_SOURCE_DIR}/systemd/kvtierd.service\" unit)
  string(REPLACE \"/usr/bin/kvtierd\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/kvtierd\" unit \"\${unit}\")
  file(WRITE \"${CMAKE_BINARY_DIR}/installed/kvtierd.service\" \"\${unit}\")")
install(FILES ${CMAKE_BINARY_DIR}/installed/kvtierd.service DESTINATION lib/systemd/system)
install(FILES systemd/kvtier.sysusers.conf DESTINATION lib/sysusers.d RENAME kvtier.conf)
install(FILES systemd/kvtier.tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME kvtier.conf)
