#include "backfill/matrix_reader.h"

#include <boost/json/basic_parser_impl.hpp>

#include "backfill/matrix_handler.h"

namespace tidemark::backfill {

class MatrixReader::Impl {
 public:
  explicit Impl(const ReaderLimits& limits) : parser_(Options(), limits) {}

  bool Feed(std::string_view piece) {
    if (handler().fault != ReadFault::kNone) return false;
    boost::json::error_code code;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), code);
    if (code) return Fail();
    // Behind the end of the value there may be blanks only.
    if (piece.find_first_not_of(" \t\r\n", read) != piece.npos) return Fail();
    return true;
  }

  bool Finish() {
    if (handler().fault != ReadFault::kNone) return false;
    boost::json::error_code code;
    parser_.write_some(false, "", 0, code);
    return (code || !parser_.done()) ? Fail() : true;
  }

  MatrixHandler& handler() { return parser_.handler(); }
  const MatrixHandler& handler() const { return parser_.handler(); }

 private:
  static boost::json::parse_options Options() {
    boost::json::parse_options options;
    options.max_depth = 32;
    return options;
  }

  bool Fail() {
    if (handler().fault == ReadFault::kNone) {
      handler().fault = ReadFault::kNotJson;
      handler().message = "it is no JSON, or it is cut";
    }
    return false;
  }

  boost::json::basic_parser<MatrixHandler> parser_;
};

MatrixReader::MatrixReader(const ReaderLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
MatrixReader::~MatrixReader() = default;
bool MatrixReader::Feed(std::string_view piece) { return piece.empty() || impl_->Feed(piece); }
bool MatrixReader::Finish() { return impl_->Finish(); }
ReadFault MatrixReader::fault() const { return impl_->handler().fault; }
const std::string& MatrixReader::message() const { return impl_->handler().message; }
QueryAnswer& MatrixReader::answer() { return impl_->handler().answer; }

}  // namespace tidemark::backfill
