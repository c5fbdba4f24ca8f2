#include "public_header.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
@OPEN@
void ToolStream::OpenCdr() {
  nul_ = filler_ = true;
  if (size_ < 4) {
    Fail("a CDR message has a header of 4 bytes, this one ends before");
    return;
  }
  const unsigned id = data_[1];
  switch (data_[0] == 0 ? id : 0xffu) {
    case 0x00: case 0x01:
      mask_ = 7;
      break;
    case 0x06: case 0x07: case 0x10: case 0x11:  // plain XCDR2, in the two numberings that occur
      mask_ = 3;
      sizes_ = true;
      break;
    case 0x08: case 0x09: case 0x14: case 0x15:  // delimited
      mask_ = 3;
      sizes_ = delimited_ = true;
      break;
    default:
      Fail("the representation in the header of this CDR message is not one that is read");
      return;
  }
  swap_ = ((id & 1) == 0) != IsBigEndian();
  data_ += 4;
  size_ -= 4;
  head_ = 4;
}

bool ToolStream::FinishRest() {
  if (exact_ && pos_ != size_) Fail("bytes are left over");
  return ok();
}

std::string ToolStream::Error() const {
  if (error_ == nullptr) return std::string();
  return std::string(error_) + ", at byte " + std::to_string(Offset()) + " of the message";
}

void ToolStream::Fail(const char* what) {
  if (error_ != nullptr) return;
  error_ = what;
  size_ = pos_;
  mask_ = 0;  // nothing more is read, padding neither
}

std::size_t ToolStream::Delimiter() {
  std::uint32_t n = 0;
  Load(n);
  if (n > size_ - pos_) {
    Fail("a struct is longer than the message");
    return pos_;
  }
  return pos_ + n;
}

void ToolStream::SkipTo(std::size_t end) {
  if (!ok()) return;
  if (end < pos_) {
    Fail("a struct has fewer bytes than its fields");
    return;
  }
  pos_ = end;
}

void ToolStream::Swap(void* numbers, std::size_t size, std::size_t n) {
  unsigned char* p = static_cast<unsigned char*>(numbers);
  for (; n > 0; n--, p += size) {
    for (std::size_t i = 0; i < size / 2; i++) {
      const unsigned char c = p[i];
      p[i] = p[size - 1 - i];
      p[size - 1 - i] = c;
    }
  }
}

// A unit has 4 bytes in XCDR1, and 2 in XCDR2. One middleware writes 2 in XCDR1, too: that is
// so if 4 do not fit.
void ToolStream::Load(std::u16string& v) {
  std::uint32_t n = 0;
  Load(n);
  std::size_t units = n;
  std::size_t width = 4;
  if (sizes_) {
    width = 2;
    units /= 2;
  } else if (units > (size_ - pos_) / 4) {
    width = 2;
  }
  if (units > (size_ - pos_) / width) {
    Fail("the message ends within a wide string");
    return;
  }
  const unsigned char* p = Bytes(units * width);
  if (p == nullptr) return;
  v.clear();
  for (std::size_t i = 0; i < units; i++, p += width) {
    std::uint32_t c = 0;
    if (width == 4) {
      Get(p, c);
      if (swap_) Swap(&c, 4, 1);
    } else {
      std::uint16_t unit = 0;
      Get(p, unit);
      if (swap_) Swap(&unit, 2, 1);
      c = unit;
    }
    if (c > 0x10ffff) c = 0xfffd;
    if (c > 0xffff) {  // a whole code point
      v += static_cast<char16_t>(0xd800 + ((c - 0x10000) >> 10));
      v += static_cast<char16_t>(0xdc00 + ((c - 0x10000) & 0x3ff));
    } else {
      v += static_cast<char16_t>(c);
    }
  }
}

void JsonText::Value(bool v) { text_ += v ? "true" : "false"; }

void JsonText::Integer(std::int64_t v) { text_ += std::to_string(v); }

void JsonText::Value(std::int64_t v) { text_ += '"' + std::to_string(v) + '"'; }

void JsonText::Value(std::uint64_t v) { text_ += '"' + std::to_string(v) + '"'; }

void JsonText::Value(float v) { Number(static_cast<double>(v), true); }

void JsonText::Value(double v) { Number(v, false); }

void JsonText::Value(const std::vector<bool>& v) {
  text_ += '[';
  for (std::size_t i = 0; i < v.size(); i++) {
    if (i > 0) text_ += ',';
    Value(static_cast<bool>(v[i]));
  }
  text_ += ']';
}

void JsonText::Value(const time_ros& v) {
  text_ += "{\"sec\":" + std::to_string(v.sec) + ",\"nanosec\":" + std::to_string(v.nsec) + '}';
}

void JsonText::Value(const duration_ros& v) {
  text_ += "{\"sec\":" + std::to_string(v.sec) + ",\"nanosec\":" + std::to_string(v.nsec) + '}';
}

