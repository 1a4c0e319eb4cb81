/*
 * settings.c - what the double pretends to be, and what goes wrong in it: environment variables.
 *
 *     HS_DOUBLE_DEVICES=N       GPUs (8); 0: none, -1: no driver
 *     HS_DOUBLE_VERSION=CODE    of NCCL (that of the headers)
 *     HS_DOUBLE_MEMORY=BYTES    of a GPU (16 GiB)
 *     HS_DOUBLE_MISMATCH=error  members' calls that differ are an error; `hang`: nobody gets out
 *     HS_DOUBLE_CALL_US=N       each call takes so long once all members are there (0)
 *     HS_DOUBLE_FAULT=LIST      "rank 2 dies at call 5; rank 0 corrupts call 1"
 *     HS_DOUBLE_TRACE=FILE      a line for each call is appended: PID NAME
 *
 * A fault is `rank R VERB [at|in] call N|init|abort`. R is the process's rank in its first
 * communicator, N counts its communication calls from 1. The verbs: verbs[].
 */
#include "double.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const verbs[] = {
    [HS_DIES] = "dies",   [HS_HANGS] = "hangs",     [HS_STALLS] = "stalls",
    [HS_FAILS] = "fails", [HS_REFUSES] = "refuses", [HS_CORRUPTS] = "corrupts",
};

static const char *const places[] = {
    [HS_AT_CALL] = "call",
    [HS_IN_INIT] = "init",
    [HS_IN_ABORT] = "abort",
};

enum { MOST_FAULTS = 16, MOST_WORDS = 7, LIST_BYTES = 1024 };

struct fault {
    int rank;
    enum hs_fault_verb verb;
    enum hs_fault_place place;
    uint64_t number;
};

static struct hs_settings settings;
static struct fault faults[MOST_FAULTS];
static size_t fault_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A test that asks for what there is not would prove nothing. */
static _Noreturn void refuse(const char *name, const char *text)
{
    fprintf(stderr, "nccl double: %s: %s is not understood\n", name, text);
    abort();
}

static long long number_of(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    char *end;
    long long value;

    if (!text || !*text)
        return otherwise;
    value = strtoll(text, &end, 10);
    if (*end)
        refuse(name, text);
    return value;
}

static size_t find(const char *word, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, table[i]) == 0)
            return i;
    }
    refuse("HS_DOUBLE_FAULT", word);
}

static void read_fault(char *text)
{
    struct fault fault = { .number = 0 };
    char *words[MOST_WORDS] = { NULL }, *rest, *end;
    unsigned count = 0, at = 3;

    for (char *w = strtok_r(text, " ", &rest); w && count < MOST_WORDS;
         w = strtok_r(NULL, " ", &rest))
        words[count++] = w;
    if (count < 4 || fault_count == MOST_FAULTS || strcmp(words[0], "rank") != 0)
        refuse("HS_DOUBLE_FAULT", text);
    fault.rank = (int)strtol(words[1], &end, 10);
    fault.verb = (enum hs_fault_verb)find(words[2], verbs, HS_FAULT_VERBS);
    at += strcmp(words[3], "at") == 0 || strcmp(words[3], "in") == 0;
    if (at == count || *end)
        refuse("HS_DOUBLE_FAULT", words[2]);
    fault.place = (enum hs_fault_place)find(words[at++], places, HS_IN_ABORT + 1);
    if (at < count)
        fault.number = strtoull(words[at++], &end, 10);
    if (at < count || *end || (fault.place == HS_AT_CALL) != (fault.number > 0))
        refuse("HS_DOUBLE_FAULT", words[2]);
    faults[fault_count++] = fault;
}

static void read_all(void)
{
    const char *list = getenv("HS_DOUBLE_FAULT"), *share = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    const char *mismatch = getenv("HS_DOUBLE_MISMATCH");
    char copy[LIST_BYTES];

    settings.devices = (int)number_of("HS_DOUBLE_DEVICES", 8);
    settings.version = (int)number_of("HS_DOUBLE_VERSION", HS_DOUBLE_VERSION);
    settings.memory_bytes = (uint64_t)number_of("HS_DOUBLE_MEMORY", 16LL << 30);
    settings.call_us = (uint64_t)number_of("HS_DOUBLE_CALL_US", 0);
    settings.shares_devices = settings.version >= 23003 && share && strcmp(share, "1") == 0;
    settings.mismatch_fails = mismatch && strcmp(mismatch, "error") == 0;
    if (mismatch && !settings.mismatch_fails && strcmp(mismatch, "hang") != 0)
        refuse("HS_DOUBLE_MISMATCH", mismatch);
    if (!list || !*list)
        return;
    if (strlen(list) >= sizeof(copy))
        refuse("HS_DOUBLE_FAULT", list);
    memcpy(copy, list, strlen(list) + 1);
    for (char *rest = copy, *one = strtok_r(copy, ";", &rest); one;
         one = strtok_r(NULL, ";", &rest))
        read_fault(one);
}

const struct hs_settings *hs_settings(void)
{
    pthread_once(&once, read_all);
    return &settings;
}

bool hs_fault(int rank, enum hs_fault_verb verb, enum hs_fault_place place, uint64_t number)
{
    hs_settings();
    for (size_t i = 0; i < fault_count; i++) {
        const struct fault *f = &faults[i];

        if (f->rank == rank && f->verb == verb && f->place == place && f->number == number)
            return true;
    }
    return false;
}

/* One write a line, so that those of several processes do not mix. */
void hs_trace(const char *name)
{
    const char *file = getenv("HS_DOUBLE_TRACE");
    char line[64];
    int fd, n;

    if (!file || !*file)
        return;
    fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    n = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), name);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        refuse("HS_DOUBLE_TRACE", file);
    close(fd);
}
