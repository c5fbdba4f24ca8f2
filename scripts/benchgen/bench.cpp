// Reads the same bytes with generated code and with roscpp, by turns, and prints the medians of the
// processor time for a message.
#include <nav_msgs/Odometry.h>
#include <ros/serialization.h>
#include <sensor_msgs/Image.h>
#include <sensor_msgs/PointCloud2.h>
#include <tf2_msgs/TFMessage.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "structure.h"

namespace {

double Now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double Median(std::vector<double>& v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Time returns the time of one call.
template <class F>
double Time(int times, F f) {
  const double start = Now();
  for (int i = 0; i < times; i++) f();
  return (Now() - start) / times;
}

void Fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

template <class Ours, class Theirs>
void Compare(const char* name, const Theirs& message, int rounds) {
  ros::SerializedMessage bytes = ros::serialization::serializeMessage(message);
  const std::uint8_t* data = bytes.message_start;
  const std::uint32_t size = static_cast<std::uint32_t>(bytes.num_bytes) - 4;
  const int times = std::max(20, static_cast<int>(2e8 / (size + 2000)) / 40);
  std::vector<double> ours[2], theirs[2];
  Ours our;
  Theirs their;
  auto load = [&](Ours& v) {
    ToolStream stream(data, size, ToolStream::kRos1);
    LoadData(stream, v);
    if (!stream.Finish()) Fail(stream.Error().c_str());
  };
  auto deserialize = [&](Theirs& v) {
    ros::serialization::IStream stream(const_cast<std::uint8_t*>(data), size);
    ros::serialization::deserialize(stream, v);
    if (stream.getLength() != 0) Fail("roscpp left bytes over");
  };
  for (int i = 0; i < 2 * rounds; i++) {  // each begins in every other round
    if (i % 2 == 0) {
      ours[0].push_back(Time(times, [&] { load(our); }));
      theirs[0].push_back(Time(times, [&] { deserialize(their); }));
      ours[1].push_back(Time(times, [&] { std::unique_ptr<Ours> v(new Ours()); load(*v); }));
      theirs[1].push_back(Time(times, [&] { std::unique_ptr<Theirs> v(new Theirs()); deserialize(*v); }));
    } else {
      theirs[0].push_back(Time(times, [&] { deserialize(their); }));
      ours[0].push_back(Time(times, [&] { load(our); }));
      theirs[1].push_back(Time(times, [&] { std::unique_ptr<Theirs> v(new Theirs()); deserialize(*v); }));
      ours[1].push_back(Time(times, [&] { std::unique_ptr<Ours> v(new Ours()); load(*v); }));
    }
  }
  const double a = Median(ours[0]), b = Median(theirs[0]), c = Median(ours[1]), d = Median(theirs[1]);
  std::printf("| %s | %u | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", name, size, a, b, b / a, c, d, d / c);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
  std::printf("# Speed of generated C++\n\n"
              "`scripts/benchgen/run > docs/benchmarks/codegen.md` writes this page. It reads the same ROS 1 messages with code of\n"
              "`bagconv gen cpp` and with the serialization of roscpp (Debian's packages), both compiled with `g++ -O2`, by turns in one\n"
              "process. Numbers are medians of processor time, ns for a message; above 1.00 the generated code is faster. A reused\n"
              "message keeps the memory of its lists.\n\n"
              "| message | bytes | reused: generated | roscpp | ratio | new: generated | roscpp | ratio |\n|---|---|---|---|---|---|---|---|\n");
  sensor_msgs::Image image;
  image.header.frame_id = "camera_front_optical_frame";
  image.height = 480, image.width = 640, image.encoding = "rgb8", image.step = 1920;
  image.data.assign(640 * 480 * 3, 7);
  Compare<types::sensor_msgs::Image>("sensor_msgs/Image, 640 x 480 rgb8", image, rounds);
  sensor_msgs::PointCloud2 cloud;
  cloud.header.frame_id = "lidar";
  const char* names[] = {"x", "y", "z", "intensity"};
  for (int i = 0; i < 4; i++) {
    sensor_msgs::PointField f;
    f.name = names[i], f.offset = static_cast<std::uint32_t>(4 * i), f.datatype = 7, f.count = 1;
    cloud.fields.push_back(f);
  }
  cloud.height = 1, cloud.width = 20000, cloud.point_step = 16, cloud.row_step = 320000;
  cloud.data.assign(320000, 3);
  Compare<types::sensor_msgs::PointCloud2>("sensor_msgs/PointCloud2, 20,000 points", cloud, rounds);
  nav_msgs::Odometry odometry;
  odometry.header.frame_id = "odom", odometry.child_frame_id = "base_link";
  for (std::size_t i = 0; i < 36; i++) odometry.pose.covariance[i] = static_cast<double>(i);
  Compare<types::nav_msgs::Odometry>("nav_msgs/Odometry", odometry, rounds);
  tf2_msgs::TFMessage tf;
  for (int i = 0; i < 10; i++) {
    geometry_msgs::TransformStamped t;
    t.header.frame_id = "base_link", t.child_frame_id = "wheel_" + std::to_string(i);
    t.transform.rotation.w = 1;
    tf.transforms.push_back(t);
  }
  Compare<types::tf2_msgs::TFMessage>("tf2_msgs/TFMessage, 10 transforms", tf, rounds);
  return 0;
}
