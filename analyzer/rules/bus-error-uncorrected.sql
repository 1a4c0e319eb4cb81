-- id: bus-error-uncorrected
-- code: gpu-fault
-- role: root
-- severity: error
-- title: An uncorrected error on the PCI bus
-- title.zh: PCIe 总线出现不可纠正错误
-- means: A transfer of a device on the bus failed for good. It is a GPU, a network card or the
--   bridge above them; corrected errors are not shown.
-- means.zh: 总线上某设备的传输彻底失败，可能是 GPU、网卡或其上级桥；可纠正错误不在此列。
-- remedy: Find the device by its address (lspci -s), drain the host, check seating and firmware.
-- remedy.zh: 按地址查找设备（lspci -s），停用主机，检查插槽与固件。
-- see: https://docs.kernel.org/PCI/pcieaer-howto.html
SELECT id AS event, NULL AS rank, host, 'likely' AS strength,
       ifnull(arg(args, 'bdf') || ', ', '') || arg(args, 'severity') AS detail
FROM event
WHERE family = 'AER' AND (arg(args, 'severity') LIKE 'Uncorrect%' OR arg(args, 'severity') LIKE 'Fatal%');
