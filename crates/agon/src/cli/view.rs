//! `agon view`: runs in a browser, or as files that can be shared.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use agon_store::RunFolder;
use agon_viewer::{Library, Run, Viewer, ViewerError, ViewerOptions};
use clap::Args;
use tempfile::{TempDir, TempPath};

use super::exit::Exit;
use super::failure::Failure;
use super::report::{RUNS, find_run};
use super::{output, signals};

const PORT: u16 = 7357;
/// Runs that can't be read and are named one by one.
const MOST_TOLD: usize = 20;
/// Ports that are tried where none was asked for.
const SPARE_PORTS: u16 = 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agon view                                      every run under runs/
  agon view latest                               the newest run
  agon view runs/a runs/b --port 8000
  agon view runs/mine --export site              a folder that any browser opens
  agon view --host 0.0.0.0                       for other machines

On another machine: ssh -L 7357:localhost:7357 HOST, and `agon view --no-open` there.
Runs that are being played are shown as they go on. Indexes and thumbnails are kept in agon/viewer of
$XDG_CACHE_HOME or ~/.cache; a run folder gets reviews and orders to stop, and nothing else.")]
pub(super) struct ViewArgs {
    /// Run folders, names under runs/, `latest`, or folders with runs below them [default: runs].
    #[arg(value_name = "RUN_OR_FOLDER")]
    runs: Vec<String>,
    /// The address to listen at. Every request needs the token of the address that is printed.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = host)]
    host: IpAddr,
    /// The port to listen at; 0: any [default: 7357, or the next that is free].
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Don't open a browser. None is opened for an address that other machines reach.
    #[arg(long)]
    no_open: bool,
    /// Write the runs as a folder of files, and serve nothing. It must be new or empty.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["host", "port", "no_open"])]
    export: Option<PathBuf>,
}

pub(super) async fn view(args: &ViewArgs) -> Result<Exit, Failure> {
    let roots = roots(&args.runs)?;
    let (cache, _fleeting) = cache()?;
    if let Some(into) = &args.export {
        return export(roots, cache, into);
    }
    // A run that was named alone is what one wants to see.
    let alone = roots.len() == 1 && RunFolder::at(&roots[0]).has_manifest();
    let folder = cache.clone();
    let viewer = bind(args, roots.clone(), cache).await?;
    let stop = signals::stop_on_signal("stopping")?;
    let served = viewer.served();
    // A folder may be on a disk that hangs.
    let runs = tokio::select! {
        runs = viewer.runs() => runs?,
        () = stop.cancelled() => return Ok(Exit::Done),
    };
    tell(&runs, &roots)?;
    let path = match &runs[..] {
        [(run, _)] if alone => format!("/runs/{}", run.id()),
        _ => "/".to_owned(),
    };
    let url = served.page(&path);
    let count = output::count(runs.len() as u64, "run");
    output::data(&format!("Viewing {count} at {url} (Ctrl-C ends)"))?;
    if served.wide {
        output::say(
            "Other machines reach it by this machine's name, with the same port and token.",
        );
    }
    let _door = match args.no_open || served.wide {
        true => None,
        false => open(&url, &folder),
    };
    viewer.serve(stop).await?;
    Ok(Exit::Done)
}

/// Where indexes and thumbnails are kept: for as long as the viewer runs where there is no other place.
fn cache() -> Result<(PathBuf, Option<TempDir>), Failure> {
    if let Ok(cache) = agon_vision::package::cache_folder("viewer") {
        return Ok((cache, None));
    }
    let fleeting = tempfile::tempdir()
        .map_err(|error| Failure::new(format_args!("there is no place for indexes: {error}")))?;
    Ok((fleeting.path().to_owned(), Some(fleeting)))
}

/// Runs that can't be read are shown as such; one that was named itself is all that is wanted.
fn tell(runs: &[(Arc<Run>, Option<String>)], roots: &[PathBuf]) -> Result<(), Failure> {
    let mut troubles = 0;
    for (run, trouble) in runs {
        if roots.iter().any(|root| root == run.folder().path()) {
            if let Some(trouble) = trouble {
                return Err(Failure::new(format_args!("can't read {trouble}")));
            }
            run.manifest()?;
        }
        let Some(trouble) = trouble else { continue };
        troubles += 1;
        if troubles <= MOST_TOLD {
            output::say(&format!("can't read {trouble}"));
        }
    }
    if troubles > MOST_TOLD {
        output::say(&format!("can't read {} more", troubles - MOST_TOLD));
    }
    Ok(())
}

