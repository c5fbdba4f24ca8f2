// count BAG...: reads bags with the C++ reference library (librosbag-storage) and
// prints a line of JSON for each: path, messages, order (whether their times ascend);
// or the path and the problem.
#include <cstdio>
#include <exception>
#include <string>
#include <rosbag/bag.h>
#include <rosbag/view.h>

static void count(const char* path) {
  rosbag::Bag bag;
  bag.open(path, rosbag::bagmode::Read);
  rosbag::View all(bag);
  unsigned long messages = 0;
  bool ascend = true;
  ros::Time before = ros::TIME_MIN;
  for (const rosbag::MessageInstance& m : all) {
    ascend = ascend && !(m.getTime() < before);
    before = m.getTime();
    messages++;
  }
  std::printf("{\"path\": \"%s\", \"messages\": %lu, \"order\": \"%s\"}\n", path, messages, ascend ? "ascending" : "unsorted");
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    try {
      count(argv[i]);
    } catch (const std::exception& e) {
      std::string what = e.what();
      for (char& c : what) {
        if (c == '"' || c == '\\' || c < ' ') c = '.';
      }
      std::printf("{\"path\": \"%s\", \"problem\": \"%s\"}\n", argv[i], what.c_str());
    }
  }
}
