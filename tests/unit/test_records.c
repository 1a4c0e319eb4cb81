/* test_records.c - lines that belong together, and the events they become. */
#include "event_text.h"
#include "families_fixture.h"
#include "parsers/text.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

extern const struct hs_parser hs_parser_text;

static const struct event_sample tracebacks_samples[] = {
    { "log",
      "Traceback (most recent call last):\n"
      "  File \"/home/user/train.py\", line 94, in <module>\n"
      "    main()\n"
      "    ^^^^^^\n"
      "  File \"/home/user/train.py\", line 50, in main\n"
      "    x[3]\n"
      "IndexError: list index out of range\n",
      "1 PY_TRACEBACK class=IndexError message=list index out of range exception_line=7"
      " | main /home/user/train.py:50 < <module> /home/user/train.py:94\n" },
    /* two ranks whose lines alternate; a chain, whose first exception is the cause */
    { "log",
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"a.py\", line 94, in <module>\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank3]:   File \"a.py\", line 50, in load\n"
      "[rank1]:   File \"a.py\", line 7, in <module>\n"
      "[rank3]: KeyError: 'x'\n"
      "\n"
      "[rank3]: During handling of the above exception, another exception occurred:\n"
      "\n"
      "[rank1]: ValueError: bad\n"
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"a.py\", line 99, in finish\n"
      "[rank3]: app.errors.Closed: it is closed\n",
      "1 PY_TRACEBACK [rank 3] class=app.errors.Closed message=it is closed"
      " first_class=KeyError first_message='x' exception_line=13"
      " | load a.py:50 < <module> a.py:94\n"
      "3 PY_TRACEBACK [rank 1] class=ValueError message=bad exception_line=10"
      " | <module> a.py:7\n" },
    /* behind a progress bar, below launchers' prefixes, and one that never ends */
    { "log",
      " 47%|####     | 31/68 [30:10<38:31, 15.02 examples/s]Traceback (most recent call "
      "last):\n"
      "  File \"a.py\", line 1, in f\n"
      "torch.cuda.OutOfMemoryError\n"
      "(Worker rank=4 pid=77) ERROR 06-03 23:32:39 worker_base.py:148] Traceback (most recent "
      "call last):\n"
      "(Worker rank=4 pid=77) ERROR 06-03 23:32:39 worker_base.py:148]   File \"w.py\", line "
      "5, "
      "in loop\n"
      "(Worker rank=4 pid=77) ERROR\n",
      "1 PY_TRACEBACK class=torch.cuda.OutOfMemoryError exception_line=3 | f a.py:1\n"
      "4 PY_TRACEBACK [rank 4] level=E | loop w.py:5\n" },
    /* one message of a logger: only its first line has the tag; a line apart is somebody else's */
    { "log",
      "[2026-03-17 17:15:55 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
      "  File \"s.py\", line 1748, in run\n"
      "    serve()\n"
      "ValueError: no\n"
      "[2026-03-17 17:15:56 TP2] Scheduler hit an exception: Traceback (most recent call last):\n"
      "[2026-03-17 17:15:56 TP3] ready\n"
      "  File \"t.py\", line 5, in other\n",
      "1 PY_TRACEBACK [TP1] class=ValueError message=no exception_line=4 | run s.py:1748\n"
      "5 PY_TRACEBACK [TP2]\n"
      "7 PY_TRACEBACK | other t.py:5\n" },
    { "log",
      " 3: Traceback (most recent call last):\n"
      "10: Traceback (most recent call last):\n"
      " 3:   File \"a.py\", line 2, in g\n"
      "10:   File \"a.py\", line 4, in h\n"
      "10: OSError: no\n"
      " 3: OSError: none\n",
      "1 PY_TRACEBACK [rank 3] class=OSError message=none exception_line=6 | g a.py:2\n"
      "2 PY_TRACEBACK [rank 10] class=OSError message=no exception_line=5 | h a.py:4\n" },
    /* an exception group: the first one in it is the cause */
    { "log",
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"a.py\", line 3, in <module>\n"
      "  |     raise ExceptionGroup(\"many\", errors)\n"
      "  | ExceptionGroup: many (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | Traceback (most recent call last):\n"
      "    |   File \"b.py\", line 4, in work\n"
      "    | OSError: 5\n"
      "    +---------------- 2 ----------------\n"
      "    | ValueError: two\n"
      "    +------------------------------------\n",
      "1 PY_TRACEBACK class=ExceptionGroup message=many (2 sub-exceptions) first_class=OSError"
      " first_message=5 exception_line=4 | work b.py:4\n" },
    { "log",
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"a.py\", line 3, in <module>\n"
      "  | ExceptionGroup: many (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | OSError: 5\n"
      "    +---------------- 2 ----------------\n"
      "    | ValueError: two\n",
      "1 PY_TRACEBACK class=ExceptionGroup message=many (2 sub-exceptions) first_class=OSError"
      " first_message=5 exception_line=3 | <module> a.py:3\n" },
    /* whose traceback it is; the beginning is lost */
    { "log",
      "Exception in thread Thread-3 (loader):\n"
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in run\n"
      "zmq.error.Again: Resource temporarily unavailable\n"
      "Process SpawnProcess-2:\n"
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 2, in start\n"
      "KeyboardInterrupt\n"
      "Process SpawnProcess-3:\n"
      "nothing of it\n",
      "1 PY_TRACEBACK class=zmq.error.Again message=Resource temporarily unavailable"
      " thread=Thread-3 (loader) exception_line=4 | run a.py:1\n"
      "5 PY_TRACEBACK class=KeyboardInterrupt thread=SpawnProcess-2 exception_line=8"
      " | start a.py:2\n" },
    { "log",
      "  File \"a.py\", line 1, in run\n"
      "    go()\n"
      "RuntimeError: CUDA error: device-side assert triggered\n"
      "epoch: 3\n",
      "1 PY_TRACEBACK class=RuntimeError message=CUDA error: device-side assert triggered"
      " exception_line=3 | run a.py:1\n" },
};

