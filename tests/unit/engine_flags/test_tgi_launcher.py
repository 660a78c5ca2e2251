import pytest

from llmservice.catalog.recorded_flags import Option
from tools.engine_flags.tgi_launcher import launcher_options

SOURCE = """
#[derive(Parser, Debug)]
struct Args {
    /// The port to listen on.
    #[clap(default_value = "3000", long, short, env)]
    port: u16,

    #[clap(long, env, value_enum)]
    kv_cache_dtype: Option<KVCacheDtype>,

    /// Show the environment
    #[clap(long, short, action)]
    env: bool,
}

struct Other {
    #[clap(long)]
    hidden: bool,
}
"""


def test_reads_spellings_and_twins() -> None:
    assert launcher_options(SOURCE) == [
        Option(("--env", "-e")),
        Option(("--help", "-h")),
        Option(("--kv-cache-dtype",), "KV_CACHE_DTYPE"),
        Option(("--port", "-p"), "PORT"),
        Option(("--version", "-V")),
    ]


def test_another_source_is_refused() -> None:
    with pytest.raises(ValueError, match="is it launcher/src/main"):
        launcher_options("fn main() {}")
