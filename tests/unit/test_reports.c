/* test_reports.c - stacks, and reports of NCCL's RAS and Inspector: text and JSON become events. */
#include "event_text.h"
#include "families_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

extern const struct hs_parser hs_parser_text, hs_parser_nccl_ras_json, hs_parser_pyspy_json;

static const struct event_sample stacks_samples[] = {
    { "rank4.pyspy.txt",
      "[2026-07-07 07:20:50] Pyspy dump for PID 1636 (py-spy dump --native --pid 1636):\n"
      "Process 1636: python3 -m server\n"
      "Python v3.11.14 (/usr/bin/python3.11)\n"
      "\n"
      "Thread 1636 (idle): \"MainThread\"\n"
      "    read (libc.so.6)\n"
      "    c10d::ProcessGroupNCCL::wait(int) (libtorch_cuda.so)\n"
      "    recv (multiprocessing/connection.py:379)\n"
      "        Arguments:\n"
      "            self: <Connection at 0x7f>\n"
      "    <module> (train.py:94)\n"
      "Thread 0x7F3B2C1D4740 (active+gil): \"watch\"\n"
      "    run (a.py:1)\n",
      "5 STACK [rank 4] tool=py-spy pid=1636 thread=1636 name=MainThread state=idle"
      " command=python3 -m server | read libc.so.6 < c10d::ProcessGroupNCCL::wait(int)"
      " libtorch_cuda.so < recv multiprocessing/connection.py:379 < <module> train.py:94\n"
      "12 STACK [rank 4] tool=py-spy pid=1636 thread=0x7F3B2C1D4740 name=watch state=active"
      " gil=held command=python3 -m server | run a.py:1\n" },
    { "log",
      "Fatal Python error: Segmentation fault\n"
      "\n"
      "Thread 0x00007f3a1ffff700 [worker-1] (most recent call first):\n"
      "  File \"/usr/lib/threading.py\", line 324 in wait\n"
      "  File \"q.py\", line 5 in get\n"
      "\n"
      "Current thread 0x00007f3b2c1d4740 (most recent call first):\n"
      "  File \"train.py\", line 3 in main\n"
      "  ...\n"
      "\n"
      "Current thread's C stack trace (most recent call first):\n"
      "  Binary file \"/lib/libc.so.6\", at abort+0x10 [0x7f00]\n"
      "Extension modules: numpy.core (total: 1)\n"
      "Stack (most recent call first):\n"
      "  File \"t.py\", line 3 in main\n",
      "3 STACK tool=faulthandler thread=0x00007f3a1ffff700 name=worker-1"
      " message=Segmentation fault | wait /usr/lib/threading.py:324 < get q.py:5\n"
      "7 STACK tool=faulthandler thread=0x00007f3b2c1d4740 state=current"
      " message=Segmentation fault | main train.py:3\n"
      "11 STACK tool=faulthandler state=current message=Segmentation fault"
      " | abort /lib/libc.so.6\n"
      "14 STACK tool=faulthandler | main t.py:3\n" },
    { "log",
      "Thread 16 (Thread 0x7f083d7fe000 (LWP 1705) \"loop\"):\n"
      "#0  0x00007f13b2a0541d in syscall () from /lib64/libc.so.6\n"
      "#1  0x00007f13b2a0541e in std::function<void (int)>::operator()(int) const (this=0x7f)\n"
      "    at /usr/include/c++/functional:590\n"
      "#2  <signal handler called>\n"
      "#3  ncclProxyService (args=0x7f3b2c1d4740) at proxy.cc:1550\n"
      "Thread 1 (process 99):\n"
      "#0  poll () from /lib/libc.so.6\n"
      "#0  0x00007f in again () from /lib/libc.so.6\n",
      "1 STACK tool=gdb thread=1705 name=loop | syscall /lib64/libc.so.6"
      " < std::function<void (int)>::operator()(int) const /usr/include/c++/functional:590"
      " < <signal handler called>  < ncclProxyService proxy.cc:1550\n"
      "7 STACK tool=gdb pid=99 thread=99 | poll /lib/libc.so.6\n"
      "7 STACK tool=gdb pid=99 | again /lib/libc.so.6\n" },
    { "log",
      "Traceback for thread 4242 (python3) [Has the GIL] (most recent call last):\n"
      "    (Python) File \"t.py\", line 3, in <module>\n"
      "        f()\n"
      "    (C) File \"???\", line 0, in poll (libc.so.6)\n"
      "==== backtrace (tid:  125) ====\n"
      " 0  /usr/lib/libucs.so.0(ucs_handle_error+0x2e4) [0x7f00aa]\n"
      " 1 0x0000000000014420 __funlockfile()  ???:0\n"
      "=================================\n"
      "32 0x04ea202fad49adfd Py_BytesMain()  ???:0\n"
      "35 0x0babbc4249625cf5 _start()  ???:0\n",
      "1 STACK tool=pystack thread=4242 name=python3 gil=held"
      " | poll libc.so.6 < <module> t.py:3\n"
      "5 STACK tool=ucx thread=125 | ucs_handle_error /usr/lib/libucs.so.0 < __funlockfile "
      "???\n"
      "9 STACK tool=ucx | Py_BytesMain ??? < _start ???\n" },
    /* two processes that die at once */
    { "log",
      "[node-a:04242] *** Process received signal ***\n"
      "[node-a:04243] *** Process received signal ***\n"
      "[node-a:04242] Signal: Segmentation fault (11)\n"
      "[node-a:04242] Signal code: Address not mapped (1)\n"
      "[node-a:04243] Signal: Aborted (6)\n"
      "[node-a:04242] [ 0] /lib/libc.so.6(+0x42520)[0x7f3b2c1b4520]\n"
      "[node-a:04243] [ 0] /lib/libc.so.6(abort+0xd3) [0x7f3b2c1b47f3]\n"
      "[node-a:04242] [ 1] /opt/libnccl.so.2(ncclGroupEnd+0x12)[0x7f3b2c1b4521]\n"
      "[node-a:04242] *** End of error message ***\n"
      "[node-a:04242] [ 2] /opt/late.so(f+0x12)[0x7f3b2c1b4521]\n"
      "*** SIGSEGV (@0x8) received by PID 77 (TID 0x7f3b) from PID 8; stack trace: ***\n"
      "PC: @     0x7f3b2c1d4520  (unknown)\n"
      "    @     0x7f3b2c1d4520       3408  (unknown)\n"
      "    @     0x7f3b2c1d4521  ncclCommInitRank\n"
      "[<0>] nfs_wait_bit_killable+0x1e/0x90 [nfs]\n"
      "[<0>] do_syscall_64+0x56/0xb0\n",
      "1 STACK tool=signal host=node-a pid=4242 signal=11 message=Segmentation fault"
      " | (unknown) /lib/libc.so.6 < ncclGroupEnd /opt/libnccl.so.2\n"
      "2 STACK tool=signal host=node-a pid=4243 signal=6 message=Aborted"
      " | abort /lib/libc.so.6\n"
      "10 STACK tool=signal pid=4242 | f /opt/late.so\n"
      "11 STACK tool=signal pid=77 signal=SIGSEGV | (unknown)  < ncclCommInitRank \n"
      "15 STACK tool=kernel | nfs_wait_bit_killable nfs < do_syscall_64 \n" },
};

