//! Why something of an agent's folder does not go to it.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// Suites, run folders, the configuration, tapes: named by this very run.
    OfRun,
    Suite,
    Run,
    /// One of the keys that this process knows.
    Key,
    LinkOut,
    Special,
    Tape,
    PrivateKey,
    Settings,
    Dotted,
    Cache,
    NotProgram,
}

impl Why {
    /// Whether `--agent-files` brings it in.
    pub(crate) const fn can_be_asked_for(self) -> bool {
        matches!(
            self,
            Self::Tape
                | Self::PrivateKey
                | Self::Settings
                | Self::Dotted
                | Self::Cache
                | Self::NotProgram
        )
    }

    /// Whether its user may wonder where it is.
    pub(crate) const fn can_be_missed(self) -> bool {
        !matches!(
            self,
            Self::Suite | Self::Run | Self::Cache | Self::Special | Self::LinkOut
        )
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OfRun => "the run itself reads or writes it",
            Self::Suite => "it belongs to a suite",
            Self::Run => "it is the record of a run",
            Self::Key => "it holds a key of a model's service",
            Self::LinkOut => "it is a link that leads out of the folder",
            Self::Special => "it is not a regular file",
            Self::Tape => "it is a tape of model calls",
            Self::PrivateKey => "it holds a private key",
            Self::Settings => "its name is that of a file of secrets",
            Self::Dotted => "its name begins with a dot",
            Self::Cache => "it is a cache",
            Self::NotProgram => "it is not program text, and the folder holds files of the run",
        })
    }
}