static void tracebacks(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, tracebacks_samples);
}

static const struct event_sample tables_samples[] = {
    { "log",
      "============================================================\n"
      "train.py FAILED\n"
      "------------------------------------------------------------\n"
      "Failures:\n"
      "[1]:\n"
      "  time      : 2025-05-21_15:43:04\n"
      "  host      : node-b.example\n"
      "  rank      : 9 (local_rank: 1)\n"
      "  exitcode  : -6 (pid: 14751)\n"
      "  error_file: <N/A>\n"
      "  traceback : Signal 6 (SIGABRT) received by PID 14751\n"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2025-05-21_15:43:03\n"
      "  host      : node-b.example\n"
      "  rank      : 8 (local_rank: 0)\n"
      "  exitcode  : 1 (pid: 14750)\n"
      "  error_file: /tmp/e/0/error.json\n"
      "  traceback : Traceback (most recent call last):\n"
      "    File \"/opt/torch/errors.py\", line 355, in wrapper\n"
      "      return f(*args, **kwargs)\n"
      "    File \"/home/user/train.py\", line 12, in main\n"
      "      x: Int = f()\n"
      "  RuntimeError: boom\n"
      "============================================================\n",
      "9 TBL_ROW host=node-b.example rank=9 local_rank=1 exitcode=-6 signal=SIGABRT pid=14751"
      " time=2025-05-21_15:43:04 path=<N/A> message=Signal 6 (SIGABRT) received by PID 14751"
      " index=1\n"
      "18 TBL_ROW host=node-b.example rank=8 local_rank=0 exitcode=1 pid=14750"
      " time=2025-05-21_15:43:03 path=/tmp/e/0/error.json message=boom class=RuntimeError"
      " index=0 root=1"
      " | main /home/user/train.py:12 < wrapper /opt/torch/errors.py:355\n" },
    { "log",
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  rank      : 0 (local_rank: 0)\n"
      "  exitcode  : -15 (pid: 77)  (SIGTERM)\n",
      "4 TBL_ROW rank=0 local_rank=0 exitcode=-15 signal=SIGTERM pid=77 index=0 root=1\n" },
    /* PyTorch 1.9, of which only the middle is left, behind a prefix on every line */
    { "log",
      "0:   rank: 3 (local_rank: 3)\n"
      "0:   exitcode: -9 (pid: 77)\n"
      "0:   error_file: <N/A>\n"
      "0:   msg: \"Signal 9 (SIGKILL) received by PID 77\"\n"
      "0: ============\n"
      "0: Other Failures:\n"
      "0:   <NO_OTHER_FAILURES>\n",
      "2 TBL_ROW [rank 0] rank=3 local_rank=3 exitcode=-9 signal=SIGKILL pid=77 path=<N/A>"
      " message=Signal 9 (SIGKILL) received by PID 77\n" },
};

