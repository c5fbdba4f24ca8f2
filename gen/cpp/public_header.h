// ToolStream reads and writes the bytes of a message, JsonText writes values as text. C++11 and its
// library are all that this needs.
#ifndef @GUARD@_PUBLIC_HEADER_H
#define @GUARD@_PUBLIC_HEADER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>
@OPEN@
// A time of ROS 1, since 1970. In ROS 2 times are messages of builtin_interfaces.
struct time_ros {
  std::uint32_t sec = 0;
  std::uint32_t nsec = 0;
};

// A duration of ROS 1.
struct duration_ros {
  std::int32_t sec = 0;
  std::int32_t nsec = 0;
};

// A ToolStream is a message on its way into a struct, or out of one:
//
//   ToolStream in(data, size, ToolStream::kCdr);
//   in >> message;
//   if (!in.Finish()) std::cerr << in.Error();
//
//   ToolStream out(ToolStream::kCdr);
//   out << message;
//   if (!out.ok()) std::cerr << out.Error();
//   send(out.Bytes());
//
// No length in the message is trusted. After the first error nothing more is read: what the
// struct then has does not count. The bytes must outlive the stream, and are not copied by it. What
// is written is little endian; CDR is written as XCDR1, as ROS 2 does.
class ToolStream {
 public:
  enum Encoding {
    kRos1,  // ROS 1 serialization: little endian, no padding, no header
    kCdr    // ROS 2: a header of 4 bytes, then XCDR1 or XCDR2 of either byte order, as the header says
  };

  ToolStream(const void* data, std::size_t size, Encoding encoding)
      : data_(static_cast<const unsigned char*>(data)), size_(size), pos_(0), mask_(0), head_(0), fuel_(size + 65536), error_(nullptr),
        swap_(IsBigEndian()), nul_(false), filler_(false), sizes_(false), delimited_(false), exact_(encoding == kRos1) {
    if (encoding != kRos1) OpenCdr();
  }

  // A stream that is written.
  explicit ToolStream(Encoding encoding) : ToolStream(nullptr, 0, kRos1) {
    if (encoding == kRos1) return;
    nul_ = filler_ = true;
    mask_ = 7;
    head_ = 4;
    out_.assign("\0\1\0\0", 4);
  }

  // Bytes are what was written: a whole message, if there was no error.
  const std::string& Bytes() const { return out_; }

  // ok reports whether there was no error yet.
  bool ok() const { return error_ == nullptr; }

  // Finish is called behind the last field. It reports whether there was no error. Bytes that
  // are left over are one in ROS 1; in CDR they are padding.
  bool Finish() { return (pos_ == size_ && error_ == nullptr) || FinishRest(); }

  // Error tells what was wrong, and where; "" if nothing was.
  std::string Error() const;

  // Offset is the position in the message, bytes.
  std::size_t Offset() const { return out_.empty() ? head_ + pos_ : out_.size(); }

  // The rest is for the code of messages.

  // Run returns the next n bytes if they are numbers of this computer's byte order without
  // padding between, and steps over them. first is the alignment of the first number, and all
  // that of the largest, or 0 if they have padding wherever they begin. It returns null if
  // the numbers are to be read one by one.
  const unsigned char* Run(std::size_t n, std::size_t first, std::size_t all) {
    std::size_t at = pos_;
    if (mask_ != 0) {
      at += (0 - at) & (first - 1) & mask_;
      if (all == 0 || swap_ || delimited_ || (at & (all - 1) & mask_) != 0) return nullptr;
    } else if (swap_) {
      return nullptr;
    }
    if (at > size_ || size_ - at < n) return nullptr;
    pos_ = at + n;
    return data_ + at;
  }

  // Get copies a number from within a run.
  template <class T>
  static void Get(const unsigned char* p, T& v) { std::memcpy(&v, p, sizeof(v)); }
  static void Get(const unsigned char* p, bool& v) { v = *p != 0; }
  template <std::size_t N>
  static void Get(const unsigned char* p, bool (&v)[N]) {
    for (std::size_t i = 0; i < N; i++) v[i] = p[i] != 0;
  }

  // Begin and End stand around the fields of a struct.
  std::size_t Begin() { return delimited_ ? Delimiter() : 0; }
  void End(std::size_t end) {
    if (delimited_) SkipTo(end);
  }

