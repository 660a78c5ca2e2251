"""What a GGUF file's weights are: `general.file_type` is a number of llama.cpp's `llama_ftype` (include/llama.h)."""

GUESSED = 1024
"""Added by llama.cpp where a file does not say."""

PLAIN = {0: "float32", 1: "float16", 32: "bfloat16"}
_FROM_2 = "Q4_0 Q4_1 - - - Q8_0 Q5_0 Q5_1 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K"
_FROM_19 = "IQ2_XXS IQ2_XS Q2_K_S IQ3_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ3_M IQ2_S IQ2_M IQ4_XS IQ1_M"
_FROM_36 = "TQ1_0 TQ2_0 MXFP4 NVFP4 Q1_0"
QUANTIZED = {
    first + place: name
    for first, names in ((2, _FROM_2), (19, _FROM_19), (36, _FROM_36))
    for place, name in enumerate(names.split())
    if name != "-"  # no longer a type
}