static void tables(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, tables_samples);
}

static const struct event_sample failed_collectives_samples[] = {
    { "log",
      "[rank3]:[E710 18:00:32.427312432 ProcessGroupNCCL.cpp:801] Stack trace of the failed "
      "collective: \n"
      "#0 all_reduce from /opt/torch/distributed_c10d.py:3174\n"
      "another process says something\n"
      "#1 wrapper from /opt/torch/c10d_logger.py:83\n"
      "[rank5]:[E710 18:00:33.427312432 ProcessGroupNCCL.cpp:801] Stack trace of the failed "
      "collective: \n"
      "#0 broadcast from /opt/torch/distributed_c10d.py:2000\n"
      "[rank7]:[E710 18:00:33.427312432 ProcessGroupNCCL.cpp:801] Stack trace of the failed "
      "collective not found, potentially because FlightRecorder is disabled.\n"
      "#0 nobody from /opt/torch/x.py:1\n"
      "[rank3]:[E710 18:00:34.427312432 ProcessGroupNCCL.cpp:801] [Rank 3] over\n"
      "#2 late from /opt/torch/x.py:2\n",
      "1 WD_STACK [rank 3] level=E function=all_reduce | all_reduce "
      "/opt/torch/distributed_c10d.py:3174"
      " < wrapper /opt/torch/c10d_logger.py:83\n"
      "5 WD_STACK [rank 5] level=E function=broadcast | broadcast "
      "/opt/torch/distributed_c10d.py:2000\n" },
    /* the launcher's prefix says whose lines these are */
    { "log",
      "[default0]:[rank8]:[E710 18:00:32.427312432 ProcessGroupNCCL.cpp:801] Stack trace of "
      "the "
      "failed collective: \n"
      "[default1]:[rank9]:[E710 18:00:32.427312432 ProcessGroupNCCL.cpp:801] Stack trace of "
      "the "
      "failed collective: \n"
      "[default0]:#0 all_reduce from /opt/a.py:1\n"
      "[default1]:#0 broadcast from /opt/a.py:2\n",
      "1 WD_STACK [rank 8] level=E function=all_reduce | all_reduce /opt/a.py:1\n"
      "2 WD_STACK [rank 9] level=E function=broadcast | broadcast /opt/a.py:2\n" },
    { "log",
      "[1,3]<stderr>:[rank3]:[E710 18:00:32.427312432 ProcessGroupNCCL.cpp:801] Stack trace of "
      "the failed collective: \n"
      "[1,5]<stderr>:#0 broadcast from /opt/a.py:2\n"
      "[1,3]<stderr>:#0 all_reduce from /opt/a.py:1\n",
      "1 WD_STACK [rank 3] level=E function=all_reduce | all_reduce /opt/a.py:1\n" },
    { "log",
      "[rank0]:[E1118 20:32:23.957466207 TraceUtils.h:281] Rank 0\n"
      "\t - [0] Timeout at collective: ALLREDUCE, #315\n"
      "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync "
      "are:"
      "\n"
      "\t     [7] finished collective #182, but didn't join collective #183 (count from 1)\n"
      "\t   - [0, 1, 2] joined but didn't finish collective #315 (count from 1)\n"
      "\t - Snapshot of ranks' latest states:\n"
      "\t   #182 finished ranks:\n"
      "\t     [7] finished ALLREDUCE\n"
      "\t   #315 started ranks:\n"
      "\t     [0, 1, 2] started ALLREDUCE\n"
      "[rank3]:[E1118 20:32:23.957466207 ProcessGroupNCCL.cpp:560] [PG 4 (tp) Rank 1] \n"
      "\t - To our best knowledge, ranks [3, 9] are the lagging ranks that caused this "
      "timeout. "
      "They never joined any collectives\n",
      "2 DESYNC [rank 0] level=E what=waits pg_ranks=0 seq=315 op=ALLREDUCE\n"
      "4 DESYNC [rank 0] level=E what=behind pg_ranks=7 seq=183 completed=182\n"
      "5 DESYNC [rank 0] level=E what=joined pg_ranks=0, 1, 2 seq=315 op=ALLREDUCE\n"
      "8 DESYNC [rank 0] level=E what=snapshot pg_ranks=7 seq=182 op=ALLREDUCE state=finished\n"
      "10 DESYNC [rank 0] level=E what=snapshot pg_ranks=0, 1, 2 seq=315 op=ALLREDUCE"
      " state=started\n"
      "12 DESYNC [rank 3] pg=4 pg_desc=tp pg_rank=1 level=E what=missing pg_ranks=3, 9\n" },
    { "log",
      "[E ProcessGroupGloo.cpp:2791] Rank 0 timed out in monitoredBarrier after 30000 ms.\n"
      "Successfully processed ranks: 1, 2\n"
      "RuntimeError: Rank 0 timed out in monitoredBarrier after 5000 ms.\n"
      "No ranks successfully processed in monitoredBarrier.\n",
      "1 MONBAR level=E pg_rank=0 timeout_ms=30000 pg_ranks=1, 2\n"
      "3 MONBAR pg_rank=0 timeout_ms=5000\n" },
    { "log",
      "Not all ranks joining collective, sequence number: 31\n"
      "internal record id: 30\n"
      "group info: 0:default_pg\n"
      "collective: nccl:all_reduce\n"
      "missing ranks: {3, 4}\n"
      "input sizes: [[15]]\n"
      "output sizes: [[15]]\n"
      "world size: 8\n"
      "expected ranks: {0, 1, 2, 3, 4}\n"
      "collective state: scheduled\n"
      "collective stack trace: \n"
      " all_reduce at /opt/torch/distributed_c10d.py:2707\n"
      "sync at /home/user/net.py:650\n"
      "Not all ranks joining collective 5 at entry 4\n"
      "group info: default_pg\n"
      "missing ranks: {1}\n",
      "1 FR_TRACE what=missing seq=31 record=30 pg=0 pg_desc=default_pg op=nccl:all_reduce"
      " missing=3, 4 ranks=0, 1, 2, 3, 4 world_size=8 shape_in=[[15]] shape_out=[[15]]"
      " state=scheduled | all_reduce /opt/torch/distributed_c10d.py:2707"
      " < sync /home/user/net.py:650\n"
      "14 FR_TRACE what=missing seq=5 record=4 pg=default_pg missing=1\n" },
};