  // Empty stands in place of the fields of a struct that has none.
  void Empty() {
    if (filler_) Bytes(1);
    else Spend();
  }

  // Load reads a value.
  template <class T>
  typename std::enable_if<std::is_arithmetic<T>::value>::type Load(T& v) {
    std::size_t at = pos_ + ((0 - pos_) & (sizeof(T) - 1) & mask_);
    if (at > size_ || size_ - at < sizeof(T)) {
      Fail("the message ends within a number");
      return;
    }
    std::memcpy(&v, data_ + at, sizeof(T));
    if (swap_) Swap(&v, sizeof(T), 1);
    pos_ = at + sizeof(T);
  }
  void Load(bool& v) {
    const unsigned char* p = Bytes(1);
    if (p != nullptr) v = *p != 0;
  }
  void Load(time_ros& v) { Load(v.sec), Load(v.nsec); }
  void Load(duration_ros& v) { Load(v.sec), Load(v.nsec); }
  void Load(std::string& v) {
    std::uint32_t n = 0;
    Load(n);
    const unsigned char* p = Bytes(n);
    if (p == nullptr) return;
    if (nul_ && n > 0 && p[n - 1] == 0) n--;
    v.assign(reinterpret_cast<const char*>(p), n);
  }
  void Load(std::u16string& v);

  // Arrays of fixed length.
  template <class T, std::size_t N>
  void Load(T (&v)[N]) { LoadArray(v, N, std::is_arithmetic<T>()); }
  template <std::size_t N>
  void Load(bool (&v)[N]) {
    const unsigned char* p = Bytes(N);
    if (p != nullptr) Get(p, v);
  }
  template <class T>
  void Load(std::array<T, 0>&) {
    if (!std::is_arithmetic<T>::value) Size();
  }

  // Lists.
  template <class T>
  void Load(std::vector<T>& v) { LoadVector(v, std::is_arithmetic<T>()); }
  void Load(std::vector<bool>& v) {
    const std::size_t n = Count(1);
    const unsigned char* p = Bytes(n);
    if (p == nullptr) return;
    v.resize(n);
    for (std::size_t i = 0; i < n; i++) v[i] = p[i] != 0;
  }

  // LoadStructs reads structs that take at least `least` bytes each.
  template <class T, std::size_t N>
  void LoadStructs(T (&v)[N], std::size_t) {
    Size();
    for (std::size_t i = 0; i < N && ok(); i++) LoadData(*this, v[i]);
  }
  template <class T>
  void LoadStructs(std::array<T, 0>&, std::size_t) { Size(); }
  template <class T>
  void LoadStructs(std::vector<T>& v, std::size_t least) {
    Size();
    const std::size_t n = Count(least);
    if (least > 0) {
      v.resize(n);
      for (std::size_t i = 0; i < n && ok(); i++) LoadData(*this, v[i]);
      return;
    }
    v.clear();
    for (std::size_t i = 0; i < n && ok(); i++) {  // no byte of the message answers for an element
      Spend();
      v.emplace_back();
      LoadData(*this, v.back());
    }
  }

  // Store writes a value.
  template <class T>
  typename std::enable_if<std::is_arithmetic<T>::value>::type Store(T v) { Put(&v, sizeof(T), 1); }
  void Store(bool v) { out_ += static_cast<char>(v); }
  void Store(const time_ros& v) { Store(v.sec), Store(v.nsec); }
  void Store(const duration_ros& v) { Store(v.sec), Store(v.nsec); }
  void Store(const std::string& v) {
    StoreCount(v.size() + nul_);
    out_ += v;
    if (nul_) out_ += '\0';
  }
  void Store(const std::u16string& v) {
    StoreCount(v.size());
    for (std::size_t i = 0; i < v.size(); i++) Store(static_cast<std::uint32_t>(v[i]));
  }
  template <class T, std::size_t N>
  void Store(const T (&v)[N]) { StoreArray(v, N, std::is_arithmetic<T>()); }
  template <class T>
  void Store(const std::array<T, 0>&) {}
  template <class T>
  void Store(const std::vector<T>& v) {
    StoreCount(v.size());
    StoreArray(v.data(), v.size(), std::is_arithmetic<T>());
  }
  void Store(const std::vector<bool>& v) {
    StoreCount(v.size());
    for (std::size_t i = 0; i < v.size(); i++) Store(static_cast<bool>(v[i]));
  }