fn host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    text.parse()
        .map_err(|_| "give an IP address of this machine, or localhost".to_owned())
}

/// What is named is a run, or a folder with runs below it.
fn roots(names: &[String]) -> Result<Vec<PathBuf>, Failure> {
    if names.is_empty() {
        let runs = PathBuf::from(RUNS);
        return match runs.is_dir() {
            true => Ok(vec![runs]),
            false => Err(Failure::new(format_args!(
                "there is no folder {RUNS}/ here: name a run or a folder with runs"
            ))),
        };
    }
    names
        .iter()
        .map(|name| match find_run(name) {
            Ok(run) => Ok(run),
            Err(_) if Path::new(name).is_dir() => Ok(PathBuf::from(name)),
            Err(_) if name == "latest" => Err(Failure::new(format_args!(
                "there is no run under {RUNS}/ yet, so none is the latest: begin one with `agon run`, or name a \
                 run folder or a folder with runs below it"
            ))),
            Err(_) => Err(Failure::new(format_args!(
                "there is no run and no folder `{name}`: give a run folder, a name under {RUNS}/, \
                 `latest`, or a folder with runs below it"
            ))),
        })
        .collect()
}

/// As they were named: the first is what the others are compared with, as in a report. Of a folder of runs the
/// oldest comes first.
fn in_order(runs: &mut [Arc<Run>], roots: &[PathBuf]) {
    runs.reverse();
    runs.sort_by_key(|run| {
        let path = run.folder().path();
        let alone = roots.iter().position(|root| path == root);
        alone.or_else(|| roots.iter().position(|root| path.starts_with(root)))
    });
}

fn export(roots: Vec<PathBuf>, cache: PathBuf, into: &Path) -> Result<Exit, Failure> {
    let mut runs = Library::new(roots.clone(), cache.clone())?.runs()?;
    in_order(&mut runs, &roots);
    if runs.is_empty() {
        return Err(Failure::new("there is no run to export"));
    }
    let with_troubles: Vec<_> = runs
        .iter()
        .map(|run| (Arc::clone(run), run.trouble()))
        .collect();
    tell(&with_troubles, &roots)?;
    let exported = agon_viewer::export(&runs, &cache, into, |progress| {
        output::say(&format!(
            "{}: {} of {}",
            progress.run,
            progress.attempts,
            output::count(progress.of as u64, "attempt")
        ));
    })?;
    output::say(&format!(
        "{}, {} bytes: open {}",
        output::count(exported.files, "file"),
        exported.bytes,
        into.join("index.html").display()
    ));
    Ok(Exit::Done)
}

/// At the port that was asked for, or at the first of several that is free.
async fn bind(args: &ViewArgs, roots: Vec<PathBuf>, cache: PathBuf) -> Result<Viewer, Failure> {
    let mut options = ViewerOptions {
        roots,
        host: args.host,
        port: args.port.unwrap_or(PORT),
        cache,
    };
    let last = match args.port {
        Some(port) => port,
        None => PORT + SPARE_PORTS,
    };
    loop {
        match Viewer::bind(options.clone()).await {
            Err(error) if is_taken(&error) && options.port < last => options.port += 1,
            Err(error) if is_taken(&error) => {
                return Err(Failure::new(format_args!("{error}; choose another --port")));
            }
            other => return Ok(other?),
        }
    }
}

fn is_taken(error: &ViewerError) -> bool {
    matches!(error, ViewerError::Io { source, .. } if source.kind() == io::ErrorKind::AddrInUse)
}

/// Only where a person can see a screen. The browser is given a file that
/// leads to the page: every user of this machine could read the token among the arguments of a program.
fn open(url: &str, folder: &Path) -> Option<TempPath> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| value != OsStr::new(""));
    let seen = output::to_terminal() && io::stdin().is_terminal();
    if !seen || !(set("DISPLAY") || set("WAYLAND_DISPLAY")) {
        return None;
    }
    // Only its owner may read a temporary file.
    let mut file = tempfile::Builder::new()
        .suffix(".html")
        .tempfile_in(folder)
        .ok()?;
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>agon view</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">agon view</a>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    let file = file.into_temp_path();
    let started = tokio::process::Command::new("xdg-open")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = started {
        tokio::spawn(async move { child.wait().await });
    }
    Some(file)
}
