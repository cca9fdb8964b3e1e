//! A frozen working folder hides nothing: what an agent puts out of reach is in the archive, and
//! what an archive cannot hold is counted.

use agon_core::quantity::ByteSize;
use agon_sandbox::archive::Entry;
use agon_sandbox::{Exit, Provider};

use crate::ground::{Ground, Tracer, ground, outside, provider, request, sh, text};

async fn made(ground: &Ground, script: &str) {
    let done = ground.sh(script).await;
    let said = text(&done.stderr.bytes);
    assert_eq!(done.exit, Exit::Code(0), "{said}");
}

#[tokio::test]
async fn closed_folders_and_files_are_packed_as_they_are() {
    let mut ground = ground().await;
    made(
        &ground,
        "for m in 000 444 111 222 600 4711; do mkdir -p d$m/in; echo x > d$m/f; echo y > d$m/in/f; \
         chmod 000 d$m/f; chmod 222 d$m/in/f; chmod 444 d$m/in; chmod $m d$m; done; \
         ln -s d000 link; chmod 444 /work",
    )
    .await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert_eq!(frozen.work.left_out(), 0);
    let find = |path: &str| frozen.work.find(path, 100).unwrap();
    for mode in ["000", "444", "111", "222", "600", "4711"] {
        for (path, content) in [("f", b"x\n"), ("in/f", b"y\n")] {
            let found = find(&format!("d{mode}/{path}"));
            let content = content.to_vec();
            assert_eq!(found, Some(Entry::File { content, size: 2 }), "{mode}");
        }
    }
    let target = "d000".to_owned();
    assert_eq!(find("link"), Some(Entry::Link { target }));

    let look = "chmod 755 .; stat -c '%n %a' *; chmod 755 d*; stat -c '%n %a' d*/*; \
                chmod 755 d*/in; stat -c '%n %a' d*/in/*";
    let before = ground.sh(look).await;
    let fresh = ground.provider.prepare(&request()).await.unwrap();
    fresh.unpack(&frozen.work).await.unwrap();
    let after = sh(fresh.as_ref(), look).await;
    let modes = text(&after.stdout.bytes);
    assert_eq!(modes, text(&before.stdout.bytes));
    assert!(
        modes.contains("d444 444\n") && modes.contains("d4711/in/f 222\n"),
        "{modes}"
    );
}

#[tokio::test]
async fn pipes_and_sockets_exist() {
    let mut ground = ground().await;
    made(
        &ground,
        "mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'",
    )
    .await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    for path in ["pipe", "socket"] {
        let found = frozen.work.find(path, 1).unwrap();
        assert_eq!(found, Some(Entry::Other), "{path}");
    }
    let fresh = ground.provider.prepare(&request()).await.unwrap();
    fresh.unpack(&frozen.work).await.unwrap();
    let done = sh(fresh.as_ref(), "[ -p pipe ] && [ -e socket ]").await;
    assert_eq!(done.exit, Exit::Code(0));
}

#[tokio::test]
async fn names_of_any_bytes_do_not_prevent_a_freeze() {
    let mut ground = ground().await;
    let make = "import os\nos.makedirs(b'\\xff' * 120 + b'/' + b'\\xfe' * 120)\n\
                os.symlink(b'\\xff' * 200, b'\\x01\\n')\nos.symlink(b'//../x', b'y')";
    made(&ground, &format!("python3 -c \"{make}\"")).await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert_eq!(frozen.work.left_out(), 0);
    assert!(frozen.work.find("\u{1}\n", 1).unwrap().is_some());
    let fresh = ground.provider.prepare(&request()).await.unwrap();
    fresh.unpack(&frozen.work).await.unwrap();
    let done = sh(fresh.as_ref(), "find . -printf x | wc -c").await;
    assert_eq!(text(&done.stdout.bytes), "5\n");
}

#[tokio::test]
async fn what_no_path_reaches_is_counted() {
    let mut ground = ground().await;
    let dig = "import os\nfor _ in range(60):\n  os.mkdir('d' * 200); os.chdir('d' * 200)\n\
               open('deep', 'w')";
    made(
        &ground,
        &format!("python3 -c \"{dig}\"; echo x > /work/kept"),
    )
    .await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert_eq!(frozen.work.left_out(), 1);
    assert!(frozen.work.find("kept", 1).unwrap().is_some());
}

#[tokio::test]
async fn files_full_of_holes_hide_no_others() {
    let mut ground = ground().await;
    made(
        &ground,
        "for i in $(seq 200); do truncate -s 30M hole$i; done; echo x > zzz",
    )
    .await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert!(frozen.work.left_out() > 0);
    for path in (1..=200).map(|number| format!("hole{number}")) {
        assert!(frozen.work.find(&path, 1).unwrap().is_some(), "{path}");
    }
    let content = b"x\n".to_vec();
    let found = frozen.work.find("zzz", 9).unwrap();
    assert_eq!(found, Some(Entry::File { content, size: 2 }));
}

#[tokio::test]
async fn a_flood_of_files_is_cut_and_counted() {
    let provider = provider();
    let mut request = request();
    request.environment.memory = ByteSize::mib(512);
    let mut sandbox = provider.prepare(&request).await.unwrap();
    let flood = "for i in range(150000): open(str(i), \"w\").close()";
    let done = sh(sandbox.as_ref(), &format!("python3 -c '{flood}'")).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", text(&done.stderr.bytes));
    let frozen = sandbox.freeze().await.unwrap();
    assert_eq!(frozen.work.left_out(), 50_000);

    let fresh = provider.prepare(&request).await.unwrap();
    fresh.unpack(&frozen.work).await.unwrap();
    let done = sh(fresh.as_ref(), "ls -U | wc -l").await;
    assert_eq!(text(&done.stdout.bytes), "100000\n");
}

#[tokio::test]
async fn programs_that_cannot_be_ended_are_the_doing_of_whoever_started_them() {
    let mut ground = ground().await;
    let number = 3_000_000 + std::process::id();
    ground
        .sh(&format!("sleep {number} >/dev/null 2>&1 &"))
        .await;
    let held = loop {
        if let [pid] = outside(&format!("sleep {number}"))[..] {
            break pid;
        }
    };
    let _tracer = Tracer::of(held);
    let error = ground.sandbox.freeze().await.unwrap_err();
    assert!(error.of_agent(), "{error}");
}
