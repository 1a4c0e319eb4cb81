-- id: device-file-missing
-- code: misconfigured
-- cause: resource-limit
-- role: root
-- severity: error
-- title: A device file is missing or may not be opened
-- title.zh: 设备文件缺失或无权打开
-- means: The container or user does not have this device, so that the card or GPU behind it
--   cannot be used.
-- means.zh: 容器或用户没有该设备，因此无法使用其对应的网卡或 GPU。
-- remedy: Pass the device into the container (--device=/dev/infiniband, --gpus all), or fix its
--   permissions.
-- remedy.zh: 将设备映射进容器（--device=/dev/infiniband、--gpus all），或修正其权限。
-- see: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/
SELECT id AS event, rank, host, 'likely' AS strength, arg(args, 'path') || ': ' || arg(args, 'why') AS detail
FROM event WHERE family = 'NO_DEVICE_FILE';
