module played_vllm

go 1.24
