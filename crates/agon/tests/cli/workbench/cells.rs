//! Cells of Python in real sandboxes: what stays, what is shown, and what no cell can break.

use std::time::Duration;

use agon::core::observation::ObservationKind;
use agon::core::{Action, EventBody, Observation};

use super::ground::Ground;
use crate::support::Bench;

/// 1x1 pixels.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

impl Ground {
    async fn cell_within(&mut self, code: &str, within: Duration) -> Observation {
        let code = code.to_owned();
        self.perform(&Action::Cell { code }, within).await
    }

    async fn cell(&mut self, code: &str) -> Observation {
        self.cell_within(code, Duration::from_secs(60)).await
    }

    /// What a cell printed, without the lines about folder and interpreter.
    async fn shown(&mut self, code: &str) -> String {
        let seen = self.cell(code).await;
        let (text, trailer) = seen
            .text
            .split_once("\n[Jupyter current working directory: ")
            .unwrap_or_else(|| panic!("{code}: {}", seen.text));
        assert!(trailer.contains("]\n[Jupyter Python interpreter: /"));
        text.to_owned()
    }
}

/// What works in every kind of sandbox.
async fn scenario(mut ground: Ground) {
    assert_eq!(ground.shown("x = 41\nx + 1").await, "42\n");
    assert_eq!(
        ground
            .shown(
                "import os, sys\nprint(x)\nprint('err', file=sys.stderr)\n_ = os.system('echo child')\n\
                 print('ü')"
            )
            .await,
        "41\nerr\nchild\nü\n"
    );
    assert_eq!(
        ground.shown("y = 1").await,
        "[Code executed successfully with no output]"
    );
    let wrong = ground.shown("def f():\n    return x / 0\n\nf()").await;
    assert!(
        wrong.contains("Traceback (most recent call last)"),
        "{wrong}"
    );
    assert!(wrong.contains("return x / 0"), "{wrong}");
    assert!(wrong.ends_with("ZeroDivisionError: division by zero\n"));
    assert!(!wrong.contains("keeper"), "{wrong}");
    // A file of the agent's is found, even one that has the name of a module.
    ground
        .sh("echo 'here = 7' > own.py; echo 'x = 1' > socket.py")
        .await;
    assert_eq!(ground.shown("import own; own.here").await, "7\n");
    let seen = ground.cell("os.chdir('/tmp')").await;
    assert_eq!(seen.cwd.as_deref(), Some("/tmp"));

    let late = ground
        .cell_within(
            "import time\nwhile True: time.sleep(9)",
            Duration::from_secs(1),
        )
        .await;
    assert!(late.text.contains("KeyboardInterrupt"), "{}", late.text);
    assert!(late.text.contains("variables are kept"), "{}", late.text);
    assert_eq!(ground.shown("x").await, "41\n");

    let dead = ground.cell("print('last words'); os._exit(3)").await;
    assert!(dead.text.starts_with("last words\n"), "{}", dead.text);
    assert!(dead.text.contains("exit status 3"), "{}", dead.text);
    assert!(dead.text.contains("variables are lost"), "{}", dead.text);
    assert!(ground.shown("x").await.contains("NameError"));
    // The folder of the first cell, again.
    assert_eq!(ground.shown("import os; os.getcwd()").await, "'/work'\n");
}

#[tokio::test]
async fn cells_share_an_interpreter() {
    scenario(Ground::local().await).await;
}

#[tokio::test]
async fn container_cells_share_an_interpreter() {
    scenario(Ground::container().await).await;
}

#[tokio::test]
async fn what_reacts_to_no_interrupt_is_killed() {
    let mut ground = Ground::local().await;
    let deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    let seen = ground.cell_within(deaf, Duration::from_secs(1)).await;
    assert!(seen.text.contains("did not react"), "{}", seen.text);
    assert_eq!(ground.shown("x = 1\nx").await, "1\n");
    // The interpreter itself hears no interrupt while it waits for this, but the program does.
    let waits = "import os\nos.system('sleep 1000')\nprint('went on')";
    let seen = ground.cell_within(waits, Duration::from_secs(1)).await;
    assert!(seen.text.starts_with("went on\n"), "{}", seen.text);
    assert_eq!(ground.shown("x").await, "1\n");
}

#[tokio::test]
async fn a_time_of_its_own_ends_a_cell_before_the_turn_ends() {
    let mut ground = Ground::local().await;
    let code = "import time\ntime.sleep(10000)".to_owned();
    let most = Duration::from_millis(500);
    let seen = ground.perform_at_most(&Action::Cell { code }, most).await;
    assert!(seen.text.contains("KeyboardInterrupt"), "{}", seen.text);
}

