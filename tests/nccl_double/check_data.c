/* check_data.c - every call moves and reduces what it should. */
#include "check.h"

void check_moves(void)
{
    enum { ROOT = 2 };
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *in = pattern(own_rank), *out = pattern(9);

    MADE(comm, ncclBroadcast(in, out, ELEMENTS, ncclInt32, ROOT, comm, s));
    CHECK(holds(s, out, 0, ROOT, 0));
    MADE(comm, ncclAllGather(in, out, ELEMENTS, ncclInt32, comm, s));
    for (int i = 0; i < RANKS; i++)
        CHECK(holds(s, out, i, i, 0));
    MADE(comm, ncclAlltoAll(in, out, ELEMENTS, ncclInt32, comm, s));
    for (int i = 0; i < RANKS; i++)
        CHECK(holds(s, out, i, i, own_rank));
    MADE(comm, ncclScatter(in, out, ELEMENTS, ncclInt32, ROOT, comm, s));
    CHECK(holds(s, out, 0, ROOT, own_rank));
    OK(cudaMemset(out, 0, (size_t)RANKS * BLOCK_BYTES));
    MADE(comm, ncclGather(in, out, ELEMENTS, ncclInt32, ROOT, comm, s));
    for (int i = 0; i < RANKS; i++)
        CHECK(holds(s, out, i, i, 0) == (own_rank == ROOT));
    MADE(comm, ncclAllGather((char *)out + (size_t)own_rank * BLOCK_BYTES, out, ELEMENTS, ncclInt32,
                             comm, s));
    MADE(comm, ncclCommFinalize(comm));
    OK(ncclCommDestroy(comm));
}

/* The bits of 1, 2, 3, 4 and of what is expected of them, for each type. */
struct numbers {
    ncclDataType_t type;
    uint64_t of[RANKS], sum, prod, max, min, average;
    unsigned bytes;
};
#define WHOLE(type, bytes)                                                                         \
    {                                                                                              \
        type, { 1, 2, 3, 4 }, 10, 24, 4, 1, 2, bytes                                               \
    }
static const struct numbers numbers[] = {
    WHOLE(ncclInt8, 1),
    WHOLE(ncclUint8, 1),
    WHOLE(ncclInt32, 4),
    WHOLE(ncclUint32, 4),
    WHOLE(ncclInt64, 8),
    WHOLE(ncclUint64, 8),
    { ncclFloat16, { 0x3c00, 0x4000, 0x4200, 0x4400 }, 0x4900, 0x4e00, 0x4400, 0x3c00, 0x4100, 2 },
    { ncclBfloat16, { 0x3f80, 0x4000, 0x4040, 0x4080 }, 0x4120, 0x41c0, 0x4080, 0x3f80, 0x4020, 2 },
    { ncclFloat32,
      { 0x3f800000, 0x40000000, 0x40400000, 0x40800000 },
      0x41200000,
      0x41c00000,
      0x40800000,
      0x3f800000,
      0x40200000,
      4 },
    { ncclFloat64,
      { 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0x4010000000000000 },
      0x4024000000000000,
      0x4038000000000000,
      0x4010000000000000,
      0x3ff0000000000000,
      0x4004000000000000,
      8 },
    { ncclFloat8e4m3, { 0x38, 0x40, 0x44, 0x48 }, 0x52, 0x5c, 0x48, 0x38, 0x42, 1 },
    { ncclFloat8e5m2, { 0x3c, 0x40, 0x42, 0x44 }, 0x49, 0x4e, 0x44, 0x3c, 0x41, 1 },
};

static void check_type(const struct numbers *n, ncclComm_t comm, cudaStream_t s)
{
    enum { ROOT = 1 };
    const uint64_t expected[] = { n->sum, n->prod, n->max, n->min, n->average };
    void *in = on_device(&n->of[own_rank], n->bytes), *out = on_device(&n->sum, 8);

    for (int op = 0; op <= ncclAvg; op++) {
        uint64_t got = 0;

        MADE(comm, ncclAllReduce(in, out, 1, n->type, (ncclRedOp_t)op, comm, s));
        OK(cudaMemcpyAsync(&got, out, n->bytes, cudaMemcpyDeviceToHost, s));
        OK(cudaStreamSynchronize(s));
        CHECK(got == expected[op]);
        OK(cudaMemset(out, 0, n->bytes));
        MADE(comm, ncclReduce(in, out, 1, n->type, (ncclRedOp_t)op, ROOT, comm, s));
        OK(cudaStreamSynchronize(s));
        OK(cudaMemcpy(&got, out, n->bytes, cudaMemcpyDeviceToHost));
        CHECK(got == (own_rank == ROOT ? expected[op] : 0));
    }
}

void check_reductions(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        check_type(&numbers[i], comm, s);
    OK(ncclCommAbort(comm));
}

/* Many elements, in place and not, with an own operation. */
void check_parts(void)
{
    enum { MANY = 10007 };
    static float in[RANKS * MANY], out[RANKS * MANY];
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    float half = 0.5F;
    ncclRedOp_t halved;
    void *a, *b;

    for (int i = 0; i < RANKS * MANY; i++)
        in[i] = (float)(i % 1000 + own_rank);
    a = on_device(in, sizeof(in));
    b = on_device(in, sizeof(in));
    MADE(comm, ncclReduceScatter(a, b, MANY, ncclFloat32, ncclSum, comm, s));
    MADE(comm, ncclAllReduce(a, a, (size_t)RANKS * MANY, ncclFloat32, ncclSum, comm, s));
    OK(ncclRedOpCreatePreMulSum(&halved, &half, ncclFloat32, ncclScalarHostImmediate, comm));
    MADE(comm, ncclAllReduce(a, a, (size_t)RANKS * MANY, ncclFloat32, halved, comm, s));
    OK(ncclRedOpDestroy(halved, comm));
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(out, b, sizeof(out), cudaMemcpyDeviceToHost));
    for (int i = 0; i < MANY; i++)
        CHECK(out[i] == (float)(4 * ((own_rank * MANY + i) % 1000) + 6));
    OK(cudaMemcpy(out, a, sizeof(out), cudaMemcpyDeviceToHost));
    for (int i = 0; i < RANKS * MANY; i++)
        CHECK(out[i] == (float)(2 * (4 * (i % 1000) + 6)));
    OK(ncclCommAbort(comm));
}

void check_pairs(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *in = pattern(own_rank), *out = pattern(9);

    for (int round = 0; round < 40; round++) {
        OK(ncclGroupStart());
        for (int i = 0; i < RANKS; i++) { /* oneself included */
            OK(ncclSend((char *)in + (size_t)i * BLOCK_BYTES, ELEMENTS, ncclInt32, i, comm, s));
            OK(ncclGroupStart());
            OK(ncclRecv((char *)out + (size_t)i * BLOCK_BYTES, ELEMENTS, ncclInt32, i, comm, s));
            OK(ncclGroupEnd());
        }
        MADE(comm, ncclGroupEnd());
    }
    for (int i = 0; i < RANKS; i++)
        CHECK(holds(s, out, i, i, own_rank));
    OK(ncclCommAbort(comm));
}
