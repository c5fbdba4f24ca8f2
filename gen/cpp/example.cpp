// Reads messages from standard input, and prints them or, with --frames, writes them anew:
//
//   bagconv cat IN --raw --framed | ./example
//   bagconv cat IN --raw --framed | ./example --frames | bagconv import --like IN OUT
//
// A frame is a message with what is known of it. Numbers are little endian, and the time is in
// ns since 1970:
//
//   offset  0       4       12      14      16      20
//           u32 n   i64     u16 e   u16 t   u32 p   e bytes, t bytes, p bytes, the message
//           bytes   time                            encoding, type,   topic
//           behind
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "structure.h"
@USING@
namespace {

bool frames = false;

struct Frame {
  std::int64_t time = 0;
  std::string encoding, type, topic, message;
};

// Number reads n bytes, the lowest first.
std::uint64_t Number(const unsigned char* p, int n) {
  std::uint64_t v = 0;
  for (int i = n; i > 0; i--) v = v << 8 | p[i - 1];
  return v;
}

// ReadText reads n bytes. A length is not trusted: memory is taken as bytes come.
bool ReadText(std::string& text, std::size_t n) {
  text.clear();
  while (text.size() < n) {
    const std::size_t old = text.size();
    const std::size_t more = n - old < 1048576 ? n - old : 1048576;
    text.resize(old + more);
    if (std::fread(&text[old], 1, more, stdin) != more) return false;
  }
  return true;
}

// ReadFrame reads a frame. It returns false at the end, and sets broken if that is within one.
bool ReadFrame(Frame& f, bool& broken) {
  unsigned char head[20];
  const std::size_t n = std::fread(head, 1, sizeof(head), stdin);
  broken = n > 0;
  if (n < sizeof(head)) return false;
  const std::uint64_t all = Number(head, 4), encoding = Number(head + 12, 2), type = Number(head + 14, 2), topic = Number(head + 16, 4);
  if (all < 16 + encoding + type + topic) return false;
  f.time = static_cast<std::int64_t>(Number(head + 4, 8));
  broken = !ReadText(f.encoding, encoding) || !ReadText(f.type, type) || !ReadText(f.topic, topic) ||
           !ReadText(f.message, all - 16 - encoding - type - topic);
  return !broken;
}

// Describes reports whether a frame is no message: bagconv cat --definitions writes some that describe topics.
bool Describes(const Frame& f) {
  return f.encoding == "stamp" || f.encoding == "recording" || f.encoding.compare(0, 11, "definition/") == 0;
}

// AppendNumber writes n bytes, the lowest first.
void AppendNumber(std::string& text, std::uint64_t v, int n) {
  for (int i = 0; i < n; i++) text += static_cast<char>(v >> 8 * i & 0xff);
}

// WriteFrame writes a message as a frame, with the topic, type and time of frame f.
template <class T>
bool WriteFrame(const Frame& f, const T& message, std::string& error) {
  ToolStream stream(f.encoding == "ros1" ? ToolStream::kRos1 : ToolStream::kCdr);
  stream << message;
  if (!stream.ok()) {
    error = stream.Error();
    return false;
  }
  std::string head;
  AppendNumber(head, 16 + f.encoding.size() + f.type.size() + f.topic.size() + stream.Bytes().size(), 4);
  AppendNumber(head, static_cast<std::uint64_t>(f.time), 8);
  AppendNumber(head, f.encoding.size(), 2);
  AppendNumber(head, f.type.size(), 2);
  AppendNumber(head, f.topic.size(), 4);
  head += f.encoding + f.type + f.topic + stream.Bytes();
  return std::fwrite(head.data(), 1, head.size(), stdout) == head.size();
}

// Print prints a frame as a message of type T, as a line of bagconv cat. It returns false if the
// message is not of that type.
template <class T>
bool Print(const Frame& f, std::string& error) {
  static const std::unique_ptr<T> message(new T());
  ToolStream stream(f.message.data(), f.message.size(), f.encoding == "ros1" ? ToolStream::kRos1 : ToolStream::kCdr);
  stream >> *message;
  if (!stream.Finish()) {
    error = stream.Error();
    return false;
  }
  if (frames) return WriteFrame(f, *message, error);
  JsonText text;
  text.Raw("{\"topic\":");
  text.Value(f.topic);
  text.Raw(",\"time\":");
  text.Value(f.time);
  text.Raw(",\"fields\":");
  AppendText(text, *message);
  text.Raw("}");
  PrintLine(text);
  return true;
}

// PrintAny prints a frame of a topic that structure.h has.
bool PrintAny(const Frame& f, std::string& error) {
  error = "no such topic was generated";
@TOPICS@
  return false;
}

}  // namespace

int main(int, char** words) {
  if (words[1] != nullptr) frames = std::strcmp(words[1], "--frames") == 0;
  Frame frame;
  std::string error;
  bool broken = false;
  int failed = 0;
  while (ReadFrame(frame, broken)) {
    if (Describes(frame)) continue;
    if (PrintAny(frame, error)) continue;
    std::fprintf(stderr, "%s at %lld: %s\n", frame.topic.c_str(), static_cast<long long>(frame.time), error.c_str());
    failed = 1;
  }
  if (broken) {
    std::fprintf(stderr, "standard input ends within a frame\n");
    failed = 1;
  }
  return failed;
}