static void failed_collectives(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, failed_collectives_samples);
}

static const struct event_sample errors_samples[] = {
    { "log",
      "[rank3]: torch.distributed.DistBackendError: NCCL error in: /opt/NCCLUtils.hpp:268, "
      "remote "
      "process exited or there was a network error, NCCL version 2.21.5\n"
      "[rank3]: ncclRemoteError: A call failed possibly due to a network error or a remote "
      "process exiting prematurely.\n"
      "[rank3]: Last error:\n"
      "[rank2]: Last error: Unknown NCCL Error\n"
      "[rank3]: socketProgress: Connection closed by remote peer node-b.example<4242>\n",
      "1 NCCL_ERROR [rank 3] why=remote process exited or there was a network error"
      " class=ncclRemoteError version=2.21.5"
      " last_error=socketProgress: Connection closed by remote peer node-b.example<4242>\n"
      "4 NCCL_ERROR [rank 2] last_error=Unknown NCCL Error\n" },
    /* below a header; a prefix that nobody knows */
    { "log",
      "[rank0]:[E325 10:00:00.000000001 ProcessGroupNCCL.cpp:552] [Rank 0] Collective "
      "WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1000) raised "
      "the "
      "following async exception: NCCL error: unhandled system error, NCCL version 2.25.1\n"
      "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or "
      "device error. \n"
      "Last error:\n"
      "Call to ibv_modify_qp failed\n"
      "<a|0>:ncclInternalError: Internal check failed.\n"
      "<a|0>:Last error:\n"
      "<a|0>:no such interface\n",
      "1 NCCL_ERROR [rank 0] pg_rank=0 level=E why=unhandled system error class=ncclSystemError"
      " version=2.25.1 last_error=Call to ibv_modify_qp failed op=ALLREDUCE seq=2\n"
      "5 NCCL_ERROR class=ncclInternalError last_error=no such interface\n" },
    /* NCCL's own: the first warning and who passed it on */
    { "log",
      "node-a:101:188 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space "
      "left on device\n"
      "node-a:101:188 [1] NCCL INFO include/shm.h:41 -> 2\n"
      "node-a:101:199 [1] NCCL INFO proxy.cc:698 -> 6 [Progress Thread]\n"
      "node-a:101:188 [1] include/shm.h:48 NCCL WARN Error while creating shared memory "
      "segment\n"
      "node-a:101:188 [1] NCCL INFO transport/shm.cc:100 (shmSetup) -> 2\n"
      "node-a:101:188 [1] NCCL INFO comm 0x55d2a8c0 rank 3 nranks 8 cudaDev 3 busId 1a000 - "
      "Abort "
      "COMPLETE\n"
      "node-a:101:188 [1] NCCL INFO init.cc:1 -> 2\n"
      "node-b:7:8 [0] NCCL WARN A warning that nobody passes on\n",
      "1 NCCL_UNWINDING [pid 101] level=W"
      " message=Call to posix_fallocate failed : No space left on device file=include/shm.h"
      " line=28 code=2 |  include/shm.h:41 < shmSetup transport/shm.cc:100\n" },
    /* the watchdog logs what it throws: it is told once */
    { "log",
      "[default0]:[rank8]:[E817 18:09:34.227531918 ProcessGroupNCCL.cpp:1515] [PG 0 "
      "(default_pg) "
      "Rank 8] Process group watchdog thread terminated with exception: CUDA error: "
      "unspecified "
      "launch failure\n"
      "[default0]:Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
      "[default0]:\n"
      "[default0]:Exception raised from c10_cuda_check at ../c10/cuda/CUDAException.cpp:43 "
      "(most "
      "recent call first):\n"
      "[default0]:frame #0: c10::Error::Error(std::string) + 0xb0 (0x7f00 in /opt/libc10.so)\n"
      "[default0]:frame #1: <unknown function> + 0x94ac3 (0x7f01 in /lib/libc.so.6)\n"
      "[default0]:terminate called after throwing an instance of 'c10::DistBackendError'\n"
      "[default0]:  what():    what():  [PG 0 (default_pg) Rank 8] Process group watchdog "
      "thread "
      "terminated with exception: CUDA error: unspecified launch failure\n"
      "[default0]:Exception raised from ncclCommWatchdog at ProcessGroupNCCL.cpp:1 (most "
      "recent "
      "call first):\n"
      "[default0]:frame #0: again() + 0x1 (0x7f in /opt/libc10.so)\n",
      "1 CXX_EXCEPTION [rank 8] pg=0 pg_desc=default_pg pg_rank=8 level=E"
      " class=c10::DistBackendError message=Process group watchdog thread terminated with"
      " exception: CUDA error: unspecified launch failure function=c10_cuda_check"
      " file=../c10/cuda/CUDAException.cpp line=43"
      " | c10::Error::Error(std::string) /opt/libc10.so < <unknown function> "
      "/lib/libc.so.6\n" },
    { "log",
      "terminate called after throwing an instance of 'std::bad_alloc'\n"
      "  what():  std::bad_alloc\n"
      "terminate called without an active exception\n",
      "1 CXX_EXCEPTION class=std::bad_alloc message=std::bad_alloc\n"
      "3 CXX_EXCEPTION message=terminate called without an active exception\n" },
};

