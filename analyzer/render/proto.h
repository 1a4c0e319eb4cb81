/* proto.h - protobuf's wire format, as far as writing a trace needs it. */
#ifndef HS_ANALYZER_RENDER_PROTO_H
#define HS_ANALYZER_RENDER_PROTO_H

#include "base/buf.h"

enum { HS_PROTO_VARINT = 0, HS_PROTO_BYTES = 2 };

static inline void hs_proto_varint(struct hs_buf *buf, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    hs_buf_put(buf, (struct hs_str){ .p = bytes, .n = n });
}

/* A number: fields of type uint64, int64 (not negative), enum and bool. */
static inline void hs_proto_number(struct hs_buf *buf, uint32_t field, uint64_t value)
{
    hs_proto_varint(buf, (uint64_t)field << 3 | HS_PROTO_VARINT);
    hs_proto_varint(buf, value);
}

/* Text, bytes, or a message that was written elsewhere. */
static inline void hs_proto_bytes(struct hs_buf *buf, uint32_t field, struct hs_str bytes)
{
    hs_proto_varint(buf, (uint64_t)field << 3 | HS_PROTO_BYTES);
    hs_proto_varint(buf, bytes.n);
    hs_buf_put(buf, bytes);
}

/* The bytes that hs_proto_varint() writes. */
static inline size_t hs_proto_size(uint64_t value)
{
    size_t n = 1;

    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

/* A message of two numbers, and one of a number and a text, as most of the small ones are. */
static inline void hs_proto_numbers(struct hs_buf *buf, uint32_t field, uint32_t first,
                                    uint64_t first_value, uint32_t second, uint64_t second_value)
{
    hs_proto_varint(buf, (uint64_t)field << 3 | HS_PROTO_BYTES);
    hs_proto_varint(buf, hs_proto_size((uint64_t)first << 3) + hs_proto_size(first_value) +
                             hs_proto_size((uint64_t)second << 3) + hs_proto_size(second_value));
    hs_proto_number(buf, first, first_value);
    hs_proto_number(buf, second, second_value);
}

static inline void hs_proto_entry(struct hs_buf *buf, uint32_t field, uint32_t first,
                                  uint64_t first_value, uint32_t second, struct hs_str text)
{
    hs_proto_varint(buf, (uint64_t)field << 3 | HS_PROTO_BYTES);
    hs_proto_varint(buf, hs_proto_size((uint64_t)first << 3) + hs_proto_size(first_value) +
                             hs_proto_size((uint64_t)second << 3) + hs_proto_size(text.n) + text.n);
    hs_proto_number(buf, first, first_value);
    hs_proto_bytes(buf, second, text);
}

#endif