#[tokio::test]
async fn no_cell_breaks_the_way_back() {
    let mut ground = Ground::local().await;
    ground.shown("import os, sys\nkept = 1").await;
    // Descriptors, streams, copies of the interpreter.
    ground.shown("os.close(0); os.close(1); os.close(2)").await;
    assert_eq!(ground.shown("print('a')").await, "a\n");
    ground.shown("sys.stdout.close(); sys.stderr.close()").await;
    assert_eq!(ground.shown("print('b')").await, "b\n");
    ground.shown("os.closerange(3, 800)").await;
    assert_eq!(
        ground
            .shown("if os.fork() == 0: print('copy')\nelse: _ = os.wait()\nprint(kept)")
            .await,
        "copy\n1\n1\n"
    );
    assert!(
        ground
            .shown("import sys; sys.exit(3)")
            .await
            .contains("SystemExit: 3")
    );
    assert!(ground.shown("input('? ')").await.contains("EOFError"));
    assert!(ground.shown("print('a").await.contains("SyntaxError"));
    assert_eq!(ground.shown("print('\\ud800')").await, "\\ud800\n");
    assert_eq!(ground.shown("kept").await, "1\n");
    // Its keeper, too, is the agent's to end.
    for death in [
        "os.closerange(3, 2000)",
        "exit()",
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getppid(), 9)",
    ] {
        let seen = ground.cell(death).await;
        assert_eq!(seen.kind, ObservationKind::Output, "{death}");
        assert!(
            seen.text.contains("variables are lost"),
            "{death}: {}",
            seen.text
        );
        let anew = ground.shown("import os\n'kept' in globals()").await;
        assert_eq!(anew, "False\n", "{death}");
        ground.shown("kept = 1").await;
    }
}

#[tokio::test]
async fn long_output_keeps_its_head_and_its_tail() {
    let mut ground = Ground::local().await;
    let seen = ground
        .cell("print('first'); print('x' * 5_000_000); print('last')")
        .await;
    assert!(seen.text.starts_with("first\nxxx"), "{}", seen.text);
    assert!(seen.text.contains("xxx\nlast\n"), "{}", seen.text);
    assert_eq!(seen.omitted, 5_000_012 - 2_000);
    assert!(
        seen.text
            .contains(&format!("[... {} bytes left out ...]", seen.omitted))
    );
    assert!(seen.text.len() < 2_300, "{}", seen.text.len());
}

#[tokio::test]
async fn what_a_cell_draws_comes_along() {
    let mut ground = Ground::local().await;
    let class = format!(
        "import base64\npng = base64.b64decode('{PNG}')\nclass Drawn:\n  def __init__(self, more): \
         self.more = more\n  def __repr__(self): return '<drawn>'\n  def _repr_png_(self): \
         return png + self.more"
    );
    ground.shown(&class).await;
    let seen = ground.cell("Drawn(b'')").await;
    assert!(seen.text.starts_with("<drawn>\n"), "{}", seen.text);
    let png = seen.pictures[0].data().unwrap();
    assert_eq!(png.len(), 70);
    let seen = ground
        .cell("for i in range(9): display(Drawn(bytes([i])))")
        .await;
    assert_eq!(seen.pictures.len(), 4);
    assert_eq!(seen.text.matches("a picture was left out").count(), 5);
    let seen = ground.cell("display(Drawn(bytes(3_000_000)))").await;
    assert!(seen.pictures.is_empty());
    assert!(seen.text.contains("too large"), "{}", seen.text);

    // Figures that are open at the end of a cell, in the way of matplotlib.
    ground
        .sh(
            "mkdir matplotlib; echo > matplotlib/__init__.py; cat > matplotlib/pyplot.py <<'E'
import base64, sys
figures = {}
class Figure:
    def savefig(self, into, format, bbox_inches):
        into.write(sys.modules['__main__'].png)
def get_fignums(): return list(figures)
def figure(number=1): return figures.setdefault(number, Figure())
def close(which): figures.clear()
E",
        )
        .await;
    let seen = ground
        .cell("import matplotlib.pyplot as plt\n_ = plt.figure()")
        .await;
    assert_eq!(seen.pictures.len(), 1, "{}", seen.text);
    assert_eq!(ground.cell("plt.get_fignums()").await.pictures, []);
}

#[tokio::test]
async fn where_python_does_not_start_the_agent_is_told() {
    let mut ground = Ground::local().await;
    ground.move_to("/nowhere");
    let seen = ground.cell("1").await;
    assert_eq!(seen.kind, ObservationKind::Error);
    assert!(seen.text.contains("cells need python3"), "{}", seen.text);
}

#[test]
fn pictures_of_cells_are_in_the_record() {
    let bench = Bench::new();
    let code = format!(
        "import base64\nclass D:\n  def _repr_png_(self): return base64.b64decode('{PNG}')\nD()"
    );
    let code = serde_json::to_string(&code).unwrap();
    let task = format!(
        "name: Draw\ntask: Draw.\nenvironment: {{ kind: local }}\n\
         checks: [{{ type: file, path: done, exists: true }}]\n\
         solution: [{{ action: cell, code: {code} }}, {{ action: run, command: touch done }}]\n"
    );
    bench.suite(&[("draw", &task)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    let reader = bench.reader();
    let events = reader.events(&bench.trial()).unwrap();
    let drawn: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Observation(seen) => seen.pictures.first(),
            _ => None,
        })
        .collect();
    assert_eq!(drawn.len(), 1);
    assert_eq!(drawn[0].data(), None, "the record names it");
    let picture = reader.picture(drawn[0]).unwrap();
    assert!(picture.data().unwrap().starts_with(b"\x89PNG"));
}