static void errors(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, errors_samples);
}

/* ---- bounds ---- */

static void count_events(const char *text, const char *family, uint32_t *count, uint32_t *frames)
{
    struct hs_job job;
    uint32_t n;

    *count = *frames = 0;
    assert_true(event_text_read(&hs_parser_text, families, "log", hs_str_of(text), 4096, &job));
    for (uint32_t i = 0; i < job.event_count; i++) {
        const struct hs_event *event = &job.events[i];

        if (!hs_str_is(hs_job_string(&job, event->family), family))
            continue;
        (*count)++;
        (void)hs_job_stack(&job, event->stack, &n);
        *frames = n > *frames ? n : *frames;
    }
    hs_job_release(&job);
}

static void more_open_than_we_hold(void **state)
{
    struct hs_buf text;
    uint32_t count, frames;

    (void)state;
    hs_buf_init(&text);
    for (unsigned rank = 0; rank < HS_RECORDS_OPEN_MAX + 100; rank++)
        hs_buf_printf(&text,
                      "[rank%u]: Traceback (most recent call last):\n"
                      "[rank%u]:   File \"a.py\", line 1, in f\n",
                      rank, rank);
    count_events(text.p, "PY_TRACEBACK", &count, &frames);
    assert_int_equal(count, HS_RECORDS_OPEN_MAX + 100);
    assert_int_equal(frames, 1);
    hs_buf_release(&text);
}

