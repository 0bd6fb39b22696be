#include "remote_write/content_type.h"

#include "tests/catch.h"

using namespace tidemark::remote_write;

TEST_CASE("the content type alone selects the protocol", "[remote_write][content_type]") {
  REQUIRE(ParseContentType("") == Protocol::kV1);
  REQUIRE(ParseContentType("application/x-protobuf") == Protocol::kV1);
  REQUIRE(ParseContentType("application/x-protobuf;proto=prometheus.WriteRequest") ==
          Protocol::kV1);
  REQUIRE(ParseContentType("application/x-protobuf;proto=io.prometheus.write.v2.Request") ==
          Protocol::kV2);
}

// row 4 of docs/remote-write.md.
TEST_CASE("a media type may be written in every way that RFC 9110 allows",
          "[remote_write][content_type]") {
  for (const char* text : {
           "Application/X-Protobuf; Proto=\"io.prometheus.write.v2.Request\"; charset=utf-8",
           " application/x-protobuf ;\tproto=io.prometheus.write.v2.Request ",
           "application/x-protobuf;charset=utf-8;PROTO=io.prometheus.write.v2.Request;",
           "application/x-protobuf;; ;proto=\"io.prometheus.write.v2.\\Request\"",
           "application/x-protobuf;note=\"a;b=c\\\"d\";proto=io.prometheus.write.v2.Request",
           "application/x-protobuf;proto=io.prometheus.write.v2.Request;"
           "proto=io.prometheus.write.v2.Request",
       }) {
    CAPTURE(text);
    REQUIRE(ParseContentType(text) == Protocol::kV2);
  }
  REQUIRE(ParseContentType("APPLICATION/X-PROTOBUF; charset=utf-8") == Protocol::kV1);
}

// row 5, row 6 of docs/remote-write.md.
TEST_CASE("other types, other messages and what is no media type are unsupported",
          "[remote_write][content_type]") {
  for (const char* text : {
           "application/json",
           "image/png",
           "application/vnd.google.protobuf",
           "application/x-protobuffer",
           "application",
           "application/",
           "/x-protobuf",
           "application / x-protobuf",
           "application/x-protobuf, application/json",
           "application/x-protobuf proto=prometheus.WriteRequest",
           "application/x-protobuf;proto",
           "application/x-protobuf;proto=",
           "application/x-protobuf;proto=\"prometheus.WriteRequest",
           "application/x-protobuf;proto=\"a\\",
           "application/x-protobuf;proto=prometheus.writerequest",
           "application/x-protobuf;proto=prometheus.WriteRequestV9",
           "application/x-protobuf;proto=prometheus.WriteRequest;"
           "proto=io.prometheus.write.v2.Request",
       }) {
    CAPTURE(text);
    REQUIRE(ParseContentType(text) == Protocol::kUnsupported);
  }
}

// row 7, row 8 of docs/remote-write.md.
TEST_CASE("the only content coding is snappy, which may be left out",
          "[remote_write][content_type]") {
  REQUIRE(IsSnappyEncoding(""));
  REQUIRE(IsSnappyEncoding("snappy"));
  REQUIRE(IsSnappyEncoding(" Snappy "));
  for (const char* text :
       {"gzip", "zstd", "deflate", "identity", "snappy, gzip", "x-snappy-framed"}) {
    CAPTURE(text);
    REQUIRE_FALSE(IsSnappyEncoding(text));
  }
}
