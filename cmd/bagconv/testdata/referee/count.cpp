// count BAG...: reads bags with the C++ reference library (librosbag-storage) and
// prints, for each: path, messages, whether their times ascend, bytes of messages;
// or the path and the error.
#include <cstdio>
#include <exception>
#include <rosbag/bag.h>
#include <rosbag/view.h>

static void count(const char* path) {
  rosbag::Bag bag;
  bag.open(path, rosbag::bagmode::Read);
  rosbag::View all(bag);
  unsigned long messages = 0, bytes = 0;
  bool ascend = true;
  ros::Time before = ros::TIME_MIN;
  for (const rosbag::MessageInstance& m : all) {
    ascend = ascend && !(m.getTime() < before);
    before = m.getTime();
    bytes += m.size();
    messages++;
  }
  std::printf("%s\t%lu\t%s\t%lu\n", path, messages, ascend ? "ascending" : "unsorted", bytes);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    try {
      count(argv[i]);
    } catch (const std::exception& e) {
      std::printf("%s\terror\t%s\n", argv[i], e.what());
    }
  }
}