static void stacks(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, stacks_samples);
}

static const struct event_sample stacks_as_json_samples[] = {
    { "rank0.json",
      "[\n"
      "  {\n"
      "    \"pid\": 4242,\n"
      "    \"thread_id\": 139826466309952,\n"
      "    \"thread_name\": \"Main\\u0054hread\",\n"
      "    \"os_thread_id\": 4243,\n"
      "    \"active\": true,\n"
      "    \"owns_gil\": true,\n"
      "    \"frames\": [\n"
      "      { \"name\": \"wait\", \"filename\": \"/opt/x.py\", \"line\": 12, \"locals\": null "
      "},\n"
      "      { \"name\": \"main\", \"filename\": \"t.py\", \"line\": 3,\n"
      "        \"locals\": [ { \"name\": \"x\", \"repr\": \"1\" } ] }\n"
      "    ],\n"
      "    \"process_info\": { \"pid\": 1, \"command_line\": \"python3 t.py\" }\n"
      "  },\n"
      "  { \"pid\": 4242, \"thread_id\": 5, \"thread_name\": null, \"active\": false,\n"
      "    \"frames\": [], \"process_info\": null }\n"
      "]\n",
      "2 STACK [rank 0] tool=py-spy pid=4242 thread=4243 name=MainThread state=active gil=held"
      " command=python3 t.py | wait /opt/x.py:12 < main t.py:3\n"
      "16 STACK [rank 0] tool=py-spy pid=4242 thread=5 state=idle\n" },
    { "one",
      "[{\"pid\":1,\"thread_id\":2,\"frames\":[{\"name\":\"f\",\"filename\":\"f.py\"}],\"act",
      "1 STACK tool=py-spy pid=1 thread=2 | f f.py\n" },
};

