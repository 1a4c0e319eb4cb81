/* replay.c - the main of a fuzz target that is built without libFuzzer: it replays the files named.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];

    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");

        if (!in)
            return 1;
        (void)LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, sizeof(bytes), in));
        (void)fclose(in);
    }
    return 0;
}
