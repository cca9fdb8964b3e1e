//! Arguments and help texts of `agon desktop`.

use std::path::PathBuf;

use agon_desktop::{DesktopConfig, Rect, Size};
use clap::{ArgGroup, Args, Subcommand};

use crate::cli::args::JsonArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon desktop start --detach --app xterm        leaves a desktop behind and says its ID
  agon desktop call keyboard.type 'echo hello'
  agon desktop screenshot now.png
  agon desktop stop --all

Commands take --desktop ID. Without it they use the only desktop that runs, else $DISPLAY.")]
pub(in crate::cli) struct DesktopArgs {
    #[command(subcommand)]
    pub(super) command: DesktopCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DesktopCommand {
    /// Start a private desktop: an X server with a window manager.
    Start(StartArgs),
    /// List the desktops that run.
    List(JsonArgs),
    /// End desktops.
    Stop(StopArgs),
    /// Save what a screen shows.
    Screenshot(ScreenshotArgs),
    /// Call a function of the registry by its name.
    Call(CallArgs),
    /// Print what keyboard, mouse and windows do, one JSON object per line.
    Watch(WatchArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon desktop start                             until Ctrl-C
  agon desktop start --screen 1920x1080 --app xterm --app 'xclock -update 1'
  ID=$(agon desktop start --detach)              ends with: agon desktop stop $ID

The ID goes to standard output, how other programs reach the desktop to standard error.")]
pub(super) struct StartArgs {
    /// Size of the screen.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value_t = DesktopConfig::DEFAULT_SIZE)]
    pub(super) screen: Size,
    /// OpenGL by software.
    #[arg(long)]
    pub(super) gl: bool,
    /// A shell command to run on it, as yourself; ended with the desktop. Can be given often.
    #[arg(long = "app", value_name = "COMMAND")]
    pub(super) apps: Vec<String>,
    /// Leave the desktop running and return.
    #[arg(long)]
    pub(super) detach: bool,
    /// Tell where it is as JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// We are the process that --detach leaves; what is said goes to this file.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with = "detach")]
    pub(super) owner_log: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").args(["ids", "all"]).required(true)))]
#[command(after_help = "Examples:\n  agon desktop stop d1\n  agon desktop stop --all")]
pub(super) struct StopArgs {
    /// IDs as `agon desktop list` shows them.
    #[arg(value_name = "ID")]
    pub(super) ids: Vec<String>,
    /// All that run.
    #[arg(long)]
    pub(super) all: bool,
    /// JSON instead of text.
    #[arg(long)]
    pub(super) json: bool,
}

/// Which desktop.
#[derive(Debug, Args)]
pub(in crate::cli) struct ChoiceArgs {
    /// ID of a desktop, or a display such as :0 [default: the only one that runs, else $DISPLAY].
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) desktop: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon desktop screenshot now.png
  agon desktop screenshot --window xterm --cursor term.webp
  agon desktop screenshot --region 0,0,640,400 --max 320x200 - | display")]
pub(super) struct ScreenshotArgs {
    /// A .png, .webp (lossless) or .jpg file; - for PNG on standard output.
    #[arg(value_name = "OUT")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) choice: ChoiceArgs,
    /// Only the first window with this in its title.
    #[arg(long, value_name = "TITLE")]
    pub(super) window: Option<String>,
    /// Only this part of the screen.
    #[arg(long, value_name = "X,Y,W,H", value_parser = rect, conflicts_with = "window",
        allow_hyphen_values = true)]
    pub(super) region: Option<Rect>,
    /// Draw the pointer.
    #[arg(long)]
    pub(super) cursor: bool,
    /// Make it smaller where it is larger than this.
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    pub(super) max: Option<Size>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon desktop call --list
  agon desktop call window.make_active xterm
  agon desktop call keyboard.tap ctrl+c
  agon desktop call keyboard.press 0x27          a Windows virtual key
  agon desktop call mouse.click left 2
  agon desktop call mouse.drag '[[10,10],[200,120]]' --desktop d1

An argument that is a JSON number, true, false, null, array, object or quoted string is that; a
hexadecimal number is a number; everything else is text. Text that looks like one of those needs quotes
of its own: '\"42\"'. A single object names the parameters.")]
pub(super) struct CallArgs {
    /// Name of the function.
    #[arg(required_unless_present = "list", value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Its arguments, in order.
    #[arg(value_name = "ARG", allow_negative_numbers = true)]
    pub(super) args: Vec<String>,
    #[command(flatten)]
    pub(super) choice: ChoiceArgs,
    /// List the names with their parameters; those with ? may be left out.
    #[arg(long, conflicts_with_all = ["name", "args", "desktop"])]
    pub(super) list: bool,
    /// With --list: one JSON object per name and line.
    #[arg(long, requires = "list")]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon desktop watch                             everything, until Ctrl-C
  agon desktop watch --keys --seconds 10
  agon desktop watch --windows | head -n 1       waits for the first change")]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) choice: ChoiceArgs,
    /// Keys.
    #[arg(long)]
    pub(super) keys: bool,
    /// Moves, buttons and scrolls of the mouse.
    #[arg(long)]
    pub(super) mouse: bool,
    /// Windows: new, active, renamed, gone.
    #[arg(long)]
    pub(super) windows: bool,
    /// End after this time [default: never].
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub(super) seconds: Option<std::time::Duration>,
}

fn rect(text: &str) -> Result<Rect, String> {
    let bad = || format!("`{text}` is no region: write X,Y,WIDTH,HEIGHT, such as 0,0,640,400");
    let numbers: Vec<&str> = text.split(',').collect();
    let [x, y, width, height] = numbers[..] else {
        return Err(bad());
    };
    let side = |side: &str| side.parse().ok().filter(|side| *side > 0);
    let rect = (|| {
        Some(Rect {
            x: x.parse().ok()?,
            y: y.parse().ok()?,
            width: side(width)?,
            height: side(height)?,
        })
    })();
    rect.ok_or_else(bad)
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let bad = || format!("`{text}` is no number of seconds such as 2.5");
    let seconds = text.parse().map_err(|_| bad())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|_| bad())
}