static void stacks_as_json(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_pyspy_json, families, stacks_as_json_samples);
    assert_int_equal(hs_parser_pyspy_json.probe(hs_str_of(stacks_as_json_samples[0].text)) > 100,
                     1);
    assert_int_equal(hs_parser_pyspy_json.probe(HS_STR("[{\"pid\": 1}]")), 0);
}

static const struct event_sample ras_as_text_samples[] = {
    { "log",
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         4       7-8        32        32   RUNNING  MISMATCH\n"
      "\n"
      "Errors\n"
      "======\n"
      "\n"
      "INCOMPLETE\n"
      "  Missing communicator data from 1 job process\n"
      "  Process 3487 on node 10.0.0.4 managing GPUs 4,5 (NVML 0,1)\n"
      "\n"
      "#0-0 (0f264af53edbe986) INCOMPLETE\n"
      "  Missing communicator data from 1 rank\n"
      "  Rank 21 -- GPU 5 managed by process 3487 on node 10.0.0.4\n"
      "  The unknown ranks: 1,3-7\n"
      "\n"
      "Warnings\n"
      "========\n"
      "\n"
      "#0-1 (1f16234e0e925d4f) MISMATCH\n"
      "  Communicator ranks have different status\n"
      "  Rank 2 has status INIT -- GPU 2 (NVML 7) managed by process 1 on node fe80::1\n"
      "  Communicator ranks have different AllGather operation counts\n"
      "  30 ranks have launched up to operation 650\n"
      "  2 ranks have launched up to operation 651\n"
      "  Rank 12 -- GPU 4 managed by process 429 on node 10.0.0.1\n"
      "  Rank 13 has not launched any operations -- [process information not found]\n"
      "  Asynchronous error on 1 rank\n"
      "  Rank 5 reported Remote process error -- GPU 5 managed by process 12 on node "
      "10.0.0.1\n",
      "3 RAS what=communicators group=0 ranks=32 count=1 nranks=32 nodes=4 state=RUNNING"
      " error=MISMATCH\n"
      "9 RAS what=missing-processes count=1 error=INCOMPLETE\n"
      "10 RAS what=process error=INCOMPLETE host=10.0.0.4 pid=3487 gpu=4,5\n"
      "12 RAS what=communicator commid=0xf264af53edbe986 group=0-0 error=INCOMPLETE\n"
      "13 RAS what=missing-ranks commid=0xf264af53edbe986 group=0-0 count=1 error=INCOMPLETE\n"
      "14 RAS what=missing commid=0xf264af53edbe986 group=0-0 rank=21 error=INCOMPLETE"
      " host=10.0.0.4 pid=3487 gpu=5\n"
      "15 RAS what=unknown commid=0xf264af53edbe986 group=0-0 ranks=1,3-7 error=INCOMPLETE\n"
      "20 RAS what=communicator commid=0x1f16234e0e925d4f group=0-1 error=MISMATCH\n"
      "21 RAS what=differ commid=0x1f16234e0e925d4f group=0-1 error=MISMATCH\n"
      "22 RAS what=rank commid=0x1f16234e0e925d4f group=0-1 rank=2 state=INIT error=MISMATCH"
      " host=fe80::1 pid=1 gpu=2 nvml_device=7\n"
      "23 RAS what=differ commid=0x1f16234e0e925d4f group=0-1 op=AllGather error=MISMATCH\n"
      "24 RAS what=ranks commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=650 count=30"
      " error=MISMATCH\n"
      "25 RAS what=ranks commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=651 count=2"
      " error=MISMATCH\n"
      "26 RAS what=rank commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=651 rank=12"
      " error=MISMATCH host=10.0.0.1 pid=429 gpu=4\n"
      "27 RAS what=rank commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=0 rank=13"
      " error=MISMATCH\n"
      "28 RAS what=async-errors commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=651"
      " count=1 error=MISMATCH\n"
      "29 RAS what=rank commid=0x1f16234e0e925d4f group=0-1 op=AllGather seq=651 rank=5"
      " error=MISMATCH message=Remote process error host=10.0.0.1 pid=12 gpu=5\n" },
};