  // StoreStructs writes structs.
  template <class T, std::size_t N>
  void StoreStructs(const T (&v)[N]) {
    for (std::size_t i = 0; i < N; i++) StoreData(*this, v[i]);
  }
  template <class T>
  void StoreStructs(const std::array<T, 0>&) {}
  template <class T>
  void StoreStructs(const std::vector<T>& v) {
    StoreCount(v.size());
    for (std::size_t i = 0; i < v.size(); i++) StoreData(*this, v[i]);
  }

  // StoreEmpty stands in place of the fields of a struct that has none.
  void StoreEmpty() {
    if (filler_) out_ += '\0';
  }

 private:
  bool FinishRest();
  // StoreCount writes the length of a list or string.
  void StoreCount(std::size_t n) {
    if (n > 0xffffffffu) Fail("a list has more than 4294967295 elements");
    Store(static_cast<std::uint32_t>(n));
  }
  template <class T>
  void StoreArray(const T* v, std::size_t n, std::true_type) { Put(v, sizeof(T), n); }
  void StoreArray(const bool* v, std::size_t n, std::true_type) {
    for (std::size_t i = 0; i < n; i++) Store(v[i]);
  }
  template <class T>
  void StoreArray(const T* v, std::size_t n, std::false_type) {
    for (std::size_t i = 0; i < n; i++) Store(v[i]);
  }
  // Put writes n numbers of a size, and the padding before them.
  void Put(const void* numbers, std::size_t size, std::size_t n) {
    if (n == 0) return;
    if (mask_ != 0) out_.append((head_ - out_.size()) & (size - 1) & mask_, '\0');
    const std::size_t at = out_.size();
    out_.append(static_cast<const char*>(numbers), size * n);
    if (IsBigEndian()) Swap(&out_[at], size, n);
  }
  // Bytes steps over n bytes; null if there are fewer.
  const unsigned char* Bytes(std::size_t n) {
    if (size_ - pos_ < n) {
      Fail("the message ends within a field");
      return nullptr;
    }
    const unsigned char* p = data_ + pos_;
    pos_ += n;
    return p;
  }
  // Count reads the length of a list whose elements take at least `least` bytes each.
  std::size_t Count(std::size_t least) {
    std::uint32_t n = 0;
    Load(n);
    if (least > 0 && n > (size_ - pos_) / least) {
      Fail("a list has more elements than the message has bytes for");
      return 0;
    }
    return n;
  }
  // Size steps over the size that XCDR2 has before lists of what is no number.
  void Size() {
    std::uint32_t n = 0;
    if (sizes_) Load(n);
  }
  template <class T>
  void LoadVector(std::vector<T>& v, std::true_type) {
    const std::size_t n = Count(sizeof(T));
    if (n == 0) {
      v.clear();
      return;
    }
    const unsigned char* p = Numbers(n, sizeof(T));
    if (p == nullptr) return;
    if (sizeof(T) == 1 && v.size() != n) {
      v.assign(reinterpret_cast<const T*>(p), reinterpret_cast<const T*>(p) + n);
      return;
    }
    v.resize(n);
    std::memcpy(v.data(), p, n * sizeof(T));
    if (swap_) Swap(v.data(), sizeof(T), n);
  }
  template <class T>
  void LoadVector(std::vector<T>& v, std::false_type) {
    Size();
    v.resize(Count(Least(static_cast<T*>(nullptr))));
    for (std::size_t i = 0; i < v.size() && ok(); i++) Load(v[i]);
  }
  template <class T>
  void LoadArray(T* v, std::size_t n, std::true_type) {
    const unsigned char* p = Numbers(n, sizeof(T));
    if (p == nullptr) return;
    std::memcpy(v, p, n * sizeof(T));
    if (swap_) Swap(v, sizeof(T), n);
  }
  template <class T>
  void LoadArray(T* v, std::size_t n, std::false_type) {
    Size();
    for (std::size_t i = 0; i < n && ok(); i++) Load(v[i]);
  }
  static std::size_t Least(std::string*) { return 4; }
  static std::size_t Least(std::u16string*) { return 4; }
  static std::size_t Least(time_ros*) { return 8; }
  static std::size_t Least(duration_ros*) { return 8; }

