#include "fuzz_value.h"
#include "parsers/json_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_value(hs_json_value_read, data, size);
}