static void ras_as_text(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, ras_as_text_samples);
}

#define RANK(n, pid, launched)                                                                     \
    "{ \"rank\": " n ", \"host\": \"10.0.0.1\", \"pid\": " pid ", \"cuda_dev\": " n                \
    ", \"nvml_dev\": " n ",\n \"status\": { \"init_state\": 0, \"async_error\": 0,\n"              \
    " \"finalize_called\": false, \"destroy_flag\": false, \"abort_flag\": false },\n"             \
    " \"collective_counts\": { \"Broadcast\": 2, \"Reduce\": 0, \"AllReduce\": " launched " } }"
static const struct event_sample ras_as_json_samples[] = {
    /* as from the socket, and without the comma that NCCL 2.28 forgets */
    { "ras.json",
      "SERVER PROTOCOL 2\nOK\n"
      "{\n"
      "  \"nccl_version\": \"2.28.9\",\n"
      "  \"cuda_runtime_version\": 13000, \"cuda_driver_version\": 13000,\n"
      "  \"timestamp\": \"2026-02-03 13:07:07\", \"communicators_count\": 1,\n"
      "  \"communicators\": [\n"
      "    { \"hash\": \"0x1f16\", \"secondary_hash\": \"0x1:0x2\", \"size\": 3,\n"
      "      \"ranks_count\": 2, \"missing_ranks_count\": 1, \"ranks\": [\n" RANK(
          "0", "100", "6") ",\n" RANK("1", "101",
                                      "5") "\n ],\n"
                                           "      \"missing_ranks\": [ { \"rank\": 2, "
                                           "\"host\": \"unknown\", \"pid\": -1,\n"
                                           "        \"cuda_dev\": 1,\n"
                                           "        \"nvml_dev\": 1\n"
                                           "        \"status\": { \"unresponsive\": true, "
                                           "\"considered_dead\": false } } ] } ],\n"
                                           "  \"ras\": { \"collection_time_sec\": 5.0, "
                                           "\"timeouts_count\": 1 }\n"
                                           "}\n",
      "8 RAS what=communicator commid=0x1f16 ranks=2 nranks=3 missing=1\n"
      "8 RAS what=even commid=0x1f16 op=Broadcast seq=2 count=2\n"
      "8 RAS what=ranks commid=0x1f16 op=AllReduce seq=6 count=1\n"
      "8 RAS what=ranks commid=0x1f16 op=AllReduce seq=5 count=1\n"
      "10 RAS what=rank commid=0x1f16 rank=0 state=RUNNING host=10.0.0.1 pid=100 gpu=0"
      " nvml_device=0\n"
      "10 RAS what=rank commid=0x1f16 op=AllReduce seq=6 rank=0 state=RUNNING host=10.0.0.1"
      " pid=100 gpu=0 nvml_device=0\n"
      "14 RAS what=rank commid=0x1f16 rank=1 state=RUNNING host=10.0.0.1 pid=101 gpu=1"
      " nvml_device=1\n"
      "14 RAS what=rank commid=0x1f16 op=AllReduce seq=5 rank=1 state=RUNNING host=10.0.0.1"
      " pid=101 gpu=1 nvml_device=1\n"
      "19 RAS what=missing commid=0x1f16 rank=2 error=unresponsive gpu=1 nvml_device=1\n" },
    { "monitor.json",
      "{\"timestamp\":\"2026-02-03 13:07:07\",\"group\":\"LIFECYCLE\",\"event\":\"PEER_DEAD\","
      "\"peer\":{\"host\":\"10.0.0.2\",\"pid\":103,\"cuda_devs\":[1]},\"details\":\"gone\"}\n"
      "{\"timestamp\":\"2026-02-03 13:07:08\",\"group\":\"TRACE\",\"event\":\"RAS_START\","
      "\"details\":null}\n",
      "1 RAS what=monitor message=gone host=10.0.0.2 pid=103 event=PEER_DEAD\n"
      "2 RAS what=monitor event=RAS_START\n" },
};

