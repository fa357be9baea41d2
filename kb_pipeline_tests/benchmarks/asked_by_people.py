"""Questions about the sample as a person would put them, each with words that its answer must hold.

Written beside the documents, not from the items: they paraphrase. Their scores were looked at when the threshold of
answers was placed (``docs/answers.md``), so of abstention they say nothing that is held back. No ranking was tuned on
them.
"""

QUESTIONS = {
    "How big is a KV block by default in the newest Siskin?": "32 tokens",
    "how long does turnstile keep an interactive request waiting before it gives up": "30 seconds",
    "How much time does a fresh 70B replica need until it serves?": "4 minutes",
    "What longest prompt may I send to the batch pool?": "128,000",
    "Which flag switches off chunked prefill?": "--no-enable-chunked-prefill",
    "What does ERR_BUDGET mean?": "token budget is empty",
    "how long does a rollout of the interactive pool take": "two hours",
    "Who came up with iteration-level scheduling?": "Orca",
    "What is goodput?": "latency targets",
    "memory bandwidth of the H100 SXM": "3350",
    "How many KV heads does Llama 3 70B have?": "8 KV heads",
    "What happens to the prefix cache when a replica restarts?": "empties",
    "Which share of GPU memory does Siskin take if I configure nothing?": "90%",
    "Why should percentiles of replicas not be averaged?": "percentiles",
    "What is the difference between TPOT and ITL?": "ITL",
    "How do I compute end-to-end latency?": "TTFT plus TPOT",
    "What replaced FNV-1a in the hash ring?": "SHA-256",
    "How many virtual nodes does affinity use now?": "160",
    "Should a tensor-parallel group span several nodes?": "inside one node",
    "How large are the weights of the 70B model in INT4?": "36.1 GB",
    "What does speculative decoding do?": "propose",
    "Can Siskin v0.5 store the KV cache in FP8?": "does not support",
    "What traffic does an upgraded replica get at first?": "5%",
    "At what number of tokens does the engine batch by default in v0.6?": "8192",
}
