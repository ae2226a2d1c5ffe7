#include "daemon/session/listener.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/scratch_dir.h"
#include "tests/system/wire_client.h"

namespace kvtier {
namespace {

using test::connect_to;
using test::ScratchDir;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST(Listener, accepts_who_connects_and_none_else) {
  const ScratchDir dir;
  Result<std::unique_ptr<Listener>> listener = Listener::open({.path = dir.file("d.sock")});
  ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
  EXPECT_EQ(listener.value()->accept().code(), Code::kBusy);
  const UniqueFd client = connect_to(dir.file("d.sock"), SOCK_SEQPACKET);
  EXPECT_TRUE(client.is_open());
  EXPECT_TRUE(listener.value()->accept().is_ok());
}

TEST(Listener, a_deleted_socket_is_made_again_and_a_foreign_file_is_left_alone) {
  const ScratchDir dir;
  const std::string path = dir.file("d.sock");
  const std::unique_ptr<Listener> listener = Listener::open({.path = path}).value();
  EXPECT_TRUE(listener->is_there());
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_FALSE(listener->is_there());
  ASSERT_TRUE(listener->make_again().is_ok());
  EXPECT_TRUE(listener->is_there());
  EXPECT_EQ(mode_of(path), 0660U);
  const UniqueFd client = connect_to(path, SOCK_SEQPACKET);
  EXPECT_TRUE(client.is_open());
  EXPECT_TRUE(listener->accept().is_ok());
  ASSERT_EQ(::unlink(path.c_str()), 0);
  std::ofstream(path) << "precious";
  EXPECT_EQ(listener->make_again().code(), Code::kExists);
  EXPECT_TRUE(std::ifstream(path).good());
}

// S-14: the mode does not depend on the umask
TEST(Listener, S14_mode_is_0660_under_umask_0) {
  const ScratchDir dir;
  const mode_t before = ::umask(0);
  const Result<std::unique_ptr<Listener>> listener = Listener::open({.path = dir.file("d.sock")});
  ::umask(before);
  ASSERT_TRUE(listener.is_ok());
  EXPECT_EQ(mode_of(dir.file("d.sock")), 0660u);
  EXPECT_EQ(mode_of(dir.file("d.sock.lock")), 0600u);
}

// R-03 (2), within one process: flock belongs to the open file, so it excludes here as it does between
// processes
TEST(Listener, R03_second_owner_is_told_the_pid) {
  const ScratchDir dir;
  const Result<std::unique_ptr<Listener>> first = Listener::open({.path = dir.file("d.sock")});
  ASSERT_TRUE(first.is_ok());
  const Result<std::unique_ptr<Listener>> second = Listener::open({.path = dir.file("d.sock")});
  EXPECT_EQ(second.code(), Code::kExists);
  EXPECT_NE(second.status().message().find("already running (pid " + std::to_string(::getpid()) + ")"),
            std::string::npos)
      << second.status().message();
  EXPECT_TRUE(connect_to(dir.file("d.sock"), SOCK_SEQPACKET).is_open()) << "the first one's socket was taken";
}

// R-03 (1): a crash leaves the file, the next start replaces it
TEST(Listener, R03_stale_socket_is_replaced) {
  const ScratchDir dir;
  const std::string path = dir.file("d.sock");
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<std::unique_ptr<Listener>> listener = Listener::open({.path = path});
    std::_Exit(listener.is_ok() ? 0 : 1);  // no destructor runs: as in a crash
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(std::filesystem::is_socket(path));
  ASSERT_TRUE(Listener::open({.path = path}).is_ok());
}

// R-03 (3)
TEST(Listener, R03_regular_file_is_not_touched) {
  const ScratchDir dir;
  std::ofstream(dir.file("d.sock")) << "precious";
  const Result<std::unique_ptr<Listener>> listener = Listener::open({.path = dir.file("d.sock")});
  EXPECT_EQ(listener.code(), Code::kInvalid);
  std::string content;
  std::ifstream(dir.file("d.sock")) >> content;
  EXPECT_EQ(content, "precious");
}

TEST(Listener, lock_is_not_followed_through_a_symbolic_link) {
  const ScratchDir dir;
  std::ofstream(dir.file("victim")) << "precious";
  ASSERT_EQ(::symlink(dir.file("victim").c_str(), dir.file("d.sock.lock").c_str()), 0);
  EXPECT_FALSE(Listener::open({.path = dir.file("d.sock")}).is_ok());
  EXPECT_EQ(std::filesystem::file_size(dir.file("victim")), 8u);
}

TEST(Listener, clean_end_removes_the_socket_but_not_a_successor) {
  const ScratchDir dir;
  const std::string path = dir.file("d.sock");
  {
    const Result<std::unique_ptr<Listener>> listener = Listener::open({.path = path});
    ASSERT_TRUE(listener.is_ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const Result<std::unique_ptr<Listener>> listener = Listener::open({.path = path});
    ASSERT_TRUE(listener.is_ok());
    std::filesystem::remove(path);
    std::ofstream(path) << "another's";
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Listener, path_length_is_checked) {
  EXPECT_EQ(Listener::open({.path = ""}).code(), Code::kInvalid);
  EXPECT_EQ(Listener::open({.path = "/tmp/" + std::string(120, 'x')}).code(), Code::kInvalid);
}

}  // namespace
}  // namespace kvtier
