import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.tgi_launcher import launcher_options

SOURCE = """
#[derive(Parser, Debug)]
struct Args {
    /// The port to listen on.
    #[clap(default_value = "3000", long, short, env)]
    port: u16,

    #[clap(long, env, value_enum)]
    kv_cache_dtype: Option<KVCacheDtype>,

    #[clap(long, env)]
    sharded: Option<bool>,

    /// Show the environment
    #[clap(long, short, action)]
    env: bool,
}

struct Other {
    #[clap(long)]
    hidden: bool,
}
"""


def test_reads_spellings_twins_and_whether_there_is_a_value() -> None:
    assert launcher_options(SOURCE) == [
        Option(("--env", "-e"), "", Takes.NONE),
        Option(("--help", "-h"), "", Takes.NONE),
        Option(("--kv-cache-dtype",), "KV_CACHE_DTYPE", Takes.ONE),
        Option(("--port", "-p"), "PORT", Takes.ONE),
        Option(("--sharded",), "SHARDED", Takes.ONE),
        Option(("--version", "-V"), "", Takes.NONE),
    ]


def test_another_source_is_refused() -> None:
    with pytest.raises(ValueError, match="is it launcher/src/main"):
        launcher_options("fn main() {}")
