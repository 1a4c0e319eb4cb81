#include "fuzz_value.h"
#include "parsers/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)hs_pickle_probe((struct hs_str){ .p = (const char *)data, .n = size });
    return fuzz_value(hs_pickle_read, data, size);
}