static void ras_as_json(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_nccl_ras_json, families, ras_as_json_samples);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            hs_parser_nccl_ras_json.probe(hs_str_of(ras_as_json_samples[i].text)) > 100, 1);
    assert_int_equal(hs_parser_nccl_ras_json.probe(HS_STR("{\"version\": \"2.4\"}")), 0);
    assert_int_equal(hs_parser_nccl_ras_json.probe(HS_STR("no brace")), 0);
}

#define CALL(sn, us)                                                                               \
    "{\"header\":{\"id\":\"0x27a0\",\"rank\":3,\"n_ranks\":8,\"nnodes\":1},\"metadata\":{"         \
    "\"dump_timestamp_us\":1748030377748202,\"hostname\":\"node-a.example\",\"pid\":42},"          \
    "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":" sn ",\"coll_exec_time_us\":" us           \
    ",\"event_trace_sn\":{\"coll_start_sn\":1,\"kernel_events\":[{\"channel_id\":0}]}}}\n"
static const struct event_sample inspector_samples[] = {
    { "node-a-pid42.log",
      CALL("7", "900") CALL("9", "50")
          CALL("8", "70") "{\"header\":{\"id\":\"0x27a0\",\"rank\":3},\"metadata\":{},\"p2p_"
                          "perf\":{\"p2p\":\"Send\","
                          "\"p2p_sn\":3,\"p2p_peer\":4,\"p2p_exec_time_us\":61}}\n"
                          "{\"header\":{\"id\":\"0x27a0\"},\"coll_perf\":{\"coll\":"
                          "\"AllReduce\",\"coll_sn\":",
      "2 INSPECTOR commid=0x27a0 rank=3 nranks=8 nodes=1 op=AllReduce host=node-a.example"
      " pid=42 seq=9 first_seq=7 count=3 elapsed_us=50 slowest_us=900\n"
      "4 INSPECTOR commid=0x27a0 rank=3 op=Send peer=4 seq=3 first_seq=3 count=1"
      " elapsed_us=61 slowest_us=61\n" },
};

static void inspector(void **state)
{
    (void)state;
    EVENT_TEXT_CHECK(&hs_parser_text, families, inspector_samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks),      cmocka_unit_test(stacks_as_json),
        cmocka_unit_test(ras_as_text), cmocka_unit_test(ras_as_json),
        cmocka_unit_test(inspector),
    };

    return cmocka_run_group_tests(tests, families_make, families_free);
}
