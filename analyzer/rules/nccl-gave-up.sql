-- id: nccl-gave-up
-- code: -
-- role: confirmation
-- severity: warning
-- title: NCCL warned and did not go on
-- title.zh: NCCL 告警后未再继续
-- means: The first warning of a thread before its error, or before it falls silent, is NCCL's own
--   reason. It has no rule of its own, so read its words.
-- means.zh: 线程返回错误或不再输出之前的第一条告警就是 NCCL 给出的原因；它没有对应的规则，请直接阅
--   读其内容。
-- remedy: Search NCCL's source or issues for the words of the warning.
-- remedy.zh: 在 NCCL 源码或问题列表中搜索该告警的文字。
-- see: https://github.com/NVIDIA/nccl/issues
SELECT e.id AS event, e.rank, e.host, 'likely' AS strength,
       substr(substr(line_text(e.source, e.line), instr(line_text(e.source, e.line), 'NCCL WARN ') + 10), 1, 120)
         AS detail
FROM event e
WHERE e.family IN ('nccl_warn', 'uds_fail', 'kernel_smem', 'nvml', 'ib_reg', 'ib_library', 'alloc_fail')
      AND line_text(e.source, e.line) LIKE '%NCCL WARN %'
      AND EXISTS (SELECT 1 FROM event b
                  WHERE b.source = e.source AND b.line BETWEEN e.line + 1 AND e.line + 16
                        AND b.speaker = e.speaker AND b.family = 'backtrace')
UNION ALL
SELECT e.id, e.rank, e.host, 'lead',
       substr(substr(line_text(e.source, e.line), instr(line_text(e.source, e.line), 'WARN ') + 5), 1, 120)
FROM event e LEFT JOIN last_word l ON l.speaker = e.speaker
WHERE e.family IN ('nccl_warn', 'uds_fail', 'nvml', 'ib_reg', 'ib_library', 'alloc_fail')
      AND line_text(e.source, e.line) LIKE '%WARN %'
      AND e.line >= ifnull(l.line, 0);