  const unsigned char* Numbers(std::size_t n, std::size_t size) {
    const std::size_t at = pos_ + ((0 - pos_) & (size - 1) & mask_);
    if (at > size_ || (size_ - at) / size < n) {
      Fail("the message ends within a list");
      return nullptr;
    }
    pos_ = at + n * size;
    return data_ + at;
  }
  // Spend counts an element that takes no bytes: there may be some, not any number.
  void Spend() {
    if (fuel_ == 0) Fail("too many values that take no bytes");
    else fuel_--;
  }
  // IsBigEndian reports the byte order of this computer.
  static bool IsBigEndian() {
    const std::uint16_t one = 1;
    unsigned char first = 0;
    std::memcpy(&first, &one, 1);
    return first == 0;
  }
  void OpenCdr();
  void Fail(const char* what);
  void SkipTo(std::size_t end);
  std::size_t Delimiter();
  static void Swap(void* numbers, std::size_t size, std::size_t n);

  const unsigned char* data_;
  std::size_t size_;
  std::size_t pos_;
  std::size_t mask_;  // the largest alignment less one
  std::size_t head_;  // bytes before data_
  std::size_t fuel_;
  const char* error_;
  bool swap_;       // numbers have the other byte order than this computer
  bool nul_;        // strings end with NUL
  bool filler_;     // a struct without fields is one byte
  bool sizes_;      // a size stands before lists of what is no number
  bool delimited_;  // and before each struct
  bool exact_;      // no bytes may be left over
  std::string out_; // what was written
};

// A JsonText is JSON, as bagconv cat prints it: floats have a point, integers of 64 bits are
// strings, lists of bytes are base64, a byte that is not UTF-8 is \udcXX.
class JsonText {
 public:
  const std::string& str() const { return text_; }

  void Raw(const char* text, std::size_t n) { text_.append(text, n); }
  template <std::size_t N>
  void Raw(const char (&text)[N]) { text_.append(text, N - 1); }

  void Value(bool v);
  void Value(std::int8_t v) { Integer(v); }
  void Value(std::uint8_t v) { Integer(v); }
  void Value(std::int16_t v) { Integer(v); }
  void Value(std::uint16_t v) { Integer(v); }
  void Value(std::int32_t v) { Integer(v); }
  void Value(std::uint32_t v) { Integer(v); }
  void Value(std::int64_t v);
  void Value(std::uint64_t v);
  void Value(float v);
  void Value(double v);
  void Value(const std::string& v);
  void Value(const std::u16string& v);
  void Value(const time_ros& v);
  void Value(const duration_ros& v);
  template <class T, std::size_t N>
  void Value(const T (&v)[N]) { Values(v, v + N); }
  template <class T>
  void Value(const std::array<T, 0>&) { text_ += "[]"; }
  template <class T>
  void Value(const std::vector<T>& v) { Values(v.begin(), v.end()); }
  void Value(const std::vector<bool>& v);

  template <class T, std::size_t N>
  void Structs(const T (&v)[N]) { EachStruct(v, v + N); }
  template <class T>
  void Structs(const std::array<T, 0>&) { text_ += "[]"; }
  template <class T>
  void Structs(const std::vector<T>& v) { EachStruct(v.begin(), v.end()); }

  template <class T, std::size_t N>
  void Base64(const T (&v)[N]) { AppendBase64(v, N); }
  template <class T>
  void Base64(const std::array<T, 0>&) { text_ += "\"\""; }
  template <class T>
  void Base64(const std::vector<T>& v) { AppendBase64(v.data(), v.size()); }

 private:
  template <class I>
  void Values(I from, I to) {
    text_ += '[';
    for (I i = from; i != to; ++i) {
      if (i != from) text_ += ',';
      Value(*i);
    }
    text_ += ']';
  }
  template <class I>
  void EachStruct(I from, I to) {
    text_ += '[';
    for (I i = from; i != to; ++i) {
      if (i != from) text_ += ',';
      AppendText(*this, *i);
    }
    text_ += ']';
  }
  void Integer(std::int64_t v);
  void Number(double v, bool narrow);
  void Byte(unsigned char c);
  void AppendBase64(const void* data, std::size_t n);

  std::string text_;
};

// PrintLine writes a text and a line end to standard output.
void PrintLine(const JsonText& text);
@CLOSE@
#endif
