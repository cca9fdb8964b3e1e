//! One Chromium that all tests of a run share, each in a context of its own: starting one per test takes longer than
//! most tests. It lives as long as we do: its supervisor holds the other end of a pipe, so that a failure, Ctrl-C or
//! even `kill -9` of this program stops it as well. Knows nothing of what tests do with it; when it crashes, they
//! start browsers of their own.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::console;
use crate::failure::{Failure, Trying};

/// Where tests look for the address of its debugger.
pub(crate) const VARIABLE: &str = "AGON_BROWSER";
const FLAGS: &str = include_str!("../../crates/testkit/src/chromium.flags");
/// What Chromium says before the address of its debugger.
const ANNOUNCED: &str = "DevTools listening on ";
const READY_WITHIN: Duration = Duration::from_secs(60);
const STOPPED_WITHIN: Duration = Duration::from_secs(20);
const LAST_WORDS: usize = 15;

/// Runs Chromium for as long as standard input stays open, then kills it and its children and removes its folder.
/// Arguments: the flags. `set -m` gives it a process group of its own.
const SUPERVISOR: &str = r#"
set -um
profile=$(mktemp -d /tmp/agon-browser.XXXXXX) || exit
exec 8<&0
chromium "$@" --user-data-dir="$profile" 2>&1 </dev/null 8<&- &
browser=$!
# Whichever ends first: the owner's end of the pipe, or the browser by itself.
cat <&8 >/dev/null 2>&1 &
owner=$!
wait -n "$owner" "$browser"
kill -KILL -- "-$browser" "-$owner" 2>/dev/null
wait
# Processes that are just ending still write.
for attempt in 1 2 3 4 5; do rm -rf "$profile" 2>/dev/null && break; done
"#;

#[derive(Debug)]
pub(crate) struct Browser {
    supervisor: Child,
    address: String,
    /// Closed when the supervisor and the browser have ended: they hold the other end of their standard output.
    ended: Receiver<()>,
}

impl Browser {
    pub(crate) fn start() -> Result<Self, Failure> {
        let flags = FLAGS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut supervisor = Command::new("bash")
            .args(["-c", SUPERVISOR, "browser"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is for us; the browser ends after us.
            .process_group(0)
            .spawn()
            .trying("start the supervisor of a browser")?;
        let output = supervisor.stdout.take();
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let _end = end;
            let lines = output
                .into_iter()
                .flat_map(|pipe| BufReader::new(pipe).lines());
            announce(lines.map_while(Result::ok), |answer| {
                let _ = tell.send(answer);
            });
        });
        let mut browser = Self {
            supervisor,
            address: String::new(),
            ended,
        };
        match told.recv_timeout(READY_WITHIN) {
            Ok(Ok(address)) => browser.address = address,
            Ok(Err(said)) => {
                return Err(Failure::new(format!("chromium did not start:\n{said}")));
            }
            Err(_) => return Err(Failure::new("chromium did not say its address in time")),
        }
        Ok(browser)
    }

    /// Of its debugger: `ws://127.0.0.1:PORT/devtools/browser/ID`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn ended_within(&self, time: Duration) -> bool {
        let ended = self.ended.recv_timeout(time);
        !matches!(ended, Err(RecvTimeoutError::Timeout))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.address.is_empty() && self.ended_within(Duration::ZERO) {
            console::complain("the browser that tests share crashed; tests after it had their own");
        }
        drop(self.supervisor.stdin.take());
        if self.ended_within(STOPPED_WITHIN) {
            let _ = self.supervisor.wait();
        } else {
            console::complain(
                "the browser that tests share takes long to stop; it goes on without us",
            );
        }
    }
}

/// Tells the address, or the last words. Reads on after it: a full pipe would stop the browser.
fn announce(mut lines: impl Iterator<Item = String>, tell: impl FnOnce(Result<String, String>)) {
    let mut said = VecDeque::new();
    let address = lines.by_ref().find_map(|line| {
        let address = line.strip_prefix(ANNOUNCED).map(str::to_owned);
        said.push_back(line);
        if said.len() > LAST_WORDS {
            said.pop_front();
        }
        address
    });
    tell(address.ok_or_else(|| Vec::from(said).join("\n")));
    lines.for_each(drop);
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_shared_browser_answers_and_leaves_nothing_behind() {
        let browser = Browser::start().unwrap();
        let address = browser.address().to_owned();
        let host = address.strip_prefix("ws://").unwrap();
        let host = host.split('/').next().unwrap();
        TcpStream::connect(host).unwrap();
        drop(browser);
        TcpStream::connect(host).unwrap_err();
    }

    #[test]
    fn an_address_is_found_among_other_words() {
        let lines = ["hm", "DevTools listening on ws://127.0.0.1:5/x", "more"].map(str::to_owned);
        let mut found = None;
        announce(lines.into_iter(), |answer| found = Some(answer));
        assert_eq!(found, Some(Ok("ws://127.0.0.1:5/x".to_owned())));
        announce(["why".to_owned()].into_iter(), |answer| {
            found = Some(answer)
        });
        assert_eq!(found, Some(Err("why".to_owned())));
    }
}
