// Reads bags with the reference library, roscpp's rosbag_storage, for
// TestReferees. For each file one line:
//
//   ok MESSAGES CONNECTIONS BYTES FIRST_NS LAST_NS CHECKSUM
//   error TEXT
//
// CHECKSUM is the sum, modulo 2^64, of FNV-1a over each message's bytes, so that
// it does not depend on the order of messages with equal times.
//
// With --append TARGET IN it adds the messages of IN to TARGET instead, in the library's
// append mode.
//
// With --encrypt IN OUT CODEC USER it copies IN to OUT, encrypted by AesCbcEncryptor for a
// user of gpg.
#include <rosbag/bag.h>
#include <rosbag/view.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

static uint64_t fnv1a(const uint8_t* p, size_t n) {
  uint64_t h = 14695981039346656037ull;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

static void count(const char* path) {
  rosbag::Bag bag;
  bag.open(path, rosbag::bagmode::Read);
  rosbag::View view(bag);
  uint64_t messages = 0, bytes = 0, checksum = 0, first = 0, last = 0;
  std::vector<uint8_t> buf;
  for (const rosbag::MessageInstance& m : view) {
    buf.resize(m.size());
    ros::serialization::OStream out(buf.data(), m.size());
    m.write(out);
    const uint64_t now = m.getTime().toNSec();
    if (messages++ == 0) first = now;
    last = now;
    bytes += m.size();
    checksum += fnv1a(buf.data(), buf.size());
  }
  printf("ok %lu %zu %lu %lu %lu %016lx\n", messages, view.getConnections().size(), bytes, first, last, checksum);
}

static int append(const char* target, const char* in) {
  rosbag::Bag to, from;
  from.open(in, rosbag::bagmode::Read);
  to.open(target, rosbag::bagmode::Append);
  rosbag::View view(from);
  for (const rosbag::MessageInstance& m : view) to.write(m.getTopic(), m.getTime(), m, m.getConnectionHeader());
  to.close();
  return 0;
}

static void encrypt(const char* from, const char* to, const char* codec, const char* user) {
  rosbag::Bag in, out;
  in.open(from, rosbag::bagmode::Read);
  out.open(to, rosbag::bagmode::Write);
  out.setEncryptorPlugin("rosbag/AesCbcEncryptor", user);
  out.setChunkThreshold(2000);
  out.setCompression(!strcmp(codec, "lz4")   ? rosbag::compression::LZ4
                     : !strcmp(codec, "bz2") ? rosbag::compression::BZ2
                                             : rosbag::compression::Uncompressed);
  rosbag::View view(in);
  for (const rosbag::MessageInstance& m : view) out.write(m.getTopic(), m.getTime(), m, m.getConnectionHeader());
  out.close();
}

int main(int argc, char** argv) {
  if (argc == 6 && strcmp(argv[1], "--encrypt") == 0) {
    encrypt(argv[2], argv[3], argv[4], argv[5]);
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "--append") == 0) return append(argv[2], argv[3]);
  for (int i = 1; i < argc; i++) {
    try {
      count(argv[i]);
    } catch (const std::exception& e) {
      printf("error %s\n", e.what());
    }
  }
}