static void the_innermost_frames_are_kept(void **state)
{
    struct hs_buf text;
    struct hs_job job;
    uint32_t n;
    const uint32_t *stack;

    (void)state;
    hs_buf_init(&text);
    hs_buf_printf(&text, "Traceback (most recent call last):\n");
    for (unsigned i = 0; i < HS_FRAMES_MAX + 9; i++)
        hs_buf_printf(&text, "  File \"a.py\", line %u, in f\n", i);
    hs_buf_printf(&text, "RecursionError: too deep\n");
    assert_true(event_text_read(&hs_parser_text, families, "log", hs_buf_str(&text), 4096, &job));
    for (uint32_t i = 0; i < job.event_count; i++) {
        if (job.events[i].stack == HS_NO_ID)
            continue;
        stack = hs_job_stack(&job, job.events[i].stack, &n);
        assert_int_equal(n, HS_FRAMES_MAX);
        assert_int_equal(hs_job_frame(&job, stack[0])->line, HS_FRAMES_MAX + 8);
        assert_int_equal(hs_job_frame(&job, stack[n - 1])->line, 9);
    }
    hs_job_release(&job);
    hs_buf_release(&text);
}

static void patience_ends(void **state)
{
    struct hs_buf text;
    uint32_t count, frames;

    (void)state;
    for (unsigned lines = HS_RECORD_LINES_MAX - 1; lines <= HS_RECORD_LINES_MAX + 1; lines += 2) {
        hs_buf_init(&text);
        hs_buf_printf(&text, "Traceback (most recent call last):\n"
                             "  File \"a.py\", line 1, in f\n");
        for (unsigned i = 0; i < lines; i++)
            hs_buf_printf(&text, "something else\n");
        hs_buf_printf(&text, "  File \"a.py\", line 2, in g\n");
        count_events(text.p, "PY_TRACEBACK", &count, &frames);
        assert_int_equal(count, lines < HS_RECORD_LINES_MAX ? 1 : 2);
        assert_int_equal(frames, lines < HS_RECORD_LINES_MAX ? 2 : 1);
        hs_buf_release(&text);
    }
}

/* A taker whose family is gone, or a composite whose field is, would be silent. */
static void every_opener_is_a_family(void **state)
{
    (void)state;
    for (const struct hs_taker *taker = hs_record_takers; taker->family; taker++) {
        if (hs_family_find(families, taker->family) == HS_NO_ID)
            print_error("no family %s\n", taker->family);
        assert_int_not_equal(hs_family_find(families, taker->family), HS_NO_ID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracebacks),
        cmocka_unit_test(tables),
        cmocka_unit_test(failed_collectives),
        cmocka_unit_test(errors),
        cmocka_unit_test(more_open_than_we_hold),
        cmocka_unit_test(the_innermost_frames_are_kept),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(every_opener_is_a_family),
    };

    return cmocka_run_group_tests(tests, families_make, families_free);
}
