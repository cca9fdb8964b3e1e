//! Arguments and help texts of `agon review`.

use clap::Args;

use agon_store::ReviewVerdict;

#[derive(Debug, Args)]
#[command(after_help = "\
Without a verdict, trials are shown one after the other, those that nobody has looked at first. Each is
answered with a letter and Enter, from a terminal or from a script:
  p [COMMENT]   it passed          n  next
  f [COMMENT]   it failed          b  back
  u             take it back       s  show it again
  c COMMENT     comment            q  quit

What a person says counts before what checks and judges say: in reports, and in what
`agon run --mode rerun-failed` plays again. Everything that was ever said is kept.

Examples:
  agon review latest --failed
  agon review runs/latest --task desktop/open_editor --pass --comment 'the title says so'
  agon review latest --task desktop/open_editor#2 --clear
  agon review latest --list --json")]
pub(in crate::cli) struct ReviewArgs {
    /// A run folder, a name under runs/, or `latest`.
    #[arg(value_name = "RUN")]
    pub(super) run: String,
    /// Only trials of this task; with #EPOCH, only that one.
    #[arg(long, value_name = "CATEGORY/ID")]
    pub(super) task: Option<String>,
    /// Only trials that nobody has looked at.
    #[arg(long)]
    pub(super) unreviewed: bool,
    /// Only trials that failed; a person is believed before the checks.
    #[arg(long)]
    pub(super) failed: bool,
    /// Only trials about which a person and the checks disagree.
    #[arg(long)]
    pub(super) disagreed: bool,
    /// Earlier attempts too, which were played again and count no more.
    #[arg(long)]
    pub(super) all: bool,
    /// The trial passed.
    #[arg(long, requires = "task", group = "verdict", conflicts_with_all = FILTERS)]
    pub(super) pass: bool,
    /// The trial failed.
    #[arg(long, requires = "task", group = "verdict", conflicts_with_all = FILTERS)]
    pub(super) fail: bool,
    /// Take back what was said about the trial.
    #[arg(long, requires = "task", group = "verdict", conflicts_with_all = FILTERS)]
    pub(super) clear: bool,
    /// Why; without a verdict, it goes to the one that holds.
    #[arg(long, value_name = "TEXT", requires = "task", conflicts_with_all = FILTERS)]
    pub(super) comment: Option<String>,
    /// Who says so [default: the name of the user].
    #[arg(long, value_name = "NAME", env = "AGON_REVIEWER")]
    pub(super) reviewer: Option<String>,
    /// List trials and what was said about them, and ask nothing.
    #[arg(long, conflicts_with = "verdict")]
    pub(super) list: bool,
    /// A JSON object per trial, or the review that was written.
    #[arg(long)]
    pub(super) json: bool,
}

const FILTERS: [&str; 5] = ["unreviewed", "failed", "disagreed", "all", "list"];

impl ReviewArgs {
    pub(super) fn verdict(&self) -> Option<ReviewVerdict> {
        match (self.pass, self.fail, self.clear) {
            (true, ..) => Some(ReviewVerdict::Pass),
            (_, true, _) => Some(ReviewVerdict::Fail),
            (.., true) => Some(ReviewVerdict::Clear),
            _ => None,
        }
    }

    /// May be empty where nobody knows.
    pub(super) fn who(&self) -> String {
        let given = self.reviewer.clone();
        given
            .or_else(|| std::env::var("USER").ok())
            .unwrap_or_default()
    }
}