// Number writes the fewest digits that give back the same number. Digits and exponent are
// taken from "%e", whatever the locale writes between them.
void JsonText::Number(double v, bool narrow) {
  if (std::isnan(v)) {
    text_ += "\"NaN\"";
    return;
  }
  if (std::isinf(v)) {
    text_ += v > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return;
  }
  if (std::signbit(v)) text_ += '-';
  v = std::fabs(v);
  if (v < 16777216 && v <= std::floor(v)) {
    text_ += std::to_string(static_cast<long>(v)) + ".0";
    return;
  }
  char buffer[64];
  const bool tiny = v < (narrow ? static_cast<double>(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min());
  for (int digits = tiny ? 1 : narrow ? 6 : 15;; digits++) {  // so many digits are always exact, unless v is tiny
    std::snprintf(buffer, sizeof(buffer), "%.*e", digits - 1, v);
    const bool same = narrow ? std::strtof(buffer, nullptr) >= static_cast<float>(v) && std::strtof(buffer, nullptr) <= static_cast<float>(v)
                             : std::strtod(buffer, nullptr) >= v && std::strtod(buffer, nullptr) <= v;
    if (same || digits == 17) break;
  }
  std::string digits;
  const char* c = buffer;
  for (; *c != 'e' && *c != 0; c++) {
    if (*c >= '0' && *c <= '9') digits += *c;
  }
  int exponent = *c == 'e' ? std::atoi(c + 1) : 0;
  while (digits.size() > 1 && digits[digits.size() - 1] == '0') digits.erase(digits.size() - 1);
  if (v >= 1e-4 && v < 1e15) {
    if (exponent < 0) {
      text_ += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
      return;
    }
    const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= whole) {
      text_ += digits + std::string(whole - digits.size(), '0') + ".0";
    } else {
      text_ += digits.substr(0, whole) + '.' + digits.substr(whole);
    }
    return;
  }
  text_ += digits[0];
  text_ += '.';
  text_ += digits.size() > 1 ? digits.substr(1) : std::string("0");
  std::snprintf(buffer, sizeof(buffer), "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
  text_ += buffer;
}

void JsonText::Byte(unsigned char c) {
  static const char digits[] = "0123456789abcdef";
  text_ += digits[c >> 4];
  text_ += digits[c & 15];
}

// Value writes a string. Control characters, and the line ends of Unicode, are escaped.
void JsonText::Value(const std::string& v) {
  text_ += '"';
  const unsigned char* s = reinterpret_cast<const unsigned char*>(v.data());
  for (std::size_t i = 0; i < v.size();) {
    const unsigned char c = s[i];
    if (c < 0x80) {
      i++;
      switch (c) {
        case '"': text_ += "\\\""; break;
        case '\\': text_ += "\\\\"; break;
        case '\n': text_ += "\\n"; break;
        case '\r': text_ += "\\r"; break;
        case '\t': text_ += "\\t"; break;
        default:
          if (c < 0x20 || c == 0x7f) {
            text_ += "\\u00";
            Byte(c);
          } else {
            text_ += static_cast<char>(c);
          }
      }
      continue;
    }
    std::size_t n = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    std::uint32_t point = n == 2 ? c & 0x1fu : n == 3 ? c & 0x0fu : c & 0x07u;
    for (std::size_t j = 1; j < n; j++) {
      if (i + j >= v.size() || (s[i + j] & 0xc0) != 0x80) n = 0;
      else point = point << 6 | (s[i + j] & 0x3fu);
    }
    if ((n == 3 && (point < 0x800 || (point >= 0xd800 && point <= 0xdfff))) || (n == 4 && (point < 0x10000 || point > 0x10ffff))) n = 0;
    if (n == 0) {
      text_ += "\\udc";
      Byte(c);
      i++;
      continue;
    }
    if (point <= 0x9f || point == 0x2028 || point == 0x2029 || point == 0xfeff) {
      text_ += "\\u";
      Byte(static_cast<unsigned char>(point >> 8));
      Byte(static_cast<unsigned char>(point & 0xff));
    } else {
      text_.append(v, i, n);
    }
    i += n;
  }
  text_ += '"';
}

void JsonText::Value(const std::u16string& v) {
  std::string utf8;
  for (std::size_t i = 0; i < v.size(); i++) {
    std::uint32_t c = v[i];
    if (c >= 0xd800 && c <= 0xdfff) {
      const std::uint32_t next = i + 1 < v.size() ? v[i + 1] : 0u;
      if (c <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
        c = 0x10000 + ((c - 0xd800) << 10) + (next - 0xdc00);
        i++;
      } else {
        c = 0xfffd;
      }
    }
    if (c < 0x80) {
      utf8 += static_cast<char>(c);
      continue;
    }
    if (c < 0x800) {
      utf8 += static_cast<char>(0xc0 | c >> 6);
    } else {
      if (c < 0x10000) {
        utf8 += static_cast<char>(0xe0 | c >> 12);
      } else {
        utf8 += static_cast<char>(0xf0 | c >> 18);
        utf8 += static_cast<char>(0x80 | (c >> 12 & 0x3f));
      }
      utf8 += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    }
    utf8 += static_cast<char>(0x80 | (c & 0x3f));
  }
  Value(utf8);
}

void JsonText::AppendBase64(const void* data, std::size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char* p = static_cast<const unsigned char*>(data);
  text_ += '"';
  for (; n > 0; p += 3) {
    const std::uint32_t a = p[0], b = n > 1 ? p[1] : 0u, c = n > 2 ? p[2] : 0u;
    text_ += digits[a >> 2];
    text_ += digits[(a & 3) << 4 | b >> 4];
    text_ += n > 1 ? digits[(b & 15) << 2 | c >> 6] : '=';
    text_ += n > 2 ? digits[c & 63] : '=';
    if (n <= 3) break;
    n -= 3;
  }
  text_ += '"';
}

void PrintLine(const JsonText& text) {
  std::fwrite(text.str().data(), 1, text.str().size(), stdout);
  std::fputc('\n', stdout);
}
@CLOSE@
